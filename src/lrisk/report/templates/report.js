"use strict";
// The page's three movements: theme, threshold, sorting. It reads numbers and class
// names only; nothing from the data is ever turned into markup.
(() => {
  const byId = (id) => document.getElementById(id);
  const count = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");

  const theme = byId("theme");
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : prefersDark.matches;
  };
  const nameTheme = () => { theme.textContent = isDark() ? "Light theme" : "Dark theme"; };
  theme.addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    nameTheme();
  });
  prefersDark.addEventListener("change", nameTheme);
  nameTheme();
  theme.hidden = false;

  const table = byId("flagged");
  const bodies = table ? Array.from(table.tBodies) : [];
  const rowsOf = (body) => Array.from(body.rows).filter((row) => "score" in row.dataset);
  const curve = JSON.parse(byId("curve").textContent);
  const slider = byId("threshold");
  const line = byId("threshold-line");
  const start = Number(line.dataset.start), stop = Number(line.dataset.stop);

  const moveThreshold = () => {
    const k = Number(slider.value);
    const level = curve.levels[k], flagged = curve.flagged[k];
    const share = curve.scored ? (100 * flagged) / curve.scored : 0;
    const ownChoice = k === curve.chosen;
    let listed = 0;
    for (const body of bodies) {
      let inBody = 0;
      for (const row of rowsOf(body)) {
        const score = row.dataset.score === "" ? NaN : Number(row.dataset.score);
        row.hidden = ownChoice ? !("flagged" in row.dataset) : score <= level;
        inBody += row.hidden ? 0 : 1;
      }
      body.hidden = inBody === 0;
      listed += inBody;
    }
    for (const bar of document.querySelectorAll(".score-bar")) {
      const above = Number(bar.dataset.low) >= level - 1e-9;
      bar.firstElementChild.setAttribute("class", above ? "bar-flagged" : "bar");
    }
    const x = start + Math.min(Math.max(level, 0), 1) * (stop - start);
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    const shown = level.toFixed(2);
    slider.setAttribute("aria-valuetext", shown);
    byId("threshold-counts").textContent =
      `Above ${shown}: ${count(flagged)} ${flagged === 1 ? "row" : "rows"} ` +
      `(${share < 0.01 && share > 0 ? "< 0.01" : share.toFixed(share < 1 ? 2 : 1)} %), ` +
      `of which about ${curve.expected[k].toFixed(1)} fit after all; ` +
      `${count(listed)} listed below.`;
    if (table) byId("none-listed").hidden = listed > 0;
  };
  slider.addEventListener("input", moveThreshold);
  byId("reset").addEventListener("click", () => {
    slider.value = slider.defaultValue;
    moveThreshold();
  });
  slider.value = slider.defaultValue; // browsers remember a moved slider on reload
  byId("controls").hidden = false;
  moveThreshold();

  if (!table) return;
  const order = new Intl.Collator(undefined, { numeric: true });
  const keyOf = (row, column, kind) => {
    const cell = row.cells[column];
    if (kind === "text") return cell.textContent.trim();
    return cell.dataset.value === "" ? null : Number(cell.dataset.value);
  };
  const empty = (key) => key === null || key === "";
  const sortBy = (heading, kind) => {
    const before = heading.getAttribute("aria-sort");
    const first = kind === "number" && heading.cellIndex > 0 ? "descending" : "ascending";
    const other = { ascending: "descending", descending: "ascending" };
    const direction = other[before] || first;
    const sign = direction === "ascending" ? 1 : -1;
    for (const body of bodies) {
      const keyed = rowsOf(body).map((row) => [keyOf(row, heading.cellIndex, kind), row]);
      keyed.sort(([a], [b]) => {
        if (empty(a) || empty(b)) return Number(empty(a)) - Number(empty(b));
        return sign * (kind === "number" ? a - b : order.compare(a, b));
      });
      body.append(...keyed.map(([, row]) => row));
    }
    for (const th of heading.parentElement.cells) {
      if (th.hasAttribute("aria-sort")) th.setAttribute("aria-sort", "none");
    }
    heading.setAttribute("aria-sort", direction);
  };
  for (const button of table.querySelectorAll("button.sort")) {
    button.addEventListener("click", () => sortBy(button.closest("th"), button.dataset.kind));
  }
})();
