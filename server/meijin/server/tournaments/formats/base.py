"""What a format of tournaments is: who meets whom, and when it is decided."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, NamedTuple, Self, TypeAlias

from sqlalchemy import Connection

from meijin.game import TimeControl, encode_moves, openings_for
from meijin.server.storage import Storage
from meijin.server.tournaments.formats.crosstable import Crosstable
from meijin.server.tournaments.formats.report import Report
from meijin.store.schema import BotId, TournamentSettings
from meijin.store.tournaments import NewTournament, PlannedGame, TournamentRow
from meijin.store.tournaments.match_counts import PairingResult
from meijin.wire.formats import Options

BotIds: TypeAlias = frozenset[BotId]

MAX_GAMES = 1_000_000
"""The most games that one tournament may have."""


class BotCapacity(NamedTuple):
    """How many games of a tournament a bot that is here takes."""

    free: int
    """How many more could begin now."""
    altogether: int
    """How many it takes at once when it plays nothing else."""
    playing: int = 0
    """How many it plays now."""
    least_move_time: timedelta = timedelta(0)
    """The least time that a move of it needs."""


AWAY = BotCapacity(0, 0)


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a tournament could play now."""

    seats: Mapping[BotId, BotCapacity]
    """Of the format's candidates that are here and can play it."""
    waiting: int
    """Games that are planned and have not begun."""
    held: Mapping[BotId, int]
    """Seats that those of them will take whose bots are both here."""
    room: int
    """How many more games could run at once, whoever plays them."""


@dataclass(frozen=True, slots=True)
class GamePair:
    """Two games on one opening: `first` has black in the one, `second` in the other."""

    first: BotId
    second: BotId
    opening: bytes
    """Two bytes a cell, little-endian."""
    reason: str
    """Why the two are to meet."""
    round: int = 0
    """Of the tournament; 0 where the format has none, and each game is a round of its own."""
    time_control: TimeControl | None = None
    """``None`` for the tournament's."""

    def games(self, number: int) -> tuple[PlannedGame, PlannedGame]:
        """Both, the first with a number in the tournament."""
        rounds = (self.round or number, self.round or number + 1)
        pair = (number + 1) // 2  # all of the format's games come in pairs
        terms = (self.opening, self.reason, self.time_control, pair)
        return (
            PlannedGame(rounds[0], self.first, self.second, *terms),
            PlannedGame(rounds[1], self.second, self.first, *terms),
        )


class Format(ABC):
    """Plans a tournament's games, and says when it is decided.

    It is made from what the store holds, so that a restarted server goes on with one that
    says the same.
    """

    IS_SCHEDULED: ClassVar[bool] = False
    """All of its games are planned when it is made: it is asked for no others."""
    FIRST_MEETS_ALL: ClassVar[bool] = False
    """The first bot meets each of the others, and nobody else does."""
    IS_CASUAL: ClassVar[bool] = False
    """People may play it, and its games leave places of a bot to those of other formats."""
    MAY_BE_OPEN: ClassVar[bool] = False
    """Without any bots everyone who is there takes part."""
    MAY_END_EARLY: ClassVar[bool] = False
    """It may be decided before all games that there may be are played."""

    # -- of the format itself -------------------------------------------------------------

    @classmethod
    @abstractmethod
    def plan(cls, connection: Connection, asked: NewTournament, here: BotIds) -> NewTournament:
        """What is made of what is asked for: with a whole schedule, where the format has one.

        The bots are in the order in which they are entered, and what was left out of the rounds
        and of the format's own settings is filled in.

        Args:
            here: Bots that are connected and can play it, where no bots were named.

        Raises:
            InvalidRequestError: it asks for what the format can't be.
        """

    @classmethod
    @abstractmethod
    def load(cls, connection: Connection, row: TournamentRow) -> Self:
        """A stored tournament's format, from where it stands."""

    @classmethod
    @abstractmethod
    def planned_games(cls, row: TournamentRow) -> int:
        """How many games a stored tournament has, or may have at most; 0 for no bound."""

    @classmethod
    def objection_to_sides(cls, options: Options | None) -> str:
        """Why its bots can't have clocks of their own, and what to do; empty where they can.

        Args:
            options: The format's own settings, as they were asked for.
        """
        return ""

    @classmethod
    def stored_detail(cls, connection: Connection, row: TournamentRow) -> object | None:
        """What the format tells of a stored tournament; see `detail`."""
        return None

    @classmethod
    def report(cls, connection: Connection, row: TournamentRow, crosstable: Crosstable) -> Report:
        """A stored tournament's standings and meetings; empty where it has none.

        Args:
            crosstable: What each two of its bots scored against each other.
        """
        return Report()

    # -- of a tournament that is being played -----------------------------------------------

    verdict: str = ""
    """Why it is decided, in one sentence of at most 200 characters.

    Empty while it is not, and where its games are simply played.
    """
    candidates: Collection[BotId] | None = None
    """The bots whose capacity it plans by; ``None`` for everyone who is here."""
    reserved: Collection[BotId] = ()
    """Bots that open tournaments of the same ladder leave to this one."""
    is_open: bool = False
    """Whether everyone who is there takes part."""
    detail: object | None = None
    """What only this format tells of where it stands: a dataclass.

    It has the fields of the message in the contract's `Tournament` with the format's name,
    or that name and `standing`.
    """

    @property
    def is_decided(self) -> bool:
        """Whether no more games are needed."""
        return bool(self.verdict)

    @abstractmethod
    def game_ended(self, result: PairingResult) -> None:
        """A game has a result.

        Whether it is decided is asked next, in the same turn of the loop, so that the end of a
        tournament is committed with the game that decides it.
        """

    async def next_pairs(self, capacity: Capacity, storage: Storage) -> Sequence[GamePair]:
        """What is to be played next; all of it is stored before this is called again.

        It is called whenever a bot has come, or a game has begun or ended.

        Raises:
            StoreAwayError: what it needs to know can't be read now.
        """
        return ()


def openings_of(settings: TournamentSettings | TournamentRow) -> Sequence[bytes]:
    """Those that a tournament was given, or the server's own."""
    return settings.openings or [encode_moves(each) for each in openings_for(settings.variant)]
