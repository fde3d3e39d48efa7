"use strict";
(() => {
  const themeSource = document.getElementById("theme");
  const theme = themeSource ? JSON.parse(themeSource.textContent) : {};  // a page without charts has none
  // A served page forbids eval and styles of others: expressions are interpreted, and its own sheet has the styles.
  const strict = themeSource !== null && "strict" in themeSource.dataset;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  // Charts of several panels get as many columns as fit; others fill the width by themselves.
  const fitted = (spec, width) => {
    if (!spec.facet) return { ...spec, width: "container", autosize: { type: "fit-x", contains: "padding" } };
    const columns = Math.max(1, Math.min(spec.columns || 1, Math.floor(width / 230)));
    return { ...spec, columns, spec: { height: 200, ...spec.spec, width: Math.floor(width / columns) - 70 } };
  };

  const draw = async (source) => {
    const host = document.getElementById(source.dataset.chart);
    const spec = JSON.parse(source.textContent);
    const width = host.clientWidth || 320;
    const narrow = width < 520;
    const config = { ...theme, axis: { ...theme.axis, labelLimit: narrow ? 96 : theme.axis.labelLimit } };
    if (narrow) config.legend = { ...theme.legend, columns: 1, labelLimit: 250 };
    try {
      await window.vegaEmbed(host, fitted(spec, width), {
        config, renderer: "svg", ast: strict, defaultStyle: !strict,
        bind: document.getElementById(host.id + "-controls"),
        actions: { export: true, source: false, compiled: false, editor: false },
        tooltip: { theme: dark.matches ? "dark" : "light", disableDefaultStyle: strict },
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
    waiting = setTimeout(() => drawAll(sources.filter((s) => {
      const host = document.getElementById(s.dataset.chart);
      const before = Number(host.dataset.drawn || 0);
      return Math.abs(before - host.clientWidth) > 40;
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
      const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y), "en", { numeric: true });
      return down ? -order : order;
    });
    table.tBodies[0].append(...rows);
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("thead button");
    if (button) sorted(button.closest("th"));
  });

  drawAll(sources).then(() => { document.documentElement.dataset.ready = "yes"; });
})();
