/** Live boards: one stream of events a page, which is closed while nobody looks at it. */

import { parseCell } from "./board_words.js";

const COME_BACK_MS = 20_000;

/**
 * What a bot said of a move of its own.
 * @typedef {{ply: number, score: number | null, depth: number | null, nodes: number | null, pv: number[]}} Thought
 */

/**
 * A game as far as it was told.
 * @typedef {object} LiveGame
 * @property {string} id
 * @property {{black: string, white: string, names: {black: string, white: string}, tournament: string, width: number, height: number,
 *   line: number, ended: boolean, outcome: string, won: boolean}} game
 * @property {number[]} moves
 * @property {{black_ms: number, white_ms: number, running: string|null, at_ms: number}} [clocks]
 * @property {Thought} [black]
 * @property {Thought} [white]
 */

/** A stream of topics such as `game:17`, `tournament:3` and `arena`. */
export class LiveStream {
  /** @type {Map<string, LiveGame>} */
  games = new Map();
  #topics;
  #on;
  #source = null;
  #skew = 0;
  #timer = 0;

  /**
   * @param {string[]} topics
   * @param {object} on
   * @param {(game: LiveGame) => void} on.game Is called with each game that has changed.
   * @param {(id: string) => void} [on.gone] With one that is shown no more.
   * @param {(topic: string) => void} [on.over] With a topic of which nothing more will come.
   * @param {(ids: Set<string>) => void} [on.whole] With all there are, at the beginning and
   *   whenever something was missed.
   */
  constructor(topics, on) {
    this.#topics = new Set(topics);
    this.#on = on;
    document.addEventListener("visibilitychange", () => this.#look());
    addEventListener("pagehide", () => this.#close());
    addEventListener("pageshow", () => this.#look());
    this.#look();
  }

  /** The milliseconds left on a side's clock now; undefined where nobody has told. */
  left(game, side) {
    const { clocks } = game;
    if (!clocks) return undefined;
    const used = clocks.running === side ? performance.now() + this.#skew - clocks.at_ms : 0;
    return Math.max(0, clocks[`${side}_ms`] - Math.max(0, used));
  }

  #look() {
    if (document.hidden) this.#close();
    else if (!this.#source && this.#topics.size) this.#open();
  }

  #open() {
    clearTimeout(this.#timer);
    const query = new URLSearchParams({ topics: [...this.#topics].join(",") });
    const source = new EventSource(`/events?${query}`);
    const take = (kind, take) => source.addEventListener(kind, (event) => take(JSON.parse(event.data)));
    take("hello", ({ now_ms }) => (this.#skew = now_ms - performance.now()));
    take("games", (frame) => this.#take(frame));
    take("over", ({ topic }) => this.#finish(topic));
    take("refused", ({ topic }) => this.#finish(topic));
    source.onerror = () => this.#retry();
    this.#source = source;
  }

  #close() {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = null;
  }

  /** A browser comes back by itself, but not to a server that has refused it. */
  #retry() {
    if (this.#source?.readyState !== EventSource.CLOSED) return;
    this.#close();
    this.#timer = setTimeout(() => this.#look(), COME_BACK_MS);
  }

  #finish(topic) {
    this.#topics.delete(topic);
    if (!this.#topics.size) this.#close();
    this.#on.over?.(topic);
  }

  #take({ whole, games, gone }) {
    if (whole) {
      this.games.clear();
      this.#on.whole?.(new Set(games.map(({ id }) => id)));
    }
    for (const change of games) this.#on.game(this.#merged(change));
    for (const id of gone) {
      this.games.delete(id);
      this.#on.gone?.(id);
    }
  }

  /** @returns {LiveGame} */
  #merged({ ply, moves, ...change }) {
    const known = this.games.get(change.id) ?? { moves: [] };
    const { width, height } = change.game ?? known.game;
    const cells = (names) => names.map((name) => parseCell(name, width, height));
    const all = moves ? [...known.moves.slice(0, ply), ...cells(moves)] : known.moves;
    const game = { ...known, ...change, moves: all };
    for (const side of ["black", "white"]) {
      if (change[side]) game[side] = { ...change[side], pv: cells(change[side].pv) };
    }
    this.games.set(game.id, game);
    return game;
  }
}

/** A clock as people read it: minutes and seconds, and tenths when there are few. */
export function clockText(milliseconds) {
  if (milliseconds === undefined) return "";
  const seconds = milliseconds / 1000;
  if (seconds < 10) return `0:${(Math.floor(seconds * 10) / 10).toFixed(1).padStart(4, "0")}`;
  const two = (number) => String(number).padStart(2, "0");
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** The lines that the last move has made, each from end to end; none where the game was not won so. */
export function winningLines({ game, moves }) {
  if (!game.won || !moves.length) return [];
  const last = moves.at(-1);
  const own = new Set(moves.filter((_, index) => (moves.length - 1 - index) % 2 === 0));
  const lines = [[1, 0], [0, 1], [1, 1], [1, -1]].map((step) => lineThrough(last, step, own, game));
  return lines.filter((line) => line.length >= game.line);
}

function lineThrough(cell, [dx, dy], own, { width, height }) {
  const line = [cell];
  for (const sign of [-1, 1]) {
    let [x, y] = [(cell % width) + sign * dx, Math.floor(cell / width) + sign * dy];
    while (x >= 0 && x < width && y >= 0 && y < height && own.has(y * width + x)) {
      line[sign < 0 ? "unshift" : "push"](y * width + x);
      [x, y] = [x + sign * dx, y + sign * dy];
    }
  }
  return line;
}

/** The newest thought of a game's bots; undefined where they say nothing. */
export function newestThought({ black, white }) {
  if (!black || !white) return black ?? white;
  return black.ply > white.ply ? black : white;
}

/** What is still to come of the line that a bot expected; nothing where it went otherwise. */
export function expectedLine(thought, moves) {
  if (!thought) return [];
  const made = moves.slice(thought.ply);
  const isAsExpected = made.every((cell, index) => thought.pv[index] === cell);
  return isAsExpected ? thought.pv.slice(made.length) : [];
}
