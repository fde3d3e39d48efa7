"use strict";
// A page that follows what happens: it asks whether anything has changed, and shows what has in the place of the old.
// Where a person is on the page, what is open, sorted or focused stays. A hidden page asks nothing.
(() => {
  const SOON = 2000, LATE = 15000;
  const status = document.getElementById("live");
  const parts = () => [...document.querySelectorAll("[data-live]")];
  let tag = null;               // of what the page shows; unknown until the first answer
  let pause = SOON;
  let timer;
  let asking = false;

  const sortedBy = (part) => [...part.querySelectorAll("th[aria-sort]")].map((head) => ({
    table: [...part.querySelectorAll("table")].indexOf(head.closest("table")),
    at: head.cellIndex, down: head.getAttribute("aria-sort") === "descending",
  }));
  const sortAgain = (part, sorts) => {
    for (const { table, at, down } of sorts) {
      const head = part.querySelectorAll("table")[table]?.tHead?.rows[0].cells[at];
      const button = head?.querySelector("button");
      if (!button) continue;
      button.click();
      if (!down) button.click();
    }
  };
  // The same element in the new content: by its id, or by its place among those that can have the focus.
  const focusable = "a[href], button, input, select, textarea, summary";
  const focusIn = (part) => {
    const at = document.activeElement;
    if (!at || at === part || !part.contains(at)) return () => {};
    const place = [...part.querySelectorAll(focusable)].indexOf(at);
    return () => {
      const again = (at.id && part.querySelector(`#${CSS.escape(at.id)}`)) || part.querySelectorAll(focusable)[place];
      if (again) again.focus({ preventScroll: true });
    };
  };

  const replace = (part, fresh) => {
    if (part.dataset.shown === fresh.innerHTML) return;
    const sorts = sortedBy(part);
    const refocus = focusIn(part);
    const open = [...part.querySelectorAll("details")].map((one) => one.open);
    part.dataset.shown = fresh.innerHTML;
    part.replaceChildren(...document.importNode(fresh, true).childNodes);
    part.querySelectorAll("details").forEach((one, place) => { one.open = open[place] ?? one.open; });
    sortAgain(part, sorts);
    refocus();
  };

  const ask = async () => {
    if (asking || document.hidden) return;
    asking = true;
    try {
      const headers = { Accept: "text/html", "Assay-Follows": "yes", ...(tag ? { "If-None-Match": tag } : {}) };
      const answer = await fetch(window.location.href, { headers, cache: "no-store" });
      if (answer.status === 200) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        const top = window.scrollY;
        for (const part of parts()) {
          const same = fresh.querySelector(`[data-live="${part.dataset.live}"]`);
          if (same) replace(part, same);
        }
        window.scrollTo({ top, behavior: "instant" });
        if (tag !== null) status.dataset.changes = String(Number(status.dataset.changes || 0) + 1);
        tag = answer.headers.get("ETag");
        pause = SOON;
        status.textContent = "follows what people judge";
      } else if (answer.status === 304) {
        pause = Math.min(1.5 * pause, LATE);
      } else {
        status.textContent = "cannot follow: the server refuses; reload the page";
        pause = LATE;
      }
    } catch {
      status.textContent = "the server does not answer; trying again";
      pause = LATE;
    } finally {
      asking = false;
      next();
    }
  };
  const next = () => {
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(ask, pause);
  };
  document.addEventListener("visibilitychange", () => {
    pause = SOON;
    if (document.hidden) clearTimeout(timer); else ask();
  });
  next();
})();
