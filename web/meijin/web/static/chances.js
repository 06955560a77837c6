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
