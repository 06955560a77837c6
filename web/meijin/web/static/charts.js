/**
 * Charts of the tables below them: a line for each series, with the band of its interval.
 *
 * A plot names its table (`data-chart`), what its x are (`data-kind`, `time` or `number`) and,
 * where it has them, two levels (`data-levels`). Rows of the table have `data-x`, `data-y`, and
 * may have `data-low`, `data-high` and `data-series`.
 */

const HEIGHT = 280;
const SERIES_COLORS = 6;
const BAND_OPACITY = "33"; // of 255, hexadecimal

/** @typedef {{y: (number|null)[], low: (number|null)[], high: (number|null)[]}} Series */

/** A number of a row; null where it has none. */
function value(row, name) {
  const text = row.dataset[name];
  return text === undefined || text === "" ? null : Number(text);
}

/** @returns {{xs: number[], series: Map<string, Series>}} The points of a table. */
function pointsOf(table) {
  const rows = [...table.querySelectorAll("tr[data-x]")];
  const xs = [...new Set(rows.map((row) => value(row, "x")))].sort((one, other) => one - other);
  const places = new Map(xs.map((x, place) => [x, place]));
  const series = new Map();
  for (const row of rows) {
    const name = row.dataset.series ?? "";
    if (!series.has(name)) series.set(name, emptySeries(xs.length));
    const place = places.get(value(row, "x"));
    for (const part of ["y", "low", "high"]) series.get(name)[part][place] = value(row, part);
  }
  return { xs, series };
}

/** @returns {Series} */
function emptySeries(length) {
  const empty = () => new Array(length).fill(null);
  return { y: empty(), low: empty(), high: empty() };
}

function color(style, number) {
  return style.getPropertyValue(`--series-${(number % SERIES_COLORS) + 1}`).trim();
}

/** Lines, their bands and the levels, as uPlot takes them. */
function drawn(plot, style) {
  const { xs, series } = pointsOf(document.getElementById(plot.dataset.chart));
  const data = [xs];
  const lines = [{ label: plot.dataset.xLabel }];
  const bands = [];
  let number = 0;
  for (const [name, each] of series) {
    const stroke = color(style, number++);
    lines.push({ label: name || plot.dataset.yLabel, stroke, width: 2, spanGaps: true });
    data.push(each.y);
    if (each.low.every((low) => low === null)) continue;
    bands.push({ series: [data.length, data.length + 1], fill: stroke + BAND_OPACITY });
    lines.push({ label: plot.dataset.highLabel, spanGaps: true, points: { show: false } });
    lines.push({ label: plot.dataset.lowLabel, spanGaps: true, points: { show: false } });
    data.push(each.high, each.low);
  }
  const stroke = style.getPropertyValue("--quiet").trim();
  for (const level of levelsOf(plot)) {
    lines.push({ label: String(level), stroke, dash: [6, 4], points: { show: false } });
    data.push(xs.map(() => level));
  }
  return { data, lines, bands };
}

function levelsOf(plot) {
  return (plot.dataset.levels ?? "").split(" ").filter(Boolean).map(Number);
}

function axis(style, label) {
  const line = style.getPropertyValue("--line").trim();
  return {
    label,
    stroke: style.getPropertyValue("--quiet").trim(),
    grid: { stroke: line, width: 1 },
    ticks: { stroke: line, width: 1 },
  };
}

function draw(plot) {
  const style = getComputedStyle(document.documentElement);
  const { data, lines, bands } = drawn(plot, style);
  plot.replaceChildren();
  return new uPlot(
    {
      width: plot.clientWidth,
      height: HEIGHT,
      scales: { x: { time: plot.dataset.kind === "time" } },
      axes: [axis(style, plot.dataset.xLabel), axis(style, plot.dataset.yLabel)],
      series: lines,
      bands,
    },
    data,
    plot,
  );
}

/** Draw a plot, and again when its colours or its width change. */
function keepDrawn(plot) {
  plot.hidden = false;
  let chart = draw(plot);
  const redraw = () => {
    chart.destroy();
    chart = draw(plot);
  };
  document.addEventListener("meijin:theme", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  new ResizeObserver(() => chart.setSize({ width: plot.clientWidth, height: HEIGHT })).observe(plot);
}

for (const plot of document.querySelectorAll("[data-chart]")) keepDrawn(plot);
