"""The Swiss system: in every round bots with about as many points meet, each two once.

A meeting is a pair of games on one opening with both colours, and all meetings of a round have
their results before the next round is paired, by the Dutch system. With an odd number of bots one
has a bye, which scores like a meeting won.
"""

import asyncio
import math
import random
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Self

from sqlalchemy import Connection

from meijin.server.errors import InvalidRequestError
from meijin.server.storage import Storage
from meijin.server.tournaments.formats.base import (
    MAX_GAMES,
    Capacity,
    Format,
    GamePair,
    Plan,
    Request,
    openings_of,
)
from meijin.server.tournaments.formats.crosstable import Crosstable
from meijin.server.tournaments.formats.dutch import Entry, Round, next_round
from meijin.server.tournaments.formats.pairs import (
    Played,
    Scores,
    count,
    missing_games,
    played_pairs,
    scores_of,
)
from meijin.server.tournaments.formats.report import (
    Meeting,
    Report,
    TieBreak,
    TournamentStanding,
    ranks_of,
)
from meijin.server.tournaments.formats.schedule import deal
from meijin.server.tournaments.formats.seeding import seeded, seeding_of
from meijin.store.schema import BotId
from meijin.store.tournaments import TournamentRow
from meijin.store.tournaments.match_counts import (
    GAMES_OF_A_PAIR,
    PairingResult,
    PlannedResult,
    planned_results,
)

BYE_POINTS = 2.0
"""As for both games of a meeting."""


@dataclass(slots=True)
class Table:
    """All meetings so far, and how the bots stand by them."""

    bots: Sequence[BotId]
    """In the order of their seeds."""
    meetings: list[Played] = field(default_factory=list)
    """In the order of their games' numbers."""

    @classmethod
    def of(cls, bots: Sequence[BotId], games: Iterable[PlannedResult]) -> Self:
        """From what is stored."""
        return cls(bots, played_pairs(games))

    @property
    def rounds(self) -> int:
        """How many rounds are paired."""
        return self.meetings[-1].round if self.meetings else 0

    def byes(self) -> list[tuple[int, BotId]]:
        """The rounds in which a bot has none to meet, each with the bot."""
        paired = {(each.round, bot) for each in self.meetings for bot in (each.first, each.second)}
        rounds = range(1, self.rounds + 1)
        return [(at, bot) for at in rounds for bot in self.bots if (at, bot) not in paired]

    def entries(self) -> list[Entry]:
        """The bots before the next round, in the order of their seeds."""
        entries = {bot: Entry(bot) for bot in self.bots}
        for meeting in self.meetings:
            first, second = entries[meeting.first], entries[meeting.second]
            first.points += meeting.points
            second.points += meeting.points_of(second.bot_id)
            first.opponents.add(second.bot_id)
            second.opponents.add(first.bot_id)
            first.balance += 1
            second.balance -= 1
            first.was_first, second.was_first = True, False
        for _, bot in self.byes():
            entries[bot].points += BYE_POINTS
            entries[bot].byes += 1
        return list(entries.values())

    def report(self, scores: Scores) -> Report:
        """The standings and all meetings."""
        return Report(self._standings(scores), self._meetings())

    def _standings(self, scores: Scores) -> tuple[TournamentStanding, ...]:
        entries = {entry.bot_id: entry for entry in self.entries()}
        points = {bot: entry.points for bot, entry in entries.items()}
        # A bye counts as an opponent with the bot's own points that was beaten.
        buchholz = {bot: entry.byes * entry.points for bot, entry in entries.items()}
        berger = dict(buchholz)
        for meeting in self.meetings:
            for one, other in (
                (meeting.first, meeting.second),
                (meeting.second, meeting.first),
            ):
                buchholz[one] += points[other]
                berger[one] += points[other] * meeting.points_of(one) / GAMES_OF_A_PAIR
        keys = {bot: (-points[bot], -buchholz[bot], -berger[bot]) for bot in self.bots}
        order = sorted(self.bots, key=keys.__getitem__)
        ranks = ranks_of([keys[bot] for bot in order])
        return tuple(
            TournamentStanding(
                rank,
                bot,
                points[bot],
                *scores.get(bot, (0, 0, 0)),
                (TieBreak("Buchholz", buchholz[bot]), TieBreak("Sonneborn-Berger", berger[bot])),
                "bye" if entries[bot].byes == 1 else "",
            )
            for bot, rank in zip(order, ranks, strict=True)
        )

    def _meetings(self) -> tuple[Meeting, ...]:
        games = [(each.round, each.first, each) for each in self.meetings]
        told: list[tuple[int, BotId, Played | None]] = [*games]
        told += [(at, bot, None) for at, bot in self.byes()]
        told.sort(key=lambda each: each[0])
        return tuple(_meeting(number, *each) for number, each in enumerate(told, start=1))


def _meeting(number: int, round_: int, first: BotId, played: Played | None) -> Meeting:
    if played is None:
        return Meeting(
            round_,
            number,
            first,
            second=None,
            first_points=BYE_POINTS,
            winner=first,
            is_bye=True,
            is_over=True,
        )
    second = played.second
    points = played.points, played.points_of(second)
    winner = None
    if played.is_over and points[0] != points[1]:
        winner = first if points[0] > points[1] else second
    return Meeting(round_, number, first, second, *points, winner, is_over=played.is_over)


class SwissFormat(Format):
    """Pairs a round when all games of the rounds before have their results.

    A game of an earlier round that is voided is played again, and what is paired stays.

    Args:
        bots: In the order of their seeds.
        games: What is planned by now.
    """

    def __init__(
        self,
        bots: Sequence[BotId],
        openings: Sequence[bytes],
        *,
        rounds: int,
        seed: int,
        games: Iterable[PlannedResult] = (),
    ) -> None:
        self.table = Table.of(bots, games)
        self._openings = openings
        self._rounds = rounds
        self._seed = seed
        self._missing = missing_games(self.table.meetings)

    @classmethod
    def plan(cls, connection: Connection, request: Request) -> Plan:
        """So many rounds of the bots in the order of their seeds."""
        bots = seeded(connection, request)
        rounds = request.rounds or math.ceil(math.log2(len(bots)))
        most = len(bots) - 1 + len(bots) % 2
        if rounds > most:
            raise InvalidRequestError(f"rounds {rounds} is above {most}: then all have met")
        games = rounds * (len(bots) // 2) * GAMES_OF_A_PAIR
        if games > MAX_GAMES:
            raise InvalidRequestError(f"rounds {rounds} make {games} games; at most {MAX_GAMES}")
        return Plan(bots, rounds, {"seeding": seeding_of(request).value})

    @classmethod
    def load(cls, connection: Connection, row: TournamentRow, storage: Storage) -> Self:
        """With all that is planned, and the results."""
        return cls(
            [bot for bot, _ in row.bots],
            openings_of(row),
            rounds=row.rounds,
            seed=row.seed,
            games=planned_results(connection, row.id),
        )

    @classmethod
    def planned_games(cls, row: TournamentRow) -> int:
        """Those of all rounds."""
        return row.rounds * (len(row.bots) // 2) * GAMES_OF_A_PAIR

    @classmethod
    def report(cls, connection: Connection, row: TournamentRow, crosstable: Crosstable) -> Report:
        """The standings by points, Buchholz and Sonneborn-Berger, and all meetings."""
        games = planned_results(connection, row.id)
        return Table.of([bot for bot, _ in row.bots], games).report(scores_of(games))

    @property
    def is_decided(self) -> bool:
        """Whether the last round has its results."""
        return not self._missing and self.table.rounds == self._rounds

    def game_ended(self, result: PairingResult) -> None:
        """Count it for its meeting."""
        count(self.table.meetings, result)
        self._missing -= 1

    @property
    def candidates(self) -> Collection[BotId]:
        """None: a round is planned as a whole, whoever is here."""
        return ()

    async def next_pairs(self, capacity: Capacity) -> Sequence[GamePair]:
        """The next round as a whole, once it can be paired."""
        if self._missing or self.is_decided:
            return ()
        found = await asyncio.to_thread(self._next_round)
        number = self.table.rounds + 1
        deck = deal(self._openings, random.Random(f"{self._seed} {number}"))  # noqa: S311 - no secret
        pairs = [
            GamePair(
                first.bot_id, second.bot_id, next(deck), _reason(number, first, second), number
            )
            for first, second in found.meetings
        ]
        self.table.meetings += [Played(number, pair.first, pair.second) for pair in pairs]
        self._missing = GAMES_OF_A_PAIR * len(pairs)
        return pairs

    def _next_round(self) -> Round:
        """In a thread: no game is planned that could have a result meanwhile."""
        return next_round(self.table.entries())


def _reason(number: int, first: Entry, second: Entry) -> str:
    return f"round {number}, {first.points:g} points against {second.points:g}"
