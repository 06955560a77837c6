"""A challenge: two players in some games, one after another."""

from collections.abc import Sequence
from typing import Self

from sqlalchemy import Connection

from meijin.server.errors import InvalidRequestError
from meijin.server.storage import Storage
from meijin.server.tournaments.formats.base import Format, Plan, Request
from meijin.server.tournaments.formats.crosstable import Crosstable
from meijin.server.tournaments.formats.report import Report
from meijin.server.tournaments.formats.schedule import standings_of
from meijin.store.schema import BotId, ChallengeColors, FormatName
from meijin.store.tournaments import PlannedGame, TournamentRow
from meijin.store.tournaments.match_counts import GAMES_OF_A_PAIR, PairingResult

CHALLENGE = FormatName("challenge")


class ChallengeFormat(Format):
    """Plays what was planned with the challenge.

    Args:
        remaining: How many games have no result.
    """

    IS_SCHEDULED = True
    IS_CASUAL = True

    def __init__(self, remaining: int) -> None:
        self._remaining = remaining

    @classmethod
    def plan(cls, connection: Connection, request: Request) -> Plan:
        """Nothing: no tournament is asked to be a challenge.

        Raises:
            InvalidRequestError: always.
        """
        raise InvalidRequestError("format: `meijin challenge` makes challenges, no tournament")

    @classmethod
    def load(cls, connection: Connection, row: TournamentRow, storage: Storage) -> Self:
        """With what is left to play."""
        return cls(row.planned - row.finished)

    @classmethod
    def planned_games(cls, row: TournamentRow) -> int:
        """All of them."""
        return row.planned

    @classmethod
    def report(cls, connection: Connection, row: TournamentRow, crosstable: Crosstable) -> Report:
        """The two by points."""
        return Report(standings_of([key for key, _ in row.bots], crosstable))

    @property
    def is_decided(self) -> bool:
        """Whether every game has its result."""
        return self._remaining == 0

    def game_ended(self, result: PairingResult) -> None:
        """One game less."""
        self._remaining -= 1


def schedule(
    challenger: BotId,
    opponent: BotId,
    games: int,
    colors: ChallengeColors,
    openings: Sequence[bytes],
) -> tuple[PlannedGame, ...]:
    """The games of a challenge, in order; each opening is dealt to one, or to two of both colours."""
    alternates = colors is ChallengeColors.ALTERNATE
    planned = []
    for number in range(games):
        deal = number // GAMES_OF_A_PAIR if alternates else number
        is_black = number % 2 == 0 if alternates else colors is ChallengeColors.BLACK
        players = (challenger, opponent) if is_black else (opponent, challenger)
        planned.append(PlannedGame(number + 1, *players, openings[deal % len(openings)]))
    return tuple(planned)
