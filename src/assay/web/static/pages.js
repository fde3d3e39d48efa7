"use strict";
(() => {
  const themeSource = document.getElementById("theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  // Charts of several panels get as many columns as fit; others fill the width by themselves.
  const fitted = (spec, width) => {
    if (!spec.facet) return { ...spec, width: "container", autosize: { type: "fit-x", contains: "padding" } };
    const columns = Math.max(1, Math.min(spec.columns || 1, Math.floor(width / 230)));
    return { ...spec, columns, spec: { height: 200, ...spec.spec, width: Math.floor(width / columns) - 70 } };
  };

  const draw = async (source) => {
    const theme = JSON.parse(themeSource.textContent);
    const host = document.getElementById(source.dataset.chart);
    const width = host.clientWidth || 320;
    const narrow = width < 520;
    const config = { ...theme, axis: { ...theme.axis, labelLimit: narrow ? 96 : theme.axis.labelLimit } };
    if (narrow) config.legend = { ...theme.legend, columns: 1, labelLimit: 250 };
    try {
      await window.vegaEmbed(host, fitted(JSON.parse(source.textContent), width), {
        config, renderer: "svg", ast: true, defaultStyle: false,
        bind: document.getElementById(host.id + "-controls"),
        actions: { export: true, source: false, compiled: false, editor: false },
        tooltip: { theme: dark.matches ? "dark" : "light", disableDefaultStyle: true },
      });
      host.dataset.drawn = String(width);
    } catch (error) {
      host.textContent = "This chart could not be drawn.";
      console.error(error);
    }
  };

  const sources = [...document.querySelectorAll("script[data-chart]")];
  const drawAll = async (some) => { for (const source of some) await draw(source); };
  let waiting;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => drawAll(sources.filter((source) => {
      const host = document.getElementById(source.dataset.chart);
      return Math.abs(Number(host.dataset.drawn || 0) - host.clientWidth) > 40;
    })), 300);
  });

  const value = (text) => {
    const number = Number(text.trim().replace("−", "-").replace("+", "").replace(/^<\./, "0.").replaceAll(",", ""));
    return text.trim() === "–" ? -Infinity : text.trim() === "" || Number.isNaN(number) ? text : number;
  };
  const sorted = (head) => {
    const table = head.closest("table"), at = head.cellIndex;
    const down = head.getAttribute("aria-sort") !== "descending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const rows = [...table.tBodies[0].rows];
    rows.sort((a, b) => {
      const x = value(a.cells[at].textContent), y = value(b.cells[at].textContent);
      const order = typeof x === "number" && typeof y === "number" ? x - y
        : String(x).localeCompare(String(y), "en", { numeric: true });
      return down ? -order : order;
    });
    table.tBodies[0].append(...rows);
  };
  for (const button of document.querySelectorAll("thead button")) {
    button.addEventListener("click", () => sorted(button.closest("th")));
  }

  // A choice shows at once; without scripts the button does it.
  for (const form of document.querySelectorAll("form.choices")) {
    for (const select of form.querySelectorAll("select")) select.addEventListener("change", () => form.requestSubmit());
  }
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = "Copied";
    });
  }
  for (const drop of document.querySelectorAll(".drop")) {
    const input = drop.querySelector("input[type=file]");
    const over = (on) => (event) => { event.preventDefault(); drop.classList.toggle("over", on); };
    drop.addEventListener("dragover", over(true));
    drop.addEventListener("dragleave", over(false));
    drop.addEventListener("drop", (event) => { over(false)(event); input.files = event.dataTransfer.files; });
  }

  const done = () => { document.documentElement.dataset.ready = "yes"; };
  if (themeSource) drawAll(sources).then(done); else done();
})();
