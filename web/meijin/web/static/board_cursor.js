/** The cursor of a board that is played on: by arrow keys and Enter, or by the pointer. */

import { cellText } from "./board_words.js";

const SVG = "http://www.w3.org/2000/svg";
/** Columns and rows that a key moves the cursor by. */
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Cursor {
  #ends = new AbortController();

  /**
   * @param {import("./board.js").Board} board
   * @param {(cell: number) => void} callback Is told each cell that is chosen.
   */
  constructor(board, callback) {
    this.board = board;
    this.callback = callback;
    this.cell = Math.floor(board.height / 2) * board.width + Math.floor(board.width / 2);
    this.ring = document.createElementNS(SVG, "rect");
    this.ring.setAttribute("class", "cursor");
    this.ring.setAttribute("width", 24);
    this.ring.setAttribute("height", 24);
    this.words = document.createElement("p");
    this.words.className = "hidden-text";
    this.words.setAttribute("aria-live", "polite");
    board.svg.append(this.ring);
    board.svg.after(this.words);
    board.svg.setAttribute("tabindex", "0");
    board.svg.classList.add("playable");
    this.#listen();
    this.refresh();
  }

  /** Puts the ring where the cursor is. */
  refresh() {
    const { x, y } = this.board.at(this.cell);
    this.ring.setAttribute("x", x - 12);
    this.ring.setAttribute("y", y - 12);
  }

  /** Takes the cursor and its listeners away. */
  remove() {
    this.#ends.abort();
    this.ring.remove();
    this.words.remove();
    this.board.svg.removeAttribute("tabindex");
    this.board.svg.classList.remove("playable");
  }

  #listen() {
    const until = { signal: this.#ends.signal };
    const { svg } = this.board;
    svg.addEventListener("keydown", (event) => this.#onKey(event), until);
    svg.addEventListener("focus", () => this.#tell(), until);
    svg.addEventListener("pointermove", (event) => this.#move(this.#under(event)), until);
    svg.addEventListener("click", (event) => this.#choose(this.#under(event)), until);
  }

  #under(event) {
    return this.board.cellAt(event.clientX, event.clientY);
  }

  #onKey(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" || event.key === " ") this.#choose(this.cell);
    else if (event.key in STEPS) {
      this.#step(...STEPS[event.key]);
      this.#tell();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  #step(columns, rows) {
    const { width, height } = this.board;
    const column = Math.max(0, Math.min(width - 1, (this.cell % width) + columns));
    const row = Math.max(0, Math.min(height - 1, Math.floor(this.cell / width) + rows));
    this.#move(row * width + column);
  }

  #move(cell) {
    if (cell === undefined || cell === this.cell) return;
    this.cell = cell;
    this.refresh();
  }

  #choose(cell) {
    if (cell === undefined) return;
    this.#move(cell);
    this.callback(cell);
  }

  #tell() {
    this.words.textContent = cellText(this.board, this.cell);
  }
}
