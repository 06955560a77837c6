/**
 * Charts: lines with bands, steps, bars and points, drawn by uPlot in the colours of the page.
 *
 * A page loads `charts.css`, `vendor/uplot.css`, `vendor/uplot.js` (deferred) and this module, which
 * `charts.head()` of templates/charts.html writes; `charts.chart(id, data)` there writes what is
 * drawn: a figure that names a JSON script, made by `ChartData` of meijin.web.charts.
 *
 *     <figure class="chart" data-chart="ID">...</figure>
 *     <script type="application/json" id="ID">{"label": "...", "x": [...], ...}</script>
 *
 * Every figure of the page is drawn by itself, and so are those that htmx brings. For more:
 *
 *     import { chartOf } from "./charts.js";
 *     const chart = chartOf(figure);      // draws it where that has not happened yet
 *     chart.select(23);                   // moves the cursor to the 24th point; null for none
 *     chart.update(data);                 // shows other data of the same form
 *     figure.addEventListener("meijin:pick", (event) => event.detail.index);
 *                                         // a click, or Enter at the cursor
 *
 * A chart has one tab stop: arrows, Page Up, Page Down, Home and End move the cursor, and its values
 * are in the legend and told to screen readers.
 *
 * @typedef {object} Series
 * @property {string} label
 * @property {(number|null)[]} values  one for each x; null for none
 * @property {(number|null)[]} [low]   a band's lower edge
 * @property {(number|null)[]} [high]  and its upper one
 * @property {"line"|"steps"|"bars"|"points"} [kind]  a line where it says nothing
 * @property {boolean} [quiet]         in the colour of what is beside the point
 *
 * @typedef {object} ChartData
 * @property {string} label            what the chart shows, for screen readers
 * @property {number[]} x              ascending; seconds since 1970 where `time` is set
 * @property {string} xLabel
 * @property {string} yLabel
 * @property {boolean} time
 * @property {number} digits           of values behind the point
 * @property {(number|null)[]} range   ends of the y axis; null for those of the values
 * @property {{value: number, label: string}[]} marks  lines across
 * @property {Series[]} series
 */

import { colour } from "./colours.js";

const COLOURS = 8;
const DASHES = [[], [10, 4], [3, 3], [10, 3, 3, 3]];
const PAGE_STEP = 10;
const UTC = "Etc/UTC";
const drawn = new WeakMap();

/** A colour that lets through what is behind it. */
function faint(value) {
  return `color-mix(in srgb, ${value} 18%, transparent)`;
}

function style(series, place) {
  const stroke = series.quiet ? colour("--quiet") : colour(`--series-${(place % COLOURS) + 1}`);
  const lap = place + Math.floor(place / COLOURS);
  return { stroke, dash: DASHES[lap % DASHES.length] };
}

function element(name, className, text = "") {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
}

const PATHS = {
  line: () => uPlot.paths.linear(),
  steps: () => uPlot.paths.stepped({ align: 1 }),
  bars: () => uPlot.paths.bars({ size: [0.7, 40] }),
  points: () => () => null,
};

/** A series as uPlot takes it. */
function plotted(series, place) {
  const kind = series.kind ?? "line";
  const { stroke, dash } = style(series, place);
  const few = series.values.filter((value) => value !== null).length < 2;
  return {
    label: series.label,
    stroke,
    dash: kind === "bars" ? [] : dash,
    width: kind === "points" ? 0 : 2,
    fill: kind === "bars" ? stroke : undefined,
    paths: PATHS[kind](),
    points: { show: kind === "points" || (few && kind !== "bars"), size: 7, fill: stroke },
    spanGaps: true,
  };
}

/** The edge of a band: it has no line of its own. */
function edge(label) {
  return { label, width: 0, points: { show: false }, spanGaps: true };
}

/** The columns, series and bands of uPlot for a chart's series. */
function columns(data) {
  const columns = [data.x];
  const series = [{ label: data.xLabel }];
  const bands = [];
  const places = data.series.map((each, place) => {
    columns.push(each.values);
    series.push(plotted(each, place));
    const own = [series.length - 1];
    if (each.low && each.high) {
      columns.push(each.high, each.low);
      series.push(edge(`${each.label} high`), edge(`${each.label} low`));
      own.push(series.length - 2, series.length - 1);
      bands.push({ series: [own[1], own[2]], fill: faint(style(each, place).stroke) });
    }
    return own;
  });
  return { columns, series, bands, places };
}

const HALF_DAY = 43200;

/** The ends of the x axis around a single time, to which uPlot gives years. */
function xRange(data) {
  const [time] = data.x;
  const isOne = data.time && time !== undefined && time === data.x.at(-1);
  return isOne ? { range: [time - HALF_DAY, time + HALF_DAY] } : {};
}

/** The ends of the y axis, with the lines across inside. */
function yRange(data) {
  const [least, most] = data.range;
  return (_, low, high) => {
    const values = data.marks.map((mark) => mark.value);
    const found = [low, high, ...values].filter((value) => Number.isFinite(value));
    const bottom = Math.min(...(found.length ? found : [0]));
    const top = Math.max(...(found.length ? found : [1]));
    const [from, to] = uPlot.rangeNum(bottom, top, 0.1, true);
    return [least ?? from, most ?? to];
  };
}

/** Draws the lines across, with their labels at the left. */
function drawMarks(plot, data) {
  const { ctx, bbox } = plot;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = colour("--quiet");
  ctx.lineWidth = devicePixelRatio;
  ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "alphabetic";
  ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
  for (const { value, label } of data.marks) {
    const y = plot.valToPos(value, "y", true);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.fillText(label, bbox.left + 6 * devicePixelRatio, y - 4 * devicePixelRatio);
  }
  ctx.restore();
}

/** An axis in the colours of the page. */
function axis(label, more = {}) {
  const grid = { stroke: colour("--line"), width: 1 };
  return { label, stroke: colour("--text"), grid, ticks: grid, font: "12px Figtree, system-ui", ...more };
}

const DAY = 86400;
const YEAR = 366 * DAY;

/** The places of a time axis, in UTC: times, days or months by what it spans. */
function timeValues(plot, splits) {
  const span = plot.scales.x.max - plot.scales.x.min;
  const [from, to] = span > YEAR ? [0, 7] : span > 2 * DAY ? [5, 10] : [11, 16];
  return splits.map((split) => new Date(split * 1000).toISOString().slice(from, to));
}

function shownX(data, index) {
  const value = data.x[index];
  if (!data.time) return `${data.xLabel} ${value}`;
  const text = new Date(value * 1000).toISOString();
  return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text.slice(0, 16).replace("T", " ");
}

function shownValue(data, series, index) {
  const value = series.values[index];
  if (value === null || value === undefined) return "–";
  const shown = (number) => number.toFixed(data.digits).replace("-", "−");
  const text = shown(value);
  const low = series.low?.[index] ?? null;
  const high = series.high?.[index] ?? null;
  return low === null || high === null
    ? text
    : `${text} (${shown(low)} – ${shown(high)})`;
}

/** A short line as the series has it. */
function swatch(series, place) {
  const { stroke, dash } = style(series, place);
  const picture = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  picture.setAttribute("viewBox", "0 0 32 8");
  picture.setAttribute("aria-hidden", "true");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
  const attributes = { x1: 0, y1: 4, x2: 32, y2: 4, stroke, "stroke-width": 3 };
  for (const [name, value] of Object.entries(attributes)) line.setAttribute(name, value);
  if (dash.length) line.setAttribute("stroke-dasharray", dash.join(" "));
  picture.append(line);
  return picture;
}

class Chart {
  constructor(figure, data) {
    this.figure = figure;
    this.hidden = new Set();
    this.index = null;
    this.frame = element("div", "chart-frame");
    this.legend = element("ul", "chart-legend");
    this.place = element("p", "chart-place");
    figure.append(this.frame, this.place, this.legend);
    this.frame.tabIndex = 0;
    this.frame.setAttribute("role", "slider");
    this.frame.addEventListener("keydown", (event) => this.key(event));
    this.frame.addEventListener("click", () => this.pick());
    new ResizeObserver(() => this.resize()).observe(this.frame);
    this.update(data);
  }

  /** Shows other data. */
  update(data) {
    this.data = data;
    this.frame.setAttribute("aria-label", data.label);
    this.frame.setAttribute("aria-valuemin", "0");
    this.frame.setAttribute("aria-valuemax", String(Math.max(data.x.length - 1, 0)));
    this.draw();
  }

  /** Draws everything anew, in the colours that the page has now. */
  draw() {
    this.plot?.destroy();
    const { columns: values, series, bands, places } = columns(this.data);
    this.places = places;
    for (const place of this.hidden) {
      for (const own of places[place] ?? []) series[own].show = false;
    }
    const options = {
      ...this.size(),
      series,
      bands,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, y: false },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), UTC),
      scales: { x: { time: this.data.time, ...xRange(this.data) }, y: { range: yRange(this.data) } },
      axes: [
        axis(this.data.xLabel, this.data.time ? { values: timeValues } : {}),
        axis(this.data.yLabel, { size: 60 }),
      ],
      hooks: {
        draw: [(plot) => drawMarks(plot, this.data)],
        setCursor: [(plot) => this.tell(plot.cursor.idx ?? null)],
      },
    };
    this.plot = new uPlot(options, values, this.frame);
    this.drawLegend();
    this.select(this.index);
  }

  size() {
    const width = Math.max(this.frame.clientWidth, 200);
    return { width, height: Math.round(Math.min(Math.max(width * 0.4, 220), 420)) };
  }

  resize() {
    const { index, plot } = this;
    const size = this.size();
    if (!plot || size.width === plot.width) return;
    plot.setSize(size);
    this.select(index);
  }

  drawLegend() {
    this.values = this.data.series.map(() => element("span", "chart-value"));
    const lines = this.data.series.map((series, place) => {
      const button = element("button", "chart-name");
      button.type = "button";
      button.setAttribute("aria-pressed", String(!this.hidden.has(place)));
      button.append(swatch(series, place), element("bdi", "", series.label));
      button.addEventListener("click", () => this.toggle(place, button));
      const line = element("li", "");
      line.append(button, this.values[place]);
      return line;
    });
    this.legend.replaceChildren(...lines);
  }

  toggle(place, button) {
    const isShown = this.hidden.delete(place);
    if (!isShown) this.hidden.add(place);
    button.setAttribute("aria-pressed", String(isShown));
    for (const own of this.places[place]) this.plot.setSeries(own, { show: isShown });
  }

  /** Moves the cursor to a point; null takes it away. */
  select(index) {
    const last = this.data.x.length - 1;
    if (index === null || last < 0) {
      this.plot.setCursor({ left: -10, top: -10 });
      this.tell(null);
      return;
    }
    const place = Math.min(Math.max(index, 0), last);
    this.plot.setCursor({ left: this.plot.valToPos(this.data.x[place], "x"), top: 0 });
    this.tell(place);
  }

  /** Writes the values at the cursor. */
  tell(index) {
    this.index = index;
    const { data } = this;
    this.place.textContent = index === null ? "" : shownX(data, index);
    for (const [place, series] of data.series.entries()) {
      this.values[place].textContent = index === null ? "" : shownValue(data, series, index);
    }
    this.frame.setAttribute("aria-valuenow", String(index ?? 0));
    this.frame.setAttribute("aria-valuetext", index === null ? "–" : this.spoken(index));
  }

  spoken(index) {
    const shown = [...this.data.series.entries()].filter(([place]) => !this.hidden.has(place));
    const values = shown.map(([, each]) => `${each.label} ${shownValue(this.data, each, index)}`);
    return [shownX(this.data, index), ...values].join(", ");
  }

  key(event) {
    const last = this.data.x.length - 1;
    const now = this.index ?? -1;
    const moves = {
      ArrowLeft: now - 1,
      ArrowDown: now - 1,
      ArrowRight: now + 1,
      ArrowUp: now + 1,
      PageDown: now - PAGE_STEP,
      PageUp: now + PAGE_STEP,
      Home: 0,
      End: last,
    };
    if (event.key === "Enter" && event.target === this.frame) this.pick();
    if (!(event.key in moves) || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.select(moves[event.key]);
  }

  pick() {
    if (this.index === null) return;
    const detail = { index: this.index, x: this.data.x[this.index] };
    this.figure.dispatchEvent(new CustomEvent("meijin:pick", { detail, bubbles: true }));
  }
}

/**
 * The chart of a figure, drawn.
 * @param {HTMLElement} figure
 * @returns {Chart}
 */
export function chartOf(figure) {
  const known = drawn.get(figure);
  if (known) return known;
  const data = JSON.parse(document.getElementById(figure.dataset.chart).textContent);
  const chart = new Chart(figure, data);
  drawn.set(figure, chart);
  return chart;
}

function figures() {
  return [...document.querySelectorAll("figure[data-chart]")];
}

function drawAll() {
  figures().forEach(chartOf);
}

function redrawAll() {
  for (const figure of figures()) drawn.get(figure)?.draw();
}

drawAll();
document.addEventListener("htmx:after:swap", drawAll);
document.addEventListener("meijin:theme", redrawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
