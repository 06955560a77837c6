/** The moves of a game, as the page has them in its table. */

import { scoreText } from "./chances.js";
import { cellName, parseCell, plyText } from "./board_words.js";

/**
 * What is known of a ply.
 * @typedef {object} Ply
 * @property {HTMLElement} element
 * @property {number | undefined} cell
 * @property {string} words
 * @property {number[]} forbidden Where the next stone may not be placed.
 * @property {string} black Black's clock.
 * @property {string} white White's clock.
 * @property {number | null} score From black's side.
 * @property {number | null} raw Seconds.
 * @property {number | null} charged Seconds.
 * @property {number[]} line
 */

function numberOf(text) {
  return text === undefined ? null : Number(text);
}

export class Moves {
  #plies = []; // elements
  #chosen = null;
  #row = null; // what a new move is made of

  /**
   * @param {HTMLElement} list Has an element for each ply, from 0 on.
   * @param {{width: number, height: number}} size The board's.
   */
  constructor(list, size) {
    this.list = list;
    this.size = size;
    this.#plies = [...list.querySelectorAll("[data-ply]")];
    this.#row = document.querySelector("[data-row]");
    this.cells = this.#plies.slice(1).map((element) => Number(element.dataset.cell));
  }

  /** How many moves there are. */
  get length() {
    return this.cells.length;
  }

  /** @returns {Ply} */
  at(ply) {
    const element = this.#plies[ply];
    const { words, forbidden, black = "", white = "", score, raw, charged } = element.dataset;
    return {
      element,
      cell: this.cells[ply - 1],
      words,
      forbidden: forbidden ? forbidden.split(" ").map(Number) : [],
      black,
      white,
      score: numberOf(score),
      raw: numberOf(raw),
      charged: numberOf(charged),
      line: this.#line(ply),
    };
  }

  /** What the table says of a ply in a column. */
  field(ply, name) {
    return this.#part(ply, name)?.textContent ?? "";
  }

  /** One number of every ply; null where it is unknown. */
  column(name) {
    return this.#plies.map((element) => numberOf(element.dataset[name]));
  }

  /** Marks a ply. */
  select(ply) {
    this.#chosen?.removeAttribute("aria-current");
    this.#chosen = this.#plies[ply];
    for (const other of this.list.querySelectorAll("[aria-current]")) other.removeAttribute("aria-current");
    this.#chosen.setAttribute("aria-current", "true");
    this.#scrollTo(this.#chosen);
  }

  /** Has a click on a move be told, with its ply. */
  onChoice(callback) {
    this.list.addEventListener("click", (event) => {
      const row = event.target.closest("[data-ply]");
      if (row) callback(event, Number(row.dataset.ply));
    });
  }

  /** Adds a move that was made just now. */
  append(cell) {
    const ply = this.#plies.length;
    const element = this.#row.content.firstElementChild.cloneNode(true);
    const name = cellName(cell, this.size.width, this.size.height);
    const { black, white } = this.#plies[ply - 1].dataset;
    const data = { ply, cell, words: plyText(ply, name), black, white };
    for (const [key, value] of Object.entries(data)) {
      if (value !== undefined) element.dataset[key] = value;
    }
    this.#write(element, { number: ply, move: name, words: data.words });
    const link = element.querySelector("a");
    if (link) link.href = `?ply=${ply}`;
    element.querySelector(".stone-of")?.classList.add(ply % 2 ? "black" : "white");
    this.cells.push(cell);
    this.#plies.push(element);
    (this.list.tBodies?.[0] ?? this.list).append(element);
  }

  /** Adds what a bot thought of its move; the score is from its side. */
  evaluate({ ply, score, depth, nodes, pv }) {
    const element = this.#plies[ply];
    if (!element) return;
    if (score !== null) element.dataset.score = ply % 2 ? score : -score;
    const { width, height } = this.size;
    const line = pv.map((cell) => cellName(cell, width, height)).join(" ");
    this.#write(element, { score: scoreText(score), depth: depth ?? "–", nodes: nodes ?? "–", line });
  }

  /** Sets both clocks as they are after the last move. */
  setClocks({ black, white }) {
    const element = this.#plies[this.length];
    Object.assign(element.dataset, { black, white });
    this.#write(element, { black, white });
  }

  #write(element, fields) {
    for (const [name, text] of Object.entries(fields)) {
      const part = element.querySelector(`[data-field="${name}"]`);
      if (part) part.textContent = text;
    }
  }

  #part(ply, name) {
    return this.#plies[ply].querySelector(`[data-field="${name}"]`);
  }

  #line(ply) {
    const words = this.field(ply, "line").split(" ").filter(Boolean);
    return words.map((word) => parseCell(word, this.size.width, this.size.height));
  }

  /** Scrolls the frame of the table, and never the page. */
  #scrollTo(element) {
    const frame = element.closest(".moves-frame");
    if (!frame) return;
    const [inner, outer] = [element, frame].map((each) => each.getBoundingClientRect());
    if (inner.top < outer.top + inner.height) frame.scrollTop -= outer.top + 2 * inner.height - inner.top;
    else if (inner.bottom > outer.bottom) frame.scrollTop += inner.bottom - outer.bottom;
  }
}
