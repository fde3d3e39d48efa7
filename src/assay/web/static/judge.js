"use strict";
// The assessor's page. An answer is kept in this browser until the server says that it is on the disk; it is sent again
// under the same id until then, so that it counts once however bad the network is.
(() => {
  const desk = document.getElementById("desk");
  const state = JSON.parse(document.getElementById("state").textContent);
  const address = desk.dataset.address;
  const topic = new URLSearchParams(window.location.search).get("topic");
  const asking = (choices) => `${address}?${new URLSearchParams({ ...(topic ? { topic } : {}), ...choices })}`;
  const drawer = `assay:${desk.dataset.person}:${desk.dataset.campaign}`;
  const scale = state.scale;
  const ENOUGH = 5;             // docs below which more are asked for
  const AHEAD = 10;             // docs that are kept ready
  const $ = (id) => document.getElementById(id);

  // An earlier judgment that came with the page. `before`: the one of the same doc that it replaced, of which no more is
  // known here than its id. `whole`, the texts of the doc, is there for what was judged or looked at on this page.
  const earlier = (one) => {
    const before = one.takes_back ? { ...one, id: one.takes_back, takes_back: null, label: "…", isGuess: true } : null;
    return { ...one, before, place: 0 };
  };
  let queue = state.items;      // docs to judge, the first is shown
  let given = state.given.map(earlier);  // earlier judgments, the newest first
  let back = -1;                // which of them is looked at; -1 for none
  let undone = [];              // judgments that were taken back, to be done again
  let shownAt = Date.now();
  let marks = true;
  let sending = null;           // what ends when all answers are sent
  let fetching = false;
  let isBehind = false;         // whether the server knows better which judgments stand
  let again;                    // the one timer that fetches more docs
  let puts = 0;                 // answers of this page so far
  const putAt = new Map();      // when each item was answered last, in such answers
  let pause = 500;

  let counts = state.progress;  // as the server said last
  // By the id of an answer that is not in the counts yet: how many more are by this person, and which answer of the page
  // it was. How many docs are done stays as the server said: a page is not told how many answers a doc has.
  const fresher = new Map();
  const drawProgress = () => {
    const more = [...fresher.values()].reduce((sum, one) => sum + one.more, 0);
    const { mine, done, docs, left } = counts;
    $("progress").textContent = `${mine + more} by you, ${done} of ${docs} ${desk.dataset.items} done, ${left - more} answers left`;
  };

  const read = () => { try { return JSON.parse(localStorage.getItem(drawer)) || []; } catch { return []; } };
  let outbox = read();
  const keep = () => { localStorage.setItem(drawer, JSON.stringify(outbox)); say(); };
  const newId = () => [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16).padStart(2, "0")).join("");

  const say = (problem = "") => {
    const saved = $("saved");
    saved.textContent = problem || (outbox.length ? `${outbox.length} not saved yet` : "all saved");
    saved.dataset.waiting = String(outbox.length);
  };

  // What ends when nothing waits to be sent.
  const send = () => {
    if (!sending && outbox.length) sending = sendAll();
    return sending || Promise.resolve();
  };
  const sendAll = async () => {
    while (outbox.length) {
      // The last answer brings the next docs with it, in the same request.
      const wantsMore = outbox.length === 1 && queue.length <= ENOUGH;
      const before = puts;
      let answer;
      try {
        answer = await fetch(asking(wantsMore ? { next: AHEAD } : {}), {
          method: "POST", body: JSON.stringify(outbox[0]),
          headers: { "Content-Type": "application/json", Accept: "application/json" },
        });
      } catch { answer = null; }
      if (answer === null || answer.status >= 500 || answer.status === 429) {
        const why = answer === null ? {} : await answer.json().catch(() => ({}));
        say(`${outbox.length} not saved yet; trying again${why.error ? ` (${why.error})` : ""}`);
        await new Promise((done) => setTimeout(done, pause));
        pause = Math.min(2 * pause, 15000);
        continue;
      }
      pause = 500;
      const sent = outbox.shift();
      keep();
      if (!answer.ok) {
        const why = await answer.json().catch(() => ({}));
        say(`not taken: ${why.error || answer.status}`);
        takeOut(given.find((one) => one.id === sent.id));
        fresher.delete(sent.id);
        isBehind = true;
        drawGiven();
        drawProgress();
      } else if (wantsMore) {
        const fresh = await answer.json().catch(() => null);
        if (fresh) {
          takeCounts(fresh, before);
          takeDocs(fresh, before);
        }
      }
    }
    sending = null;
  };

  // Counts that the server sent, which have all answers that were put before it was asked.
  const takeCounts = (fresh, before) => {
    counts = fresh.progress;
    for (const [id, one] of fresher) if (one.puts <= before) fresher.delete(id);
    drawProgress();
  };
  // Docs that the server sent. It may have answered before it had the latest answers, or when others were at the docs
  // that are left: what those answers are for does not come again, and few docs are asked for once more.
  const takeDocs = (fresh, before, unsent = new Set()) => {
    const known = new Set(queue.map((one) => one.item));
    const isNew = (one) => !known.has(one.item) && !unsent.has(one.item) && !(putAt.get(one.item) > before);
    const wasEmpty = queue.length === 0;
    queue = queue.concat(fresh.items.filter(isNew));
    if (wasEmpty && back < 0) show();
    if (queue.length <= ENOUGH && (puts !== before || unsent.size)) later(300);
  };
  // The earlier judgments as the server has them; those that this page knows better stay as they are.
  const takeGiven = (fresh) => {
    const known = new Map(given.map((one) => [one.id, one]));
    const looked = given[back];
    given = fresh.given.map((one) => {
      const own = known.get(one.id);
      return own && !own.isGuess ? own : { ...earlier(one), whole: own?.whole };
    });
    isBehind = false;
    drawGiven();
    if (!looked) return;
    back = given.findIndex((one) => one.id === looked.id);
    if (looked.isGuess || back < 0) show();
  };

  const later = (pauseBefore) => { clearTimeout(again); again = setTimeout(refill, pauseBefore); };
  const fetched = async (choices) => {
    const answer = await fetch(asking(choices), { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    return answer.json();
  };
  const refill = async () => {
    if ((queue.length > ENOUGH && !isBehind) || fetching) return;
    fetching = true;
    const before = puts;
    const unsent = new Set(outbox.map((one) => one.item));
    try {
      const fresh = await fetched({});
      fetching = false;
      // An answer that was on its way meanwhile is in these counts, or it is not: those before are known to be right.
      const isWhole = puts === before && !unsent.size;
      if (isWhole) takeCounts(fresh, before);
      if (isWhole && isBehind) takeGiven(fresh);
      takeDocs(fresh, before, unsent);
      if (isBehind && !outbox.length) later(300);
    } catch {
      later(2000);
    } finally { fetching = false; }
  };

  const element = (name, text, kind) => {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  };
  const drawText = (parts) => {
    const paragraph = element("p", undefined, "text");
    for (const [part, marked] of parts) paragraph.append(marked && marks ? element("mark", part) : part);
    return paragraph;
  };

  const show = () => {
    const item = back >= 0 ? given[back].whole : queue[0];
    const form = $("answer");
    if (item && !form) {  // the page came without a doc, so without a form
      send().then(() => window.location.assign(asking(back >= 0 ? { item: item.item } : {})));
      return;
    }
    $("empty").hidden = Boolean(item);
    if ($("work")) $("work").hidden = !item;
    desk.dataset.item = item ? String(item.item) : "";
    if (!item) {
      $("empty").textContent = fetching ? "The next documents are on their way …" : "Nothing is left for you to judge here. Thank you.";
      return;
    }
    $("query").textContent = item.query || `topic ${item.topic}`;
    $("topic").textContent = item.topic;
    $("fields").replaceChildren(...Object.entries(item.fields).map(([name, text]) => {
      const line = element("p");
      line.append(element("strong", `${name}: `), text);
      return line;
    }));
    $("docs").replaceChildren(...item.docs.map((doc, place) => {
      const article = element("article", undefined, "doc");
      const heading = scale.kind === "preference" ? `Document ${place + 1}: ${doc.doc}` : doc.doc;
      article.append(element("h2", heading), drawText(doc.text));
      if (!doc.has_text) article.append(element("p", "The store has no text of this document.", "empty"));
      return article;
    }));
    for (const field of desk.querySelectorAll("input[name=item]")) field.value = item.item;
    $("cannot").open = false;
    $("reason").value = "";
    $("reason").blur();
    for (const number of form.querySelectorAll("input[type=number]")) number.value = "";
    if ($("slid")) { $("slid").textContent = "not moved yet"; $("slider").value = (scale.low + scale.high) / 2; }
    $("redo").hidden = undone.length === 0;
    for (const button of form.querySelectorAll("button[name=label]")) {
      const chosen = back >= 0 && String(given[back].label) === button.value;
      button.setAttribute("aria-pressed", String(chosen));
    }
    desk.dataset.back = String(back);
    shownAt = Date.now();
    window.scrollTo(0, 0);
  };

  const drawGiven = () => {
    $("given").replaceChildren(...given.map((one) => {
      const line = element("li");
      const link = element("a", [one.topic, one.doc, one.other].filter(Boolean).join(" "));
      link.href = asking({ item: one.item });
      line.append(link, `: ${one.label ?? `${one.kind} ${one.reason || ""}`}`);
      return line;
    }));
  };

  const put = (answer, more) => {
    puts += 1;
    fresher.set(answer.id, { more, puts });
    drawProgress();
    if (answer.item) putAt.set(answer.item, puts);
    outbox.push(answer);
    keep();
    send().then(() => { if (!queue.length || isBehind) refill(); });
  };
  // An earlier judgment is gone; the one that it had replaced stands again, where it was.
  const takeOut = (gone) => {
    given = given.filter((one) => one !== gone);
    if (gone && gone.before) given.splice(gone.place, 0, gone.before);
  };
  // The texts of an earlier judgment's doc, where they did not come with the page; then what is wanted with them, if
  // the judgment is still there.
  const withTexts = async (one, act) => {
    if (!one.whole) {
      try {
        one.whole = (await fetched({ item: one.item })).items[0];
      } catch {
        say("this earlier judgment cannot be shown now; try again in a moment");
        return;
      }
    }
    if (given.includes(one)) act();
  };

  const answer = (kind, extra = {}) => {
    const item = back >= 0 ? given[back].whole : queue[0];
    if (!item) return;
    const made = { id: newId(), kind, item: item.item, seconds: (Date.now() - shownAt) / 1000, ...extra };
    const before = given.find((one) => one.item === item.item) || null;
    if (kind !== "skip") {
      const doc = item.docs[0].doc, other = item.docs[1] ? item.docs[1].doc : "";
      const place = given.indexOf(before);
      if (before) before.whole = item;
      given = given.filter((one) => one !== before);
      given.unshift({ ...made, before, place, topic: item.topic, doc, other, whole: item, label: extra.label ?? null, reason: extra.reason || "" });
    }
    undone = [];
    if (back >= 0) back = -1; else queue.shift();
    queue = queue.filter((one) => one.item !== item.item);
    put(made, kind !== "skip" && !before ? 1 : 0);
    drawGiven();
    show();
  };

  const undo = () => {
    const last = given[0];
    if (!last) { say("nothing to take back"); return; }
    if (last.isGuess) { say("the judgment before is on its way; take it back in a moment"); return; }
    withTexts(last, () => { if (given[0] === last) takeBack(last); });
  };
  const takeBack = (last) => {
    takeOut(last);
    undone.push(last);
    back = given.indexOf(last.before);
    if (last.before) last.before.whole = last.whole;
    else queue = [last.whole, ...queue.filter((one) => one.item !== last.item)];
    isBehind = isBehind || Boolean(last.before?.isGuess);
    put({ id: newId(), kind: "undo", takes_back: last.id }, last.before ? 0 : -1);
    drawGiven();
    show();
  };
  const redo = () => {
    const again = undone.pop();
    if (!again) return;
    const rest = undone;
    back = -1;
    queue = [again.whole, ...queue.filter((one) => one.item !== again.item)];
    answer(again.kind, { label: again.label, reason: again.reason });
    undone = rest;
    $("redo").hidden = undone.length === 0;
  };
  const look = (step) => {
    const next = back + step;
    if (next < -1 || next >= given.length) return;
    const at = back;
    const showIt = () => { back = next; show(); };
    if (next < 0) showIt();
    else withTexts(given[next], () => { if (back === at) showIt(); });
  };

  const labelOf = (key) => {
    if (scale.kind === "preference") return { 1: 1, 0: 0.5, 2: 0 }[key];
    const value = Number(key);
    return scale.kind === "categories" && value >= scale.low && value <= scale.high ? value : undefined;
  };
  const typed = (event) => ["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName) && event.target.type !== "range";

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typed(event)) return;
    const acts = {
      s: () => answer("skip"), z: undo, y: redo, ArrowLeft: () => look(1), ArrowRight: () => look(-1),
      x: () => { $("cannot").open = true; $("reason").focus(); document.activeElement.scrollIntoView({ block: "center" }); },
      h: () => { marks = !marks; show(); },
    };
    if (event.target.type === "range" && event.key.startsWith("Arrow")) return;
    if (/^[0-9]$/.test(event.key)) {
      const label = labelOf(event.key);
      if (label !== undefined) { event.preventDefault(); answer("label", { label }); }
      else if ($("number")) { $("number").focus(); }
    } else if (acts[event.key]) { event.preventDefault(); acts[event.key](); }
  });

  desk.addEventListener("submit", (event) => {
    event.preventDefault();
    const pressed = event.submitter || {};
    if (event.target.getAttribute("id") === "unjudgeable") {  // .id would be the field of that name
      const reason = $("reason").value.trim();
      if (reason) answer("unjudgeable", { reason }); else say("say why it cannot be judged");
    } else if (pressed.name === "label") answer("label", { label: Number(pressed.value) });
    else if (pressed.value === "skip") answer("skip");
    else if (pressed.value === "undo") undo();
    else if ($("number")) {
      const value = $("number").value;
      if (value === "") say("move the slider or give a number first"); else answer("label", { label: Number(value) });
    }
  });
  desk.addEventListener("click", (event) => { if (event.target.closest("#redo")) redo(); });
  desk.addEventListener("input", (event) => {
    if (event.target.id === "slider") { $("slid").textContent = event.target.value; $("number").value = event.target.value; }
  });

  // An earlier judgment that the address names is changed in place; the next doc comes after it. What this browser has
  // kept an answer for is not asked again, and the counts and earlier judgments are right when that is sent.
  const kept = new Set(outbox.map((one) => one.item));
  const named = new URLSearchParams(window.location.search).get("item");
  queue = queue.filter((one) => !kept.has(one.item) || String(one.item) === named);
  isBehind = outbox.length > 0;
  say();
  drawGiven();
  if (queue.length) show();
  send().then(refill);
  document.documentElement.dataset.ready = "yes";
})();
