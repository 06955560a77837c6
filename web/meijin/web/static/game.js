/** One game: its board, and stepping through it by keys, buttons, wheel, moves and charts. */

import { Board } from "./board.js";
import { Moves } from "./game_moves.js";
import { Chances, showChance } from "./chances.js";
import { Charts } from "./game_charts.js";

const NUMBERS = "meijin-numbers"; // where the browser keeps whether stones have numbers
const WHEEL_STEP = 100; // pixels of scrolling a ply: a notch of a wheel
const ADDRESS_DELAY = 300; // ms: browsers refuse an address that changes more often
const KEYS = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last" };
const FIELDS = ["score", "depth", "nodes", "line"];

/** A plain list of numbers, as attributes have them. */
function numbersOf(text) {
  return text ? text.split(" ").map(Number) : [];
}

class GamePage {
  #wheel = 0;
  #timer = 0;

  /** @param {HTMLElement} root The element that tells of the game. */
  constructor(root) {
    const { width, height, shown, winning, chances } = root.dataset;
    this.root = root;
    this.size = { width: Number(width), height: Number(height) };
    this.winning = winning ? winning.split(";").map(numbersOf) : [];
    this.moves = new Moves(document.querySelector("[data-moves]"), this.size);
    this.board = new Board(root.querySelector(".board-box svg"), this.size);
    this.chances = new Chances(numbersOf(chances.trim()));
    const section = document.querySelector("[data-charts]");
    this.charts = new Charts(section, this.moves, this.chances, (ply) => this.show(ply));
    this.numbers = this.#setUpNumbers();
    this.#setUpSlider();
    this.#listen();
    this.ply = Number(shown);
    this.show(this.ply, { isFirst: true });
  }

  /** Shows a ply, or the nearest there is. */
  show(wanted, { isFirst = false } = {}) {
    this.ply = Math.max(0, Math.min(this.moves.length, wanted));
    this.#draw();
    this.#tell(this.moves.at(this.ply));
    this.moves.select(this.ply);
    this.charts.mark(this.ply);
    this.#link();
    if (!isFirst) this.#keepAddress();
  }

  /** Goes where a button or a key leads. */
  step(name) {
    const places = { first: 0, back: this.ply - 1, forward: this.ply + 1, last: this.moves.length };
    this.show(places[name]);
  }

  /**
   * Takes what has happened in the game since.
   * @param {{ply: number, cells: number[], clocks?: {black: string, white: string},
   *   evaluations?: {ply: number, score: number | null, depth: number | null, nodes: number | null, pv: number[]}[],
   *   ended?: boolean}} update `ply` is how many moves came before `cells`; the ply of an
   *   evaluation that of its move, from 1, its score the bot's own; clocks are texts.
   */
  follow({ ply, cells = [], clocks, evaluations = [], ended = false }) {
    if (ended) location.reload(); // for what the end alone tells
    if (ply > this.moves.length) return; // it begins with all moves, and follows without a gap
    const isAtEnd = this.ply === this.moves.length;
    for (const cell of cells.slice(this.moves.length - ply)) this.moves.append(cell);
    for (const each of evaluations) this.moves.evaluate(each);
    if (clocks) this.moves.setClocks(clocks);
    if (this.slider) this.slider.max = this.moves.length;
    if (cells.length || evaluations.length) this.charts.update();
    this.show(isAtEnd ? this.moves.length : this.ply, { isFirst: true });
  }

  #draw(preview = {}) {
    const shown = {
      moves: this.moves.cells,
      ply: this.ply,
      winning: this.ply === this.moves.length ? this.winning : [],
      forbidden: this.moves.at(this.ply).forbidden,
      numbers: this.numbers,
    };
    this.board.show({ ...shown, ...preview });
  }

  /** Draws the line that a bot expected when it made a move. */
  #preview(ply) {
    const { line, cell } = this.moves.at(ply);
    const isPlayed = line[0] === cell;
    const pv = isPlayed ? line.slice(1) : line;
    this.#draw({ ply: isPlayed ? ply : ply - 1, pv, winning: [], forbidden: [] });
  }

  #tell(move) {
    this.#write("[data-position]", move.words);
    const count = this.root.querySelector("[data-count]");
    const form = count.dataset.count;
    count.textContent = form.replace("{ply}", this.ply).replace("{last}", this.moves.length);
    for (const side of ["black", "white"]) this.#write(`[data-clock="${side}"]`, move[side]);
    for (const field of FIELDS) {
      this.#write(`[data-said] [data-field="${field}"]`, this.moves.field(this.ply, field));
    }
    if (this.slider) this.slider.value = this.ply;
    const bar = this.root.querySelector("[data-chance]");
    if (bar) showChance(bar, this.#chance(bar.dataset));
  }

  /** Who is to win at the ply that is shown, or has won. */
  #chance({ points, over }) {
    if (points && this.ply === this.moves.length) return { black: Number(points), words: over };
    return this.chances.newest(this.moves.column("score").slice(0, this.ply + 1));
  }

  #write(selector, text) {
    const element = this.root.querySelector(selector);
    if (element) element.textContent = text;
  }

  /** Has the links of the page lead to the ply that is shown. */
  #link() {
    for (const link of document.querySelectorAll("[data-ply-link]")) {
      link.href = link.getAttribute("href").replace(/ply=\d+/, `ply=${this.ply}`);
    }
    const snippet = document.querySelector("[data-snippet]");
    if (snippet) snippet.value = snippet.value.replace(/ply=\d+/, `ply=${this.ply}`);
  }

  #keepAddress() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const address = new URL(location.href);
      address.searchParams.set("ply", this.ply);
      history.replaceState(null, "", address);
    }, ADDRESS_DELAY);
  }

  #setUpNumbers() {
    const box = this.root.querySelector("[data-numbers]");
    if (!box) return true;
    try {
      box.checked = localStorage.getItem(NUMBERS) !== "off";
    } catch {
      // storage is turned off: the choice lasts as long as the page
    }
    box.parentElement.hidden = false;
    box.addEventListener("change", () => this.#keepNumbers(box.checked));
    return box.checked;
  }

  #keepNumbers(isOn) {
    this.numbers = isOn;
    try {
      localStorage.setItem(NUMBERS, isOn ? "on" : "off");
    } catch {
      // as above
    }
    this.#draw();
  }

  #setUpSlider() {
    this.slider = this.root.querySelector("[data-slider]");
    if (!this.slider) return;
    this.slider.hidden = false;
    this.slider.addEventListener("input", () => this.show(Number(this.slider.value)));
  }

  #listen() {
    for (const link of this.root.querySelectorAll("[data-step]")) {
      link.addEventListener("click", (event) => this.#onLink(event, () => this.step(link.dataset.step)));
    }
    for (const link of this.root.querySelectorAll("[data-go]")) {
      link.addEventListener("click", (event) => this.#onLink(event, () => this.show(Number(link.dataset.go))));
    }
    this.moves.onChoice((event, ply) => this.#onLink(event, () => this.show(ply)));
    const box = this.root.querySelector(".board-box");
    box.addEventListener("wheel", (event) => this.#onWheel(event), { passive: false });
    document.addEventListener("keydown", (event) => this.#onKey(event));
    for (const on of ["mouseover", "focusin"]) {
      document.addEventListener(on, (event) => this.#onLine(event, (ply) => this.#preview(ply)));
    }
    for (const off of ["mouseout", "focusout"]) {
      document.addEventListener(off, (event) => this.#onLine(event, () => this.#draw()));
    }
    this.root.addEventListener("meijin:update", (event) => this.follow(event.detail));
    const help = this.root.querySelector("[data-help]");
    if (help) help.hidden = false;
  }

  #onLink(event, act) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    act();
  }

  #onKey(event) {
    const isTaken = event.defaultPrevented || event.target.closest("input, textarea, select, [role=application]");
    if (isTaken || !(event.key in KEYS)) return;
    this.#onLink(event, () => this.step(KEYS[event.key]));
  }

  /** Steps as far as there are moves; beyond them the page scrolls as ever. */
  #onWheel(event) {
    const isBack = event.deltaY < 0;
    if (event.ctrlKey || this.ply === (isBack ? 0 : this.moves.length)) return;
    event.preventDefault();
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? WHEEL_STEP / 3 : 1;
    this.#wheel += event.deltaY * lines;
    const steps = Math.trunc(this.#wheel / WHEEL_STEP);
    this.#wheel -= steps * WHEEL_STEP;
    if (steps) this.show(this.ply + steps);
  }

  #onLine(event, act) {
    const line = event.target.closest?.("[data-field=line]");
    if (!line) return;
    const row = line.closest("[data-ply]");
    const ply = row ? Number(row.dataset.ply) : this.ply;
    if (this.moves.at(ply).line.length) act(ply);
  }
}

const root = document.querySelector("[data-game]");
if (root) new GamePage(root);
