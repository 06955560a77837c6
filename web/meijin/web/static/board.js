/** A board as SVG: its stones and marks, a keyboard cursor to play with, and its text. */

import { cellName, movesText, positionText } from "./board_words.js";
import { Cursor } from "./board_cursor.js";

const SVG = "http://www.w3.org/2000/svg";
/** Between two lines, and from the outermost to the edge: those of the server's pictures. */
export const CELL = 24;
export const MARGIN = 30;
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
 * @property {number[]} [winning] The stones of the winning line.
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

export class Board {
  #drawn = []; // the stones that are on the board: {cell, element}
  #shown = NOTHING;
  #cursor = null;
  #text = null;

  /**
   * @param {SVGSVGElement} svg Is emptied and drawn into.
   * @param {{width: number, height: number, words?: boolean}} options Columns and rows; and
   *   whether the moves stand beside it as text that is not seen, which a grid of boards spares.
   */
  constructor(svg, { width, height, words = true }) {
    this.svg = svg;
    this.width = width;
    this.height = height;
    const [x, y] = [width, height].map((side) => (side - 1) * CELL + 2 * MARGIN);
    svg.setAttribute("viewBox", `0 0 ${x} ${y}`);
    svg.setAttribute("role", "img");
    svg.classList.add("board");
    svg.replaceChildren(...this.#ground(x, y));
    this.stones = svg.appendChild(make("g", { class: "stones" }));
    this.marks = svg.appendChild(make("g", { class: "marks" }));
    if (words) this.#text = this.#hiddenText();
    this.show({});
  }

  /**
   * Shows a position; what is left out is not shown.
   * @param {Shown} shown
   */
  show(shown) {
    const before = this.#shown;
    const now = { ...NOTHING, ...shown };
    now.ply = Math.max(0, Math.min(now.moves.length, now.ply ?? now.moves.length));
    this.#shown = now;
    if (now.numbers !== before.numbers) this.#keep(0);
    this.#place(now.moves.slice(0, now.ply), now.numbers);
    this.marks.replaceChildren(...this.#markings(now));
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
    return {
      x: MARGIN + (cell % this.width) * CELL,
      y: MARGIN + Math.floor(cell / this.width) * CELL,
    };
  }

  /** The cell nearest to a place of the screen; undefined off the board. */
  cellAt(clientX, clientY) {
    const matrix = this.svg.getScreenCTM();
    if (!matrix) return undefined;
    const point = new DOMPoint(clientX, clientY).matrixTransform(matrix.inverse());
    const column = Math.round((point.x - MARGIN) / CELL);
    const row = Math.round((point.y - MARGIN) / CELL);
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

  *#ground(x, y) {
    yield make("rect", { class: "wood", width: x, height: y, rx: 4 });
    const right = x - MARGIN;
    const bottom = y - MARGIN;
    let path = "";
    for (let column = 0; column < this.width; column++) {
      path += `M${MARGIN + column * CELL} ${MARGIN}V${bottom}`;
    }
    for (let row = 0; row < this.height; row++) path += `M${MARGIN} ${MARGIN + row * CELL}H${right}`;
    yield make("path", { class: "lines", d: path });
    for (let column = 0; column < this.width; column++) {
      const letter = String.fromCharCode(97 + column);
      yield make("text", { class: "name", x: MARGIN + column * CELL, y: y - 4 }, letter);
    }
    for (let row = 0; row < this.height; row++) {
      yield make("text", { class: "name", x: 9, y: MARGIN + row * CELL + 4 }, this.height - row);
    }
  }

  /** Takes away all stones but the first this many. */
  #keep(count) {
    for (const { element } of this.#drawn.splice(count)) element.remove();
  }

  #place(cells, numbers) {
    let same = 0;
    while (same < cells.length && this.#drawn[same]?.cell === cells[same]) same++;
    this.#keep(same);
    for (let index = same; index < cells.length; index++) {
      const number = numbers ? index + 1 : undefined;
      const element = this.#stone(cells[index], SIDES[index % 2], number);
      this.#drawn.push({ cell: cells[index], element });
      this.stones.append(element);
    }
  }

  #stone(cell, kind, number) {
    const { x, y } = this.at(cell);
    const group = make("g", { class: `stone ${kind}` });
    group.append(make("circle", { cx: x, cy: y, r: 11 }));
    if (number !== undefined) group.append(make("text", { x, y: y + 4 }, number));
    return group;
  }

  *#markings({ moves, ply, winning, forbidden, pv, hint, choice }) {
    for (const cell of winning) yield this.#ring(cell, "win", 12);
    if (ply > 0) yield this.#ring(moves[ply - 1], "last", 9);
    for (const cell of forbidden) yield this.#cross(cell);
    yield* this.#ghosts(pv, ply);
    if (hint !== undefined) yield this.#ring(hint, "hint", 8);
    if (choice !== undefined) yield this.#stone(choice, `choice ${SIDES[ply % 2]}`);
  }

  /** The stones of an expected line, as far as they fall on empty cells. */
  *#ghosts(pv, ply) {
    const taken = new Set(this.#drawn.map((each) => each.cell));
    for (const [index, cell] of pv.entries()) {
      if (taken.has(cell)) return;
      taken.add(cell);
      yield this.#stone(cell, `pv ${SIDES[(ply + index) % 2]}`, index + 1);
    }
  }

  #ring(cell, kind, r) {
    const { x, y } = this.at(cell);
    return make("circle", { class: kind, cx: x, cy: y, r });
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
