/** The grid of live boards: each moves by itself, and tells what its bots think of it. */

import { Board } from "./board.js";
import { LiveStream, clockText, expectedLine, newestThought, winningLine } from "./live.js";

const CLOCK_MS = 200;
const SIDES = ["black", "white"];

const grid = document.querySelector("[data-live]");
const template = document.querySelector("[data-live-template]");
const none = document.querySelector("[data-live-none]");
/** @type {Map<string, Small>} */
const shown = new Map();

/** A small board with its players. */
class Small {
  #board = null;
  #game = null;
  #isLookedAt = false;

  constructor(article) {
    this.article = article;
    this.clocks = SIDES.map((side) => article.querySelector(`[data-side=${side}]`));
    for (const kind of ["mouseenter", "focusin"]) this.#on(kind, true);
    for (const kind of ["mouseleave", "focusout"]) this.#on(kind, false);
  }

  get hasEnded() {
    return Boolean(this.#game?.game.ended);
  }

  show(game) {
    if (game.id !== this.#game?.id) this.#name(game);
    this.#game = game;
    const { names, width, height, outcome } = game.game;
    if (this.#board?.width !== width || this.#board?.height !== height) this.#board = null;
    this.#board ??= new Board(this.article.querySelector("svg"), { width, height, words: false });
    for (const [index, side] of SIDES.entries()) {
      const name = this.clocks[index].querySelector(".name");
      [name.textContent, name.title] = [names[side], game.game[side]];
    }
    this.article.querySelector(".outcome").textContent = outcome;
    this.#draw();
    this.tick();
  }

  /** Shows the clocks as they are now. */
  tick() {
    if (!this.#game) return;
    for (const [index, side] of SIDES.entries()) {
      const player = this.clocks[index];
      player.classList.toggle("running", this.#game.clocks?.running === side);
      const text = clockText(stream.left(this.#game, side));
      const clock = player.querySelector(".clock");
      if (clock.textContent !== text) clock.textContent = text;
    }
  }

  #on(kind, isLookedAt) {
    this.article.addEventListener(kind, () => {
      this.#isLookedAt = isLookedAt;
      if (this.#game) this.#draw();
    });
  }

  #name(game) {
    this.article.dataset.game = game.id;
    const link = this.article.querySelector("h2 a");
    link.href = `/games/${encodeURIComponent(game.id)}`;
    link.textContent = template.dataset.gameName.replace("%", game.id);
  }

  #draw() {
    const { moves } = this.#game;
    const thought = newestThought(this.#game);
    const pv = this.#isLookedAt && !this.hasEnded ? expectedLine(thought, moves) : [];
    this.#board.show({ moves, winning: winningLine(this.#game), pv });
    this.article.querySelector(".thought").textContent = thoughtText(thought);
  }
}

function thoughtText(thought) {
  if (!thought) return "";
  const { black, white, thought: form } = template.dataset;
  return form
    .replace("%side", thought.ply % 2 ? white : black)
    .replace("%score", thought.score ?? "–")
    .replace("%depth", thought.depth ?? "–")
    .replace("%nodes", thought.nodes?.toLocaleString("en") ?? "–");
}

/** The board of a game; a new one takes the place of one that has ended. */
function boardOf(id) {
  const known = shown.get(id);
  if (known) return known;
  const [endedId, ended] = [...shown].find(([, each]) => each.hasEnded) ?? [];
  const board = ended ?? new Small(added());
  shown.delete(endedId);
  shown.set(id, board);
  return board;
}

function added() {
  const article = template.content.firstElementChild.cloneNode(true);
  grid.append(article);
  return article;
}

function remove(id) {
  shown.get(id)?.article.remove();
  shown.delete(id);
  none.hidden = shown.size > 0;
}

for (const article of grid.querySelectorAll("[data-game]")) {
  shown.set(article.dataset.game, new Small(article));
}
const stream = new LiveStream([grid.dataset.live], {
  game: (game) => {
    boardOf(game.id).show(game);
    none.hidden = true;
  },
  gone: remove,
  whole: (ids) => {
    for (const id of [...shown.keys()]) if (!ids.has(id)) remove(id);
  },
});
setInterval(() => {
  if (!document.hidden) for (const board of shown.values()) board.tick();
}, CLOCK_MS);
