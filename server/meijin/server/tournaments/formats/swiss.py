"""The Swiss system: in every round bots with about as many points meet, each two once.

A meeting is a pair of games on one opening with both colours, and all meetings of a round have
their results before the next round is paired, by the Dutch system. With an odd number of bots one
has a bye, which scores like a meeting won.
"""

import asyncio
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from sqlalchemy import Connection

from meijin.server.errors import InvalidRequestError
from meijin.server.storage import Storage
from meijin.server.tournaments.formats.base import BotIds, Capacity, GamePair
from meijin.server.tournaments.formats.dutch import Entry, next_round
from meijin.server.tournaments.formats.pairs import PairedFormat, Played, Scores, seeded, seeding_of
from meijin.server.tournaments.formats.report import (
    Meeting,
    Report,
    TieBreak,
    TournamentStanding,
    ranks_of,
)
from meijin.store.schema import BotId
from meijin.store.tournaments import NewTournament, TournamentRow
from meijin.store.tournaments.match_counts import GAMES_OF_A_PAIR, PairingResult, PlannedResult

BYE_POINTS = 2.0
"""As for both games of a meeting."""


class SwissFormat(PairedFormat):
    """Pairs a round when all games of the rounds before have their results."""

    candidates = ()
    """None: a round is planned as a whole, whoever is here."""

    def __init__(self, row: TournamentRow, games: Iterable[PlannedResult] = ()) -> None:
        super().__init__(row, games)
        self._missing = sum(GAMES_OF_A_PAIR - pair.games for pair in self.pairs)

    @classmethod
    def plan(cls, connection: Connection, asked: NewTournament, here: BotIds) -> NewTournament:
        bots = seeded(connection, asked)
        rounds = asked.rounds or math.ceil(math.log2(len(bots)))
        most = len(bots) - 1 + len(bots) % 2
        if rounds > most:
            raise InvalidRequestError(f"rounds {rounds} is above {most}: then all have met")
        options = {"seeding": seeding_of(asked).value}
        return replace(asked, bots=bots, rounds=rounds, options=options)

    @classmethod
    def planned_games(cls, row: TournamentRow) -> int:
        return row.rounds * (len(row.bots) // 2) * GAMES_OF_A_PAIR

    def report_by(self, scores: Scores) -> Report:
        """By points, Buchholz and Sonneborn-Berger."""
        return Report(self._standings(scores), self._meetings())

    @property
    def is_decided(self) -> bool:
        return not self._missing and self.planned_rounds == self.row.rounds

    def game_ended(self, result: PairingResult) -> None:
        self.count(result)
        self._missing -= 1

    async def next_pairs(self, capacity: Capacity, storage: Storage) -> Sequence[GamePair]:
        """The next round as a whole, once it can be paired."""
        if self._missing or self.is_decided:
            return ()
        # In a thread: no game is planned that could have a result meanwhile.
        meetings = await asyncio.to_thread(lambda: next_round(self.entries()))
        number = self.planned_rounds + 1
        deck = self.deck(number)
        pairs = [
            GamePair(
                one.bot_id,
                other.bot_id,
                next(deck),
                f"round {number}, {one.points:g} points against {other.points:g}",
                number,
            )
            for one, other in meetings
        ]
        self.pairs += [Played(number, pair.first, pair.second) for pair in pairs]
        self._missing = GAMES_OF_A_PAIR * len(pairs)
        return pairs

    @property
    def planned_rounds(self) -> int:
        return self.pairs[-1].round if self.pairs else 0

    def byes(self) -> list[tuple[int, BotId]]:
        """The rounds in which a bot has none to meet, each with the bot."""
        paired = {(each.round, bot) for each in self.pairs for bot in (each.first, each.second)}
        rounds = range(1, self.planned_rounds + 1)
        return [(at, bot) for at in rounds for bot in self.bots if (at, bot) not in paired]

    def entries(self) -> list[Entry]:
        """The bots before the next round, in the order of their seeds."""
        entries = {bot: Entry(bot) for bot in self.bots}
        for meeting in self.pairs:
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

    def _standings(self, scores: Scores) -> tuple[TournamentStanding, ...]:
        entries = {entry.bot_id: entry for entry in self.entries()}
        points = {bot: entry.points for bot, entry in entries.items()}
        # A bye counts as an opponent with the bot's own points that was beaten.
        buchholz = {bot: entry.byes * entry.points for bot, entry in entries.items()}
        berger = dict(buchholz)
        for meeting in self.pairs:
            for one, other in ((meeting.first, meeting.second), (meeting.second, meeting.first)):
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
        meetings = [_meeting(each) for each in self.pairs]
        meetings += [
            Meeting(at, 0, bot, None, BYE_POINTS, winner=bot, is_bye=True, is_over=True)
            for at, bot in self.byes()
        ]
        meetings.sort(key=lambda each: each.round)
        return tuple(replace(each, number=number) for number, each in enumerate(meetings, start=1))


def _meeting(played: Played) -> Meeting:
    first, second = played.first, played.second
    points = played.points, played.points_of(second)
    winner = None
    if played.is_over and points[0] != points[1]:
        winner = first if points[0] > points[1] else second
    return Meeting(played.round, 0, first, second, *points, winner, is_over=played.is_over)
