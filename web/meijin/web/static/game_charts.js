/** The charts of a game: evaluations and times over the plies, by uPlot. */

import { colour } from "./colours.js";

const HEIGHT = 220;
const FLAT = 100; // scores up to here are drawn in proportion, larger ones by their logarithm
const MOST_LINES = 3; // on each side of zero
const SHORT = new Intl.NumberFormat("en", { notation: "compact" });
const WHOLE = [1, 2, 5, 10, 20, 50, 100]; // plies between two lines

/** Where the axis of scores has its lines: at zero, and at some powers of ten on both sides. */
function scoreLines(chart, axis, min, max) {
  if (max <= FLAT) return [min, 0, max];
  const powers = Math.log10(max / FLAT);
  const step = 10 ** Math.max(1, Math.round(powers / MOST_LINES));
  const lines = [];
  for (let line = powers > 1.7 ? FLAT * step : FLAT; line <= max; line *= step) lines.push(line);
  return [...lines.map((line) => -line).reverse(), 0, ...lines];
}

/** From what the worst to what the best for black is drawn: the same on both sides of zero. */
function scoreRange(chart, min, max) {
  const most = Math.max(1, Math.abs(min ?? 0), Math.abs(max ?? 0));
  return [-most, most];
}

const TIMES = { range: { min: { hard: 0, pad: 0 }, max: { pad: 0.1 } } };
const SCORE_AXIS = {
  splits: scoreLines,
  filter: (chart, lines) => lines,
  values: (chart, lines) => lines.map((line) => SHORT.format(line)),
};
const SCORES = { distr: 4, asinh: FLAT, range: scoreRange };

export class Charts {
  #charts = [];
  #ply = 0;

  /**
   * @param {HTMLElement | null} section Has a place for each chart; there may be none.
   * @param {import("./game_moves.js").Moves} moves
   * @param {(ply: number) => void} go Is told a ply that was clicked.
   */
  constructor(section, moves, go) {
    this.section = section;
    this.moves = moves;
    this.go = go;
    if (!section || !window.uPlot) return;
    section.hidden = false;
    this.#draw();
    document.addEventListener("meijin:theme", () => this.#draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#draw());
    new ResizeObserver(() => this.#fit()).observe(section);
  }

  /** Marks a ply in all charts. */
  mark(ply) {
    this.#ply = ply;
    for (const chart of this.#charts) chart.redraw(false);
  }

  /** Takes new moves and evaluations in. */
  update() {
    for (const chart of this.#charts) chart.setData(this.#data(chart.root.parentElement));
  }

  #draw() {
    for (const chart of this.#charts.splice(0)) chart.destroy();
    for (const place of this.section.querySelectorAll("[data-chart]")) {
      place.setAttribute("aria-hidden", "true"); // the table of moves has the same
      this.#charts.push(new window.uPlot(this.#options(place), this.#data(place), place));
    }
  }

  #fit() {
    for (const chart of this.#charts) {
      const width = chart.root.parentElement.clientWidth;
      if (width && width !== chart.width) chart.setSize({ width, height: HEIGHT });
    }
  }

  #data(place) {
    const plies = [...Array(this.moves.length + 1).keys()];
    if (place.dataset.chart === "time") {
      return [plies, this.moves.column("raw"), this.moves.column("charged")];
    }
    const scores = this.moves.column("score");
    const of = (side) => scores.map((score, ply) => (ply % 2 === side ? score : null));
    return [plies, of(1), of(0)];
  }

  #options(place) {
    const isTime = place.dataset.chart === "time";
    const names = isTime ? ["raw", "charged"] : ["black", "white"];
    const strokes = [colour("--accent"), colour("--link")];
    const axis = { stroke: colour("--text"), grid: { stroke: colour("--line"), width: 1 } };
    return {
      width: place.clientWidth || 600,
      height: HEIGHT,
      scales: { x: { time: false }, y: isTime ? TIMES : SCORES },
      axes: [
        { ...axis, incrs: WHOLE },
        { ...axis, size: 60, ...(isTime ? {} : SCORE_AXIS) },
      ],
      series: [
        { label: place.dataset.x },
        ...names.map((name, index) => ({
          label: place.dataset[name],
          stroke: strokes[index],
          width: 2,
          spanGaps: true,
          points: { size: 5, fill: strokes[index] },
        })),
      ],
      hooks: {
        ready: [(chart) => this.#onClick(chart)],
        draw: [(chart) => this.#drawMark(chart)],
      },
    };
  }

  #onClick(chart) {
    chart.over.addEventListener("click", () => {
      if (chart.cursor.idx != null) this.go(chart.data[0][chart.cursor.idx]);
    });
  }

  #drawMark(chart) {
    const x = Math.round(chart.valToPos(this.#ply, "x", true));
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.strokeStyle = colour("--text");
    ctx.beginPath();
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.restore();
  }
}
