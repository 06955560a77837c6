/** The charts of a game: chances and times over the plies, by uPlot. */

import { colour } from "./colours.js";

const HEIGHT = 220;
const WHOLE = [1, 2, 5, 10, 20, 50, 100]; // plies between two lines

const TIMES = { range: { min: { hard: 0, pad: 0 }, max: { pad: 0.1 } } };
const SHARES = { range: [0, 1] };
const SHARE_AXIS = {
  splits: [0, 0.25, 0.5, 0.75, 1],
  values: (chart, lines) => lines.map((line) => `${100 * line} %`),
};

export class Charts {
  #charts = [];
  #ply = 0;

  /**
   * @param {HTMLElement | null} section Has a place for each chart; there may be none.
   * @param {import("./game_moves.js").Moves} moves
   * @param {import("./chances.js").Chances} chances
   * @param {(ply: number) => void} go Is told a ply that was clicked.
   */
  constructor(section, moves, chances, go) {
    this.section = section;
    this.moves = moves;
    this.chances = chances;
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
    const of = (side) =>
      scores.map((score, ply) =>
        score === null || ply % 2 !== side ? null : this.chances.black(ply, score));
    return [plies, of(1), of(0)];
  }

  #options(place) {
    const isTime = place.dataset.chart === "time";
    const names = isTime ? ["raw", "charged"] : ["black", "white"];
    const strokes = [colour("--accent"), colour("--link")];
    const axis = { font: "12px Figtree, system-ui", stroke: colour("--text"), grid: { stroke: colour("--line"), width: 1 } };
    return {
      width: place.clientWidth || 600,
      height: HEIGHT,
      scales: { x: { time: false }, y: isTime ? TIMES : SHARES },
      axes: [
        { ...axis, incrs: WHOLE },
        { ...axis, size: 60, ...(isTime ? {} : SHARE_AXIS) },
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
