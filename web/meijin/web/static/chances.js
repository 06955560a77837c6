/** Chances: what the scores that bots tell say of who wins, as `chances.py` of the game has it. */

const WIN_SCORE = 30_000; // less a point for each ply up to the win
const PROVEN_SCORE = 29_000;

/**
 * The points, 0 to 1, that a bot may expect against an equal when it tells a score.
 *
 * @param {{ scale: number, offset: number }} map Of the bot.
 * @param {number} score From its own side.
 */
export function chance(map, score) {
  const moves = winsIn(score);
  if (moves !== null) return moves > 0 ? 1 : 0;
  return 1 / (1 + Math.exp(-(score / map.scale + map.offset)));
}

/** The moves of the winner up to a proven win, negative for a loss; null where nothing is proven. */
export function winsIn(score) {
  const plies = WIN_SCORE - Math.abs(score);
  if (plies < 0 || plies > WIN_SCORE - PROVEN_SCORE) return null;
  const moves = score > 0 ? Math.ceil(plies / 2) : Math.floor(plies / 2);
  return Math.max(moves, 1) * Math.sign(score);
}

/** A score in a few characters; a proven win by its moves, such as `#3`. */
export function scoreText(score) {
  if (score === null) return "–";
  const moves = winsIn(score);
  if (moves !== null) return `${moves < 0 ? "−" : ""}#${Math.abs(moves)}`;
  return score > 0 ? `+${score}` : `${score}`.replace("-", "−");
}

/** What the scores of a game's two bots are worth to black. */
export class Chances {
  /** @param {number[]} maps The scale and the offset of black's map, and then of white's. */
  constructor([scale, offset, whiteScale, whiteOffset]) {
    this.maps = [{ scale: whiteScale, offset: whiteOffset }, { scale, offset }];
  }

  /** Black's chance by a score, from black's side, that was told of the move of a ply. */
  black(ply, score) {
    const isBlack = ply % 2 === 1;
    const own = chance(this.maps[ply % 2], isBlack ? score : -score);
    return isBlack ? own : 1 - own;
  }

  /**
   * What a score, from black's side, says that was told of the move of a ply.
   * @returns {{black: number, winsIn: number | null}} The winner's moves, if proven.
   */
  at(ply, score) {
    const moves = winsIn(ply % 2 ? score : -score);
    return { black: this.black(ply, score), winsIn: moves && Math.abs(moves) };
  }

  /**
   * The same of the newest score; undefined where there is none.
   * @param {(number | null)[]} scores From black's side, by plies.
   */
  newest(scores) {
    const ply = scores.findLastIndex((score) => score !== null);
    return ply < 0 ? undefined : this.at(ply, scores[ply]);
  }
}

/** Fills in the bar of `pieces.chance` of the templates. */
export function showChance(bar, now) {
  bar.hidden = !now;
  if (!now) return;
  bar.querySelector(".black").setAttribute("width", Math.round(100 * now.black));
  const side = now.black >= 0.5 ? bar.dataset.black : bar.dataset.white;
  const words = now.words ?? (now.winsIn === null ? bar.dataset.words : bar.dataset.wins);
  const best = `${Math.round(100 * Math.max(now.black, 1 - now.black))} %`;
  bar.querySelector("span").textContent = words
    .replace("{side}", side)
    .replace("{chance}", best)
    .replace("{moves}", now.winsIn);
}
