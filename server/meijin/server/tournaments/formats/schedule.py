"""Who meets whom, in which order, with which opening and colours."""

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import TypeVar

from meijin.game import encode_moves
from meijin.store.schema import BotId, TournamentFormat
from meijin.store.tournaments import PlannedGame

MAX_GAMES = 1_000_000
"""The most games that one tournament may have."""

Pair = tuple[BotId, BotId]
Opening = TypeVar("Opening")


def schedule(
    form: TournamentFormat,
    bots: Sequence[BotId],
    *,
    rounds: int,
    openings: Sequence[Sequence[int]],
    seed: int,
) -> tuple[PlannedGame, ...]:
    """Every game of a tournament, in the order they are to be played.

    In each round every pair of the format plays one game. Rounds come in twos: the
    second has the first's openings with the colours reversed. The seed decides who
    has which colour first, the order of the pairs, and which openings are dealt; all
    openings are dealt to a pair before one comes again.
    """
    rng = random.Random(seed)  # noqa: S311 - a schedule is no secret
    meetings = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs(form, bots)]  # noqa: PLR2004 - a fair coin
    decks = {pair: deal(openings, rng) for pair in meetings}
    games: list[PlannedGame] = []
    for first in range(0, rounds, 2):
        rng.shuffle(meetings)
        dealt = {pair: encode_moves(next(decks[pair])) for pair in meetings}
        for number in range(first + 1, min(first + 2, rounds) + 1):
            games += [_game(number, pair, dealt[pair]) for pair in meetings]
    return tuple(games)


def _game(number: int, pair: Pair, opening: bytes) -> PlannedGame:
    black, white = pair if number % 2 else pair[::-1]
    return PlannedGame(number, black, white, opening)


def pairs(form: TournamentFormat, bots: Sequence[BotId]) -> list[Pair]:
    """Who meets whom, each pair once."""
    if form is TournamentFormat.GAUNTLET:
        return [(bots[0], other) for other in bots[1:]]
    return list(itertools.combinations(bots, 2))


def deal(openings: Sequence[Opening], rng: random.Random) -> Iterator[Opening]:
    """Openings without end, all of them before one comes again."""
    while True:
        yield from rng.sample(openings, len(openings))
