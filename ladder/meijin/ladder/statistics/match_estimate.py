"""What the results of a match of a fixed length say of a player's advantage."""

from collections.abc import Sequence

from meijin.ladder.statistics.sprt import Estimate, elo_of_score

CONFIDENCE = 0.95
"""Of a bound on one side."""

GAMES_OF_A_PAIR = 2

PAIRED_SHARE = 0.75
"""Where complete pairs have less of the games, too much would be left out with the others."""


def estimate_of_match(games: Sequence[int], pairs: Sequence[int]) -> Estimate | None:
    """The estimate by pairs of games; by games where few are paired, or all pairs ended alike.

    Results that are all the same have no spread to make an interval of: ``None``.

    Args:
        games: Lost, drawn, won.
        pairs: By half points, from none to four.
    """
    are_paired = GAMES_OF_A_PAIR * sum(pairs) >= PAIRED_SHARE * sum(games)
    for counts in (pairs, games) if are_paired else (games,):
        if sum(map(bool, counts)) > 1:
            return Estimate.of(counts)
    return None


def elo_beyond(games: Sequence[int]) -> float | None:
    """The advantage beyond which that of a player is who has won, or lost, every game.

    A player with this advantage would win so many games in a row in 5 % of matches
    (Clopper and Pearson 1934); ``None`` for other results.
    """
    losses, draws, wins = games
    count = sum(games)
    if not count or draws or (wins and losses):
        return None
    bound = elo_of_score((1 - CONFIDENCE) ** (1 / count))
    return bound if wins else -bound
