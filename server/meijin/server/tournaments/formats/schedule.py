"""Formats whose whole schedule is made with the tournament."""

import random
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Self, TypeVar

from sqlalchemy import Connection

from meijin.game import encode_moves
from meijin.server.errors import InvalidRequestError
from meijin.server.storage import Storage
from meijin.server.tournaments.formats.base import MAX_GAMES, Format, Plan, Request
from meijin.server.tournaments.formats.report import (
    Report,
    TieBreak,
    TournamentStanding,
    ranks_of,
)
from meijin.store.match_counts import PairingResult
from meijin.store.schema import BotId
from meijin.store.tournaments import PairScore, PlannedGame, TournamentRow

DEFAULT_ROUNDS = 2

Pair = tuple[BotId, BotId]
Opening = TypeVar("Opening")


class ScheduledFormat(Format):
    """Plays what was planned when the tournament was made.

    Args:
        remaining: How many games of the schedule have no result.
    """

    IS_SCHEDULED = True

    def __init__(self, remaining: int) -> None:
        self.remaining = remaining

    @classmethod
    @abstractmethod
    def pairs(cls, bots: Sequence[BotId]) -> list[Pair]:
        """Who meets whom, each pair once."""

    @classmethod
    def plan(cls, connection: Connection, request: Request) -> Plan:
        """Every game that there is to be."""
        rounds = request.rounds or DEFAULT_ROUNDS
        pairs = cls.pairs(request.bots)
        games = rounds * len(pairs)
        if games > MAX_GAMES:
            raise InvalidRequestError(f"rounds {rounds} make {games} games; at most {MAX_GAMES}")
        planned = schedule(pairs, rounds=rounds, openings=request.openings, seed=request.seed)
        return Plan(request.bots, rounds, games=planned)

    @classmethod
    def load(cls, connection: Connection, row: TournamentRow, storage: Storage) -> Self:
        """With what is left to play."""
        return cls(row.planned - row.finished)

    @classmethod
    def planned_games(cls, row: TournamentRow) -> int:
        """The whole schedule."""
        return row.planned

    @classmethod
    def report(
        cls, connection: Connection, row: TournamentRow, scores: Sequence[PairScore]
    ) -> Report:
        """The bots by points, and where these are equal by Sonneborn-Berger."""
        return Report(standings_of([key for key, _ in row.bots], scores))

    @property
    def is_decided(self) -> bool:
        """Whether every game has its result."""
        return self.remaining == 0

    def game_ended(self, result: PairingResult) -> None:
        """One game less."""
        self.remaining -= 1


def standings_of(
    bots: Sequence[BotId], scores: Sequence[PairScore]
) -> tuple[TournamentStanding, ...]:
    """Bots by points, and where these are equal by Sonneborn-Berger.

    That is each opponent's points for every game won against it, and half of them for every
    game drawn.
    """
    points: defaultdict[BotId, float] = defaultdict(float)
    totals = dict.fromkeys(bots, (0, 0, 0))
    for score in scores:
        points[score.bot_id] += score.wins + score.draws / 2
        wins, draws, losses = totals[score.bot_id]
        totals[score.bot_id] = wins + score.wins, draws + score.draws, losses + score.losses
    beaten: defaultdict[BotId, float] = defaultdict(float)
    for score in scores:
        beaten[score.bot_id] += (score.wins + score.draws / 2) * points[score.opponent_id]
    order = sorted(bots, key=lambda bot: (-points[bot], -beaten[bot]))
    keys = [(points[bot], beaten[bot]) for bot in order]
    return tuple(
        TournamentStanding(
            rank,
            bot,
            points[bot],
            *totals[bot],
            (TieBreak("Sonneborn-Berger", beaten[bot]),),
        )
        for bot, rank in zip(order, ranks_of(keys), strict=True)
    )


def schedule(
    pairs: Sequence[Pair], *, rounds: int, openings: Sequence[Sequence[int]], seed: int
) -> tuple[PlannedGame, ...]:
    """Every game of a tournament, in the order they are to be played.

    In each round every pair plays one game. Rounds come in twos: the second has the first's
    openings with the colours reversed. The seed decides who has which colour first, the order
    of the pairs, and which openings are dealt; all openings are dealt to a pair before one
    comes again.
    """
    rng = random.Random(seed)  # noqa: S311 - a schedule is no secret
    meetings = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs]  # noqa: PLR2004 - a fair coin
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


def deal(openings: Sequence[Opening], rng: random.Random) -> Iterator[Opening]:
    """Openings without end, all of them before one comes again."""
    while True:
        yield from rng.sample(openings, len(openings))
