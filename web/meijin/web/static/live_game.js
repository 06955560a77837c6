/** The page of a game that runs: hands on what happens in it, and has its clocks run down. */

import { LiveStream, clockText } from "./live.js";

const CLOCK_MS = 200;
const SIDES = ["black", "white"];
/** After the end: by then the page is made anew, with all that only a whole game tells. */
const ENDED_MS = 3000;

class LiveGamePage {
  #game = null;
  #told = { moves: 0, black: -1, white: -1 };

  /** @param {HTMLElement} root The element that tells of the game. */
  constructor(root) {
    this.root = root;
    this.stream = new LiveStream([root.dataset.live], {
      game: (game) => this.#take(game),
      over: () => this.#end(),
    });
    setInterval(() => this.#tick(), CLOCK_MS);
  }

  #take(game) {
    this.#game = game;
    const ply = Math.min(this.#told.moves, game.moves.length);
    this.#dispatch({
      ply,
      cells: game.moves.slice(ply),
      clocks: game.clocks && Object.fromEntries(SIDES.map((side) => [side, this.#clock(side)])),
      evaluations: SIDES.flatMap((side) => this.#newThought(game, side)),
    });
    this.#told.moves = game.moves.length;
  }

  /** What a side has said since; the page counts moves from 1. */
  #newThought(game, side) {
    const thought = game[side];
    if (!thought || thought.ply <= this.#told[side]) return [];
    this.#told[side] = thought.ply;
    return [{ ...thought, ply: thought.ply + 1 }];
  }

  #clock(side) {
    return clockText(this.stream.left(this.#game, side));
  }

  /** Runs the clocks down, while the newest ply is shown. */
  #tick() {
    const slider = this.root.querySelector("[data-slider]");
    if (document.hidden || !this.#game?.clocks || (slider && slider.value !== slider.max)) return;
    for (const side of SIDES) {
      const clock = this.root.querySelector(`[data-clock="${side}"]`);
      const text = this.#clock(side);
      if (clock && clock.textContent !== text) clock.textContent = text;
    }
  }

  /** Loads the page anew, once: with the outcome, its evidence, and what else is told then. */
  #end() {
    const key = `meijin-over-${this.root.dataset.game}`;
    try {
      if (sessionStorage.getItem(key)) return;
      sessionStorage.setItem(key, "1");
    } catch {
      return; // storage is turned off: who reads on loads the page again
    }
    setTimeout(() => this.#dispatch({ ply: 0, ended: true }), ENDED_MS);
  }

  #dispatch(detail) {
    this.root.dispatchEvent(new CustomEvent("meijin:update", { detail }));
  }
}

const root = document.querySelector("[data-live^='game:']");
if (root) new LiveGamePage(root);
