/** Live boards: each moves by itself, and tells what its bots think of it. */

import { Board } from "./board.js";
import { Chances, scoreText, showChance } from "./chances.js";
import { LiveStream, clockText, expectedLine, newestThought, winningLines } from "./live.js";

const CLOCK_MS = 200;
const SIDES = ["black", "white"];

/** Until another game is looked for in place of one that has ended, or of none. */
const NEXT_MS = 6000;

const template = document.querySelector("[data-live-template]");

/** A board with its players. */
class LiveBoard {
  #board = null;
  #game = null;
  #isLookedAt = false;

  constructor(article, stream) {
    this.article = article;
    this.stream = stream;
    this.isLarge = Boolean(article.closest("[data-tv]"));
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
    this.#board ??= new Board(this.article.querySelector("svg"), { width, height, words: this.isLarge });
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
      const text = clockText(this.stream.left(this.#game, side));
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
    const link = this.article.querySelector(".live-picture");
    link.href = `/games/${encodeURIComponent(game.id)}`;
    const form = template.content.querySelector(".live-picture").getAttribute("aria-label");
    link.setAttribute("aria-label", form.replace("%", game.id));
  }

  #draw() {
    const { moves } = this.#game;
    const thought = newestThought(this.#game);
    const pv = (this.#isLookedAt || this.isLarge) && !this.hasEnded ? expectedLine(thought, moves) : [];
    this.#board.show({ moves, winning: winningLines(this.#game), pv });
    if (this.isLarge) this.#tell(thought);
  }

  /** What a bot thinks, and who is to win by it. */
  #tell(thought) {
    if (!thought) return;
    this.article.querySelector(".thought").textContent = thoughtText(thought);
    if (thought.score === null) return;
    const chances = new Chances(this.article.dataset.chances.split(" ").map(Number));
    const score = thought.ply % 2 ? -thought.score : thought.score;
    showChance(this.article.querySelector("[data-chance]"), chances.at(thought.ply + 1, score));
  }
}

function thoughtText(thought) {
  const { black, white, thought: form } = template.dataset;
  return form
    .replace("%side", thought.ply % 2 ? white : black)
    .replace("%score", scoreText(thought.score))
    .replace("%depth", thought.depth ?? "–")
    .replace("%nodes", thought.nodes?.toLocaleString("en") ?? "–");
}

/** Boards that move: many in a grid, or one that is shown large. */
class Boards {
  /** @type {Map<string, LiveBoard>} */
  #shown = new Map();
  #none = document.querySelector("[data-live-none]");

  /** @param {HTMLElement} root Names the topic that its boards are of. */
  constructor(root) {
    this.root = root;
    this.stream = new LiveStream([root.dataset.live], {
      game: (game) => this.#boardOf(game.id).show(game),
      gone: (id) => this.#remove(id),
      whole: (ids) => {
        for (const id of [...this.#shown.keys()]) if (!ids.has(id)) this.#remove(id);
      },
      over: () => this.#end(),
    });
    for (const article of root.querySelectorAll("[data-game]")) {
      this.#shown.set(article.dataset.game, new LiveBoard(article, this.stream));
    }
    this.ticking = setInterval(() => {
      if (!document.hidden) for (const board of this.#shown.values()) board.tick();
    }, CLOCK_MS);
  }

  /** Nothing more will come; what is shown large gives its place to the next. */
  #end() {
    clearInterval(this.ticking);
    if (this.root.matches("[data-tv]")) setTimeout(showNext, NEXT_MS, this.root);
  }

  /** The board of a game; a new one takes the place of one that has ended. */
  #boardOf(id) {
    const known = this.#shown.get(id);
    if (known) return known;
    const [endedId, ended] = [...this.#shown].find(([, each]) => each.hasEnded) ?? [];
    const board = ended ?? new LiveBoard(this.#added(), this.stream);
    this.#shown.delete(endedId);
    this.#shown.set(id, board);
    if (this.#none) this.#none.hidden = true;
    return board;
  }

  #added() {
    const article = template.content.firstElementChild.cloneNode(true);
    this.root.append(article);
    return article;
  }

  #remove(id) {
    this.#shown.get(id)?.article.remove();
    this.#shown.delete(id);
    if (this.#none) this.#none.hidden = this.#shown.size > 0;
  }
}

/** Shows what the page would have in place of a board if it were loaded now. */
async function showNext(root) {
  try {
    const answer = await fetch(location.href);
    if (!answer.ok) throw new Error(answer.statusText);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const beside = "[data-beside]"; // how a tournament stands
    document.querySelector(beside)?.replaceWith(page.querySelector(beside) ?? "");
    const next = page.querySelector("[data-tv]");
    root.replaceWith(next);
    follow(next);
  } catch {
    setTimeout(showNext, NEXT_MS, root); // the server is away
  }
}

function follow(root) {
  if (root.dataset.live) new Boards(root);
  else if (root.matches("[data-tv]")) setTimeout(showNext, NEXT_MS, root);
}

for (const root of document.querySelectorAll("[data-live], [data-tv]")) follow(root);
