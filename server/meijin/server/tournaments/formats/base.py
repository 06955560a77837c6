"""What a format of tournaments is: who meets whom, and when it is decided."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, NamedTuple, Protocol, Self

from sqlalchemy import Connection

from meijin.game import TimeControl, encode_moves, openings_for
from meijin.server.storage import Storage
from meijin.server.tournaments.formats.crosstable import Crosstable
from meijin.server.tournaments.formats.report import Report
from meijin.store.schema import BotId
from meijin.store.tournaments import PlannedGame, TournamentRow
from meijin.store.tournaments.match_counts import PairingResult
from meijin.wire import Options

MAX_GAMES = 1_000_000
"""The most games that one tournament may have."""


class BotCapacity(NamedTuple):
    """How many games of a tournament a bot that is here takes."""

    free: int
    """So many more could begin now."""
    altogether: int
    """So many at once, when it plays nothing else."""
    playing: int = 0
    """So many it plays now."""
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
    """So many games more could run at once, whoever plays them."""


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
        terms = (self.opening, self.reason, self.time_control)
        return (
            PlannedGame(rounds[0], self.first, self.second, *terms),
            PlannedGame(rounds[1], self.second, self.first, *terms),
        )


@dataclass(frozen=True, slots=True)
class Request:
    """What a tournament is asked to be, as far as its format is concerned."""

    bots: tuple[BotId, ...]
    rounds: int
    """0 when it was left out."""
    seed: int
    openings: Sequence[Sequence[int]]
    ladder: str
    """Of the variant and the time control; it may have no game yet."""
    is_rated: bool
    options: Options | None
    """The format's own settings; ``None`` when they were left out."""
    here: frozenset[BotId] = frozenset()
    """Bots that are connected and can play it, where no bots were named."""


class PlannedGames(Protocol):
    """A schedule, whose games may be made as they are read."""

    def __len__(self) -> int:
        """How many there are."""

    def __iter__(self) -> Iterator[PlannedGame]:
        """Each of them, in the order in which they are to be played."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is stored of a tournament when it is made."""

    bots: tuple[BotId, ...]
    """In the order in which they are entered."""
    rounds: int = 0
    """0 where the format has none."""
    options: Options | None = None
    """The format's own settings, what was left out filled in; ``None`` when it has none."""
    games: PlannedGames = ()
    """The whole schedule; empty where games are planned as they are needed."""


class Format(ABC):
    """Plans a tournament's games, and says when it is decided.

    It is made from what the store holds, so that a restarted server goes on with one that
    says the same.
    """

    IS_SCHEDULED: ClassVar[bool] = False
    """All of its games are planned when it is made: it is asked for no others."""
    IS_CASUAL: ClassVar[bool] = False
    """People may play it, and its games leave places of a bot to those of other formats."""
    MAY_BE_OPEN: ClassVar[bool] = False
    """Without any bots everyone who is there takes part."""
    MAY_END_EARLY: ClassVar[bool] = False
    """It may be decided before all games that there may be are played."""

    # -- of the format itself -------------------------------------------------------------

    @classmethod
    @abstractmethod
    def plan(cls, connection: Connection, request: Request) -> Plan:
        """What a request asks for.

        Raises:
            InvalidRequestError: it asks for what the format can't be.
        """

    @classmethod
    @abstractmethod
    def load(cls, connection: Connection, row: TournamentRow, storage: Storage) -> Self:
        """A stored tournament's format, from where it stands.

        Args:
            storage: For what is read while it is played.
        """

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

    @property
    @abstractmethod
    def is_decided(self) -> bool:
        """Whether no more games are needed."""

    @property
    def is_open(self) -> bool:
        """Whether everyone who is there takes part."""
        return False

    @property
    def candidates(self) -> Collection[BotId] | None:
        """The bots whose capacity it plans by; ``None`` for everyone who is here."""
        return None

    @property
    def reserved(self) -> Collection[BotId]:
        """Bots that open tournaments of the same ladder leave to this one."""
        return ()

    @property
    def verdict(self) -> str:
        """Why it is decided, in one sentence of at most 200 characters.

        Empty while it is not, and where its games are simply played.
        """
        return ""

    @property
    def detail(self) -> object | None:
        """What only this format tells of where it stands: a dataclass.

        It has the fields of the message in the contract's `Tournament` with the format's name,
        or that name and `standing`.
        """
        return None

    @abstractmethod
    def game_ended(self, result: PairingResult) -> None:
        """A game has a result.

        Whether it is decided is asked next, in the same turn of the loop, so that the end of a
        tournament is committed with the game that decides it.
        """

    async def next_pairs(self, capacity: Capacity) -> Sequence[GamePair]:
        """What is to be played next; all of it is stored before this is called again.

        It is called whenever a bot has come, or a game has begun or ended.

        Raises:
            StoreAwayError: what it needs to know can't be read now.
        """
        return ()


def openings_of(row: TournamentRow) -> Sequence[bytes]:
    """Those that a tournament was given, or the server's own."""
    return row.openings or [encode_moves(opening) for opening in openings_for(row.variant)]
