/** A board as SVG: its stones and marks, a keyboard cursor to play with, and its text. */

import { cellName, movesText, positionText } from "./board_words.js";
import { Cursor } from "./board_cursor.js";

const SVG = "http://www.w3.org/2000/svg";
/** Between two lines, and from the outermost to the edge with and without names: as `board_svg`. */
export const CELL = 24;
const MARGIN = 28;
const BARE_MARGIN = 15;
const SIDES = ["black", "white"];
const NOTHING = {
  moves: [], ply: undefined, winning: [], forbidden: [], numbers: false, pv: [],
  hint: undefined, choice: undefined,
};

/**
 * What a board shows; cells are numbers, row * width + column, row 0 on top.
 * @typedef {object} Shown
 * @property {number[]} [moves] All moves of the game, black's first.
 * @property {number} [ply] How many of them lie on the board; all when absent.
 * @property {number[][]} [winning] The lines that have won: the stones of each, from end to end.
 * @property {number[]} [forbidden] Where the side to move may not play.
 * @property {boolean} [numbers] Whether stones have the numbers of their moves.
 * @property {number[]} [pv] The line that is expected after the moves shown.
 * @property {number} [hint] A cell that is recommended.
 * @property {number} [choice] A cell that the player has picked and not played yet.
 */

/** @returns {SVGElement} */
function make(kind, attributes, text) {
  const made = document.createElementNS(SVG, kind);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

/** How light falls on stones; the style sheet says which colours. */
function bodies() {
  const defs = make("defs", {});
  for (const side of SIDES) {
    const body = make("radialGradient", { id: `stone-${side}`, cx: 0.36, cy: 0.32, r: 0.72 });
    body.append(make("stop", { class: "light" }), make("stop", { class: "shade", offset: 1 }));
    defs.append(body);
  }
  return defs;
}

/** The cells marked by dots: the same as `star_points` of the server. */
export function starPoints(width, height) {
  const along = (side) => {
    if (side < 9) return [];
    const edge = side > 11 ? 3 : 2;
    return [edge, ...(side % 2 ? [(side - 1) / 2] : []), side - 1 - edge];
  };
  const [columns, rows] = [along(width), along(height)];
  const cells = rows.flatMap((row) => columns.map((column) => row * width + column));
  const isOdd = columns.length === 3 && rows.length === 3;
  return isOdd && Math.max(width, height) < 19 ? cells.filter((_, index) => index % 2 === 0) : cells;
}

export class Board {
  #drawn = []; // the stones that are on the board: {cell, element}
  #shown = NOTHING;
  #cursor = null;
  #text = null;

  /**
   * @param {SVGSVGElement} svg Is emptied and drawn into.
   * @param {{width: number, height: number, words?: boolean}} options Columns and rows; and
   *   whether rows and columns are named, and the moves stand beside it as text that is not seen,
   *   which a grid of small boards spares.
   */
  constructor(svg, { width, height, words = true }) {
    this.svg = svg;
    this.width = width;
    this.height = height;
    const margin = words ? MARGIN : BARE_MARGIN;
    const [x, y] = [width, height].map((side) => (side - 1) * CELL + 2 * margin);
    svg.setAttribute("viewBox", `${-margin} ${-margin} ${x} ${y}`);
    svg.setAttribute("role", "img");
    svg.classList.add("board");
    const wood = make("rect", { class: "wood", x: -margin, y: -margin, width: x, height: y });
    svg.replaceChildren(bodies(), wood, ...this.#grid(), ...(words ? this.#names() : []));
    this.stones = svg.appendChild(make("g", { class: "stones" }));
    this.marks = svg.appendChild(make("g", { class: "marks" }));
    this.digits = svg.appendChild(make("g", { class: "digits" })); // over the winning line
    if (words) this.#text = this.#hiddenText();
    this.show({});
  }

  /**
   * Shows a position; what is left out is not shown.
   * @param {Shown} shown
   */
  show(shown) {
    const now = { ...NOTHING, ...shown };
    now.ply = Math.max(0, Math.min(now.moves.length, now.ply ?? now.moves.length));
    this.#shown = now;
    const cells = now.moves.slice(0, now.ply);
    this.#place(cells);
    this.marks.replaceChildren(...this.#markings(now));
    this.digits.replaceChildren(...(now.numbers ? cells.map(this.#number, this) : []));
    this.#describe(now);
    this.#cursor?.refresh();
  }

  /**
   * Lets a person choose cells with the pointer, or with the arrow keys and Enter.
   * @param {((cell: number) => void) | null} callback Nobody may choose when null.
   */
  onCell(callback) {
    this.#cursor?.remove();
    this.#cursor = callback && new Cursor(this, callback);
    this.svg.setAttribute("role", callback ? "application" : "img");
  }

  /** What is shown of it now, complete. */
  get shown() {
    return this.#shown;
  }

  /** The middle of a cell in the picture. */
  at(cell) {
    return { x: (cell % this.width) * CELL, y: Math.floor(cell / this.width) * CELL };
  }

  /** The cell nearest to a place of the screen; undefined off the board. */
  cellAt(clientX, clientY) {
    const matrix = this.svg.getScreenCTM();
    if (!matrix) return undefined;
    const point = new DOMPoint(clientX, clientY).matrixTransform(matrix.inverse());
    const column = Math.round(point.x / CELL);
    const row = Math.round(point.y / CELL);
    const inside = column >= 0 && column < this.width && row >= 0 && row < this.height;
    return inside ? row * this.width + column : undefined;
  }

  /** The printed name of a cell, such as h8. */
  name(cell) {
    return cellName(cell, this.width, this.height);
  }

  /** The side of the stone on a cell, black or white; undefined where it is empty. */
  stone(cell) {
    const index = this.#drawn.findIndex((each) => each.cell === cell);
    return index < 0 ? undefined : SIDES[index % 2];
  }

  *#grid() {
    const { x: right, y: bottom } = this.at(this.width * this.height - 1);
    let path = "";
    for (let x = 0; x <= right; x += CELL) path += `M${x} 0V${bottom}`;
    for (let y = 0; y <= bottom; y += CELL) path += `M0 ${y}H${right}`;
    yield make("path", { class: "lines", d: path });
    const dots = starPoints(this.width, this.height).map((cell) => this.at(cell));
    const d = dots.map(({ x, y }) => `M${x} ${y}h0`).join("");
    if (d) yield make("path", { class: "stars", d });
  }

  *#names() {
    const bottom = (this.height - 1) * CELL;
    for (let column = 0; column < this.width; column++) {
      const letter = String.fromCharCode(97 + column);
      yield make("text", { class: "name", x: column * CELL, y: bottom + 22 }, letter);
    }
    for (let row = 0; row < this.height; row++) {
      yield make("text", { class: "name", x: -18, y: row * CELL + 4 }, this.height - row);
    }
  }

  /** Takes away all stones but the first this many. */
  #keep(count) {
    for (const { element } of this.#drawn.splice(count)) element.remove();
  }

  #place(cells) {
    let same = 0;
    while (same < cells.length && this.#drawn[same]?.cell === cells[same]) same++;
    this.#keep(same);
    for (let index = same; index < cells.length; index++) {
      const element = this.#stone(cells[index], SIDES[index % 2]);
      this.#drawn.push({ cell: cells[index], element });
      this.stones.append(element);
    }
  }

  #stone(cell, side, { kind = "", number } = {}) {
    const { x, y } = this.at(cell);
    const group = make("g", { class: `stone ${kind} ${side}` });
    group.append(make("circle", { cx: x, cy: y, r: 11, fill: `url(#stone-${side})` }));
    if (number !== undefined) group.append(make("text", { x, y: y + 4 }, number));
    return group;
  }

  *#markings({ moves, ply, winning, forbidden, pv, hint, choice }) {
    for (const line of winning) yield this.#through(line);
    if (ply > 0) yield this.#ring(moves[ply - 1], "last", 9);
    for (const cell of forbidden) yield this.#cross(cell);
    yield* this.#ghosts(pv, ply);
    if (hint !== undefined) yield this.#ring(hint, "hint", 8);
    if (choice !== undefined) yield this.#stone(choice, SIDES[ply % 2], { kind: "choice" });
  }

  /** The stones of an expected line, as far as they fall on empty cells. */
  *#ghosts(pv, ply) {
    const taken = new Set(this.#drawn.map((each) => each.cell));
    for (const [index, cell] of pv.entries()) {
      if (taken.has(cell)) return;
      taken.add(cell);
      yield this.#stone(cell, SIDES[(ply + index) % 2], { kind: "pv", number: index + 1 });
    }
  }

  #number(cell, index) {
    const { x, y } = this.at(cell);
    return make("text", { class: `on-${SIDES[index % 2]}`, x, y: y + 4 }, index + 1);
  }

  #ring(cell, kind, r) {
    const { x, y } = this.at(cell);
    return make("circle", { class: kind, cx: x, cy: y, r });
  }

  #through(line) {
    const [from, to] = [this.at(line[0]), this.at(line.at(-1))];
    return make("path", { class: "win", d: `M${from.x} ${from.y}L${to.x} ${to.y}` });
  }

  #cross(cell) {
    const { x, y } = this.at(cell);
    return make("path", { class: "forbidden", d: `M${x - 5} ${y - 5}l10 10m0 -10l-10 10` });
  }

  #hiddenText() {
    const text = document.createElement("p");
    text.className = "hidden-text";
    text.id = `${this.svg.id || "board"}-text`;
    this.svg.setAttribute("aria-describedby", text.id);
    document.getElementById(text.id)?.remove();
    this.svg.after(text);
    return text;
  }

  #describe(shown) {
    this.svg.setAttribute("aria-label", positionText(shown, this.width, this.height));
    if (this.#text) {
      this.#text.textContent = movesText(shown.moves.slice(0, shown.ply), this.width, this.height);
    }
  }
}
