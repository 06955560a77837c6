"""The tables, as typed models."""

import enum
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any, ClassVar, NewType, TypeVar

from sqlalchemy import (
    JSON,
    BigInteger,
    DateTime,
    Dialect,
    Enum,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    TypeDecorator,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, MappedAsDataclass, mapped_column

from meijin.game import Ending, Party, Result, TimeControl, Variant

T = TypeVar("T")

OwnerId = NewType("OwnerId", int)
BotId = NewType("BotId", int)
TokenId = NewType("TokenId", int)
BotVersionId = NewType("BotVersionId", int)
LadderId = NewType("LadderId", int)
TournamentId = NewType("TournamentId", int)
PairingId = NewType("PairingId", int)
GameId = NewType("GameId", int)
FaultId = NewType("FaultId", int)
RatingRunId = NewType("RatingRunId", int)
EntryId = NewType("EntryId", int)
InvitationId = NewType("InvitationId", int)
ActId = NewType("ActId", int)
Epoch = NewType("Epoch", int)
FormatName = NewType("FormatName", str)
"""Names a format of tournaments, such as ``round-robin``."""


class GameState(enum.Enum):
    """Where a game stands."""

    RUNNING = "running"
    FINISHED = "finished"
    VOID = "void"


class TournamentState(enum.Enum):
    """Where a tournament stands."""

    PLANNING = "planning"
    """Its games are being stored: nobody sees it, and a start that finds it drops it."""
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"


class FaultKind(enum.Enum):
    """What went wrong."""

    TIME = "time"
    """A move took longer than the clock allowed."""
    ILLEGAL = "illegal"
    """A move that the rules don't allow."""
    CRASH = "crash"
    """A bot said that it failed."""
    DISCONNECT = "disconnect"
    """A bot stayed away for longer than the grace period."""
    SUPPLIER = "supplier"
    """What a bot depends on failed, as the bot said."""
    ABSENCE = "absence"
    """A bot was away for a while in games that went on."""
    MASS_DISCONNECT = "mass_disconnect"
    """Half of the bots lost their streams at once."""
    OUTAGE = "outage"
    """The server or its database was away."""
    STALL = "stall"
    """The server stood still."""
    VOIDED = "voided"
    """An operator stopped or voided a game."""
    PAUSE = "pause"
    """A bot that forfeited game after game gets no new ones for a while."""


class FaultParty(enum.Enum):
    """Whose fault it is."""

    BOT = "bot"
    SUPPLIER = "supplier"
    """Whom a bot depends on, such as the host of its model."""
    CONNECTION = "connection"
    """A bot's own way to the server."""
    NETWORK = "network"
    """The network between the server and several bots."""
    SERVER = "server"
    OPERATOR = "operator"


class TokenKind(enum.Enum):
    """The scope of a token: what it allows."""

    BOT = "bot"
    """To play as one bot."""
    OWNER = "owner"
    """To manage the bots of one owner."""
    OPERATOR = "operator"
    """To manage everything."""
    READ = "read"
    """To look."""


class BotState(enum.Enum):
    """Whether a bot may play."""

    ACTIVE = "active"
    DISABLED = "disabled"
    """Its owner or an operator keeps it away for a while."""
    BANNED = "banned"
    """An operator keeps it away."""


class Instant(TypeDecorator[datetime]):
    """An aware instant, kept in UTC; SQLite has no type of its own for it."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002 - the base's signature
    ) -> datetime | None:
        """Drop the zone of an instant in UTC."""
        return value and value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(
        self,
        value: datetime | None,
        dialect: Dialect,  # noqa: ARG002 - the base's signature
    ) -> datetime | None:
        """Put the zone back."""
        return value and value.replace(tzinfo=UTC)


class Written(TypeDecorator[T]):
    """A value as it is written, such as ``60+0.5`` or ``standard 15x15``.

    Args:
        parse: The inverse of `str`.
    """

    impl = String(60)
    cache_ok = True

    def __init__(self, parse: Callable[[str], T]) -> None:
        super().__init__()
        self.parse = parse

    def process_bind_param(
        self,
        value: T | None,
        dialect: Dialect,  # noqa: ARG002 - the base's signature
    ) -> str | None:
        """Write it."""
        return None if value is None else str(value)

    def process_result_value(
        self,
        value: str | None,
        dialect: Dialect,  # noqa: ARG002 - the base's signature
    ) -> T | None:
        """Read it."""
        return None if value is None else self.parse(value)


def _words(kind: type[enum.Enum]) -> Enum:
    """A column of an enum's values as text, readable in any SQL shell."""
    return Enum(
        kind,
        native_enum=False,
        create_constraint=False,
        length=20,
        values_callable=lambda members: [member.value for member in members],
    )


REASON = 200
"""Characters of why a bot may not play."""

LABEL = 60
"""Characters of what a token is called, and of who made it."""

FAULT_DETAIL = 600
"""Characters of a fault's sentence."""

_NOT_VOID = text("state <> 'void'")
_NOT_FINISHED = text("state <> 'finished'")
GAME_IS_NOT_FINISHED = text("game.state <> 'finished'")
TOURNAMENT_IS_NOT_FINISHED = text("tournament.state <> 'finished'")
"""Has SQLite use the indexes of what is not finished: it does not see that from another state."""
_Id = BigInteger().with_variant(Integer(), "sqlite")


class Base(MappedAsDataclass, DeclarativeBase):
    """The models' common base."""

    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: Instant(),
        TimeControl: Written(TimeControl.parse),
        Variant: Written(Variant.parse),
        Ending: _words(Ending),
        Party: _words(Party),
        Result: _words(Result),
        GameState: _words(GameState),
        FaultKind: _words(FaultKind),
        FaultParty: _words(FaultParty),
        TournamentState: _words(TournamentState),
        FormatName: String(20),
        TokenKind: _words(TokenKind),
        BotState: _words(BotState),
        **dict.fromkeys(
            (
                OwnerId,
                BotId,
                TokenId,
                BotVersionId,
                LadderId,
                TournamentId,
                PairingId,
                GameId,
                FaultId,
                RatingRunId,
                EntryId,
                InvitationId,
                ActId,
                Epoch,
            ),
            _Id,
        ),
        bytes: LargeBinary(),
        list[str]: JSON(),
        dict[str, Any]: JSON(none_as_null=True),
    }


class Owner(Base):
    """Who bots belong to."""

    __tablename__ = "owner"

    id: Mapped[OwnerId] = mapped_column(primary_key=True, init=False)
    name: Mapped[str] = mapped_column(String(40), unique=True)
    create_time: Mapped[datetime]
    quota: Mapped[int | None] = mapped_column(default=None)
    """The most bots that it may register; ``None`` for the server's default."""


class Bot(Base):
    """A name that plays."""

    __tablename__ = "bot"

    id: Mapped[BotId] = mapped_column(primary_key=True, init=False)
    name: Mapped[str] = mapped_column(String(40), unique=True)
    create_time: Mapped[datetime]
    owner_id: Mapped[OwnerId | None] = mapped_column(ForeignKey("owner.id"), default=None)
    is_open: Mapped[bool] = mapped_column(default=False)
    """It came by open registration and plays without a token."""
    state: Mapped[BotState] = mapped_column(default=BotState.ACTIVE)
    reason: Mapped[str] = mapped_column(String(REASON), default="")
    """Why it may not play, one sentence for its owner; empty while it may."""
    is_hidden: Mapped[bool] = mapped_column(default=False)
    """It is left out of lists of bots and of ladders' tables."""
    former_names: Mapped[list[str]] = mapped_column(default_factory=list, insert_default=list)
    """Of before it was renamed; its process may still introduce itself so."""


class Token(Base):
    """A secret's hash and what the secret allows."""

    __tablename__ = "token"

    id: Mapped[TokenId] = mapped_column(primary_key=True, init=False)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    """SHA-256 of the token, hexadecimal: 256 random bits need no slow hash."""
    suffix: Mapped[str] = mapped_column(String(6))
    """The token's last characters, to tell it by."""
    kind: Mapped[TokenKind]
    create_time: Mapped[datetime]
    bot_id: Mapped[BotId | None] = mapped_column(ForeignKey("bot.id"), index=True, default=None)
    """The one bot that it lets play; ``None`` for other kinds."""
    owner_id: Mapped[OwnerId | None] = mapped_column(
        ForeignKey("owner.id"), index=True, default=None
    )
    """The one owner whose bots it lets manage; ``None`` for other kinds."""
    label: Mapped[str] = mapped_column(String(LABEL), default="")
    """What it is for, for people."""
    creator: Mapped[str] = mapped_column(String(LABEL), default="")
    """Who made it."""
    expire_time: Mapped[datetime | None] = mapped_column(default=None)
    """From when on it is refused; ``None`` for never."""
    use_time: Mapped[datetime | None] = mapped_column(default=None)
    """When it was last shown, a minute late at most; ``None`` for never."""
    revoke_time: Mapped[datetime | None] = mapped_column(default=None)


class Invitation(Base):
    """A secret's hash, by which some may become owners."""

    __tablename__ = "invitation"

    id: Mapped[InvitationId] = mapped_column(primary_key=True, init=False)
    digest: Mapped[str] = mapped_column(String(64), unique=True)
    suffix: Mapped[str] = mapped_column(String(6))
    uses_left: Mapped[int]
    """How many may still become owners by it."""
    create_time: Mapped[datetime]
    creator: Mapped[str] = mapped_column(String(LABEL))
    expire_time: Mapped[datetime]
    quota: Mapped[int | None] = mapped_column(default=None)
    """Of the owners that come by it."""
    revoke_time: Mapped[datetime | None] = mapped_column(default=None)


class AuditRow(Base):
    """What an owner or an operator has changed; rows are only ever added."""

    __tablename__ = "audit"

    id: Mapped[ActId] = mapped_column(primary_key=True, init=False)
    time: Mapped[datetime]
    token_id: Mapped[TokenId | None]
    """Of who did it; ``None`` without a token."""
    kind: Mapped[str] = mapped_column(String(20))
    """``owner``, ``operator``, ``bot``, or ``anyone`` without a token."""
    actor: Mapped[str] = mapped_column(String(LABEL))
    """The owner's or bot's name, or the label of the token."""
    method: Mapped[str] = mapped_column(String(100))
    """The one that was called."""
    action: Mapped[str] = mapped_column(String(40))
    """What was done, such as ``ban bot``."""
    subject: Mapped[str] = mapped_column(String(140), index=True)
    """To what, such as ``bot ada``."""
    before: Mapped[dict[str, Any] | None]
    """What it was before; ``None`` when it is new."""
    after: Mapped[dict[str, Any] | None]
    """What it is now; ``None`` when it is no more."""
    peer: Mapped[str] = mapped_column(String(200))
    """The address that it came from."""
    request_id: Mapped[str] = mapped_column(String(64))
    """Of the call, as the log has it."""


class BotVersion(Base):
    """A bot as it was at one time, never changed: the entity that is rated."""

    __tablename__ = "bot_version"
    __table_args__ = (
        UniqueConstraint("bot_id", "digest"),
        Index("bot_version_order", "bot_id", "id"),
    )

    id: Mapped[BotVersionId] = mapped_column(primary_key=True, init=False)
    bot_id: Mapped[BotId] = mapped_column(ForeignKey("bot.id"))
    digest: Mapped[str] = mapped_column(String(64))
    label: Mapped[str] = mapped_column(String(40))
    configuration: Mapped[list[str]]
    create_time: Mapped[datetime]
    parent_id: Mapped[BotVersionId | None] = mapped_column(
        ForeignKey("bot_version.id"), default=None
    )
    """The version before; ``None`` for the first."""


class Ladder(Base):
    """Every rated game of one variant, and the run that is published."""

    __tablename__ = "ladder"

    id: Mapped[LadderId] = mapped_column(primary_key=True, init=False)
    name: Mapped[str] = mapped_column(String(60), unique=True)
    revision: Mapped[int] = mapped_column(_Id, default=0)
    """Counts every change of the set of rated games."""
    run_id: Mapped[RatingRunId | None] = mapped_column(default=None)
    """The published run. No foreign key: a run refers to its ladder already."""
    run_revision: Mapped[int] = mapped_column(_Id, default=0)
    """The revision the published run was computed at; less than `revision` means dirty."""
    voided: Mapped[int] = mapped_column(_Id, default=0)
    """Counts the finished games that were voided: each changes the past."""
    history: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    """What `RatingDay` was rebuilt from: algorithm, day, anchors, and `voided` at that time."""


class Anchor(Base):
    """A version that a ladder's ratings are relative to."""

    __tablename__ = "anchor"

    ladder_id: Mapped[LadderId] = mapped_column(ForeignKey("ladder.id"), primary_key=True)
    version_id: Mapped[BotVersionId] = mapped_column(ForeignKey("bot_version.id"), primary_key=True)


class Tournament(Base):
    """Pairings between bots, planned by a format."""

    __tablename__ = "tournament"
    __table_args__ = (
        Index(
            "tournament_not_finished",
            "state",
            "id",
            sqlite_where=_NOT_FINISHED,
            postgresql_where=_NOT_FINISHED,
        ),
    )

    id: Mapped[TournamentId] = mapped_column(primary_key=True, init=False)
    name: Mapped[str] = mapped_column(String(100))
    format: Mapped[FormatName]
    rounds: Mapped[int]
    """0 where the format has none."""
    seed: Mapped[int] = mapped_column(_Id)
    variant: Mapped[Variant]
    time_control: Mapped[TimeControl]
    max_games: Mapped[int]
    """The most games at once; 0 leaves it to the bots."""
    ladder_id: Mapped[LadderId | None] = mapped_column(ForeignKey("ladder.id"))
    """``None`` when its games are not rated."""
    create_time: Mapped[datetime]
    request_id: Mapped[str | None] = mapped_column(String(100), unique=True, default=None)
    state: Mapped[TournamentState] = mapped_column(default=TournamentState.RUNNING)
    end_time: Mapped[datetime | None] = mapped_column(default=None)
    openings: Mapped[bytes] = mapped_column(default=b"")
    """Those it was given: of each its length in plies in two bytes, and two bytes a cell, all
    little-endian. Empty when they are the server's own."""
    options: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    """The settings of the format's own; ``None`` for one that has none."""
    verdict: Mapped[str] = mapped_column(String(200), default="")
    """Why it ended; empty when its games were simply played."""
    planned: Mapped[int] = mapped_column(default=0, server_default="0")
    """Its pairings. These three change with what they count, so that no list counts games."""
    running: Mapped[int] = mapped_column(default=0, server_default="0")
    """Its running games."""
    finished: Mapped[int] = mapped_column(default=0, server_default="0")
    """Its games with a result."""


class Entrant(Base):
    """A bot in a tournament."""

    __tablename__ = "entrant"

    tournament_id: Mapped[TournamentId] = mapped_column(
        ForeignKey("tournament.id"), primary_key=True
    )
    seat: Mapped[int] = mapped_column(primary_key=True)
    """From 0 on, in the order of entry; below 0 for those who came to one where all may play."""
    bot_id: Mapped[BotId] = mapped_column(ForeignKey("bot.id"))


class Pairing(Base):
    """One planned game: played exactly once, which the index `game_once` sees to."""

    __tablename__ = "pairing"
    __table_args__ = (UniqueConstraint("tournament_id", "number"),)

    id: Mapped[PairingId] = mapped_column(primary_key=True, init=False)
    tournament_id: Mapped[TournamentId] = mapped_column(ForeignKey("tournament.id"))
    number: Mapped[int]
    """The place in the schedule, from 1 on."""
    round: Mapped[int]
    black_id: Mapped[BotId] = mapped_column(ForeignKey("bot.id"))
    white_id: Mapped[BotId] = mapped_column(ForeignKey("bot.id"))
    opening: Mapped[bytes]
    """Two bytes a cell, little-endian."""
    reason: Mapped[str] = mapped_column(String(200), default="")
    """Why the two were to meet; empty when a schedule said so."""
    time_control: Mapped[TimeControl | None] = mapped_column(default=None)
    """``None`` where it is the tournament's."""


_RESULT_COLUMNS = (
    "ladder_id",
    "state",
    "is_repeat",
    "black_id",
    "white_id",
    "result",
    "at_fault",
)
"""A ladder's games are counted in this index alone."""


class Game(Base):
    """One game of a pairing."""

    __tablename__ = "game"
    __table_args__ = (
        Index(
            "game_once",
            "pairing_id",
            unique=True,
            sqlite_where=_NOT_VOID,
            postgresql_where=_NOT_VOID,
        ),
        Index("game_result", *_RESULT_COLUMNS),
        Index("game_order", "ladder_id", "end_sequence"),
        Index("game_fingerprint", "ladder_id", "fingerprint", "end_sequence"),
        # Not the one above: SQLite looks in no partial index when a pairing is deleted.
        Index("game_of_pairing", "pairing_id"),
        Index("game_of_tournament", "tournament_id", "id"),
        Index("game_of_black", "black_id", "id"),
        Index("game_of_white", "white_id", "id"),
        Index(
            "game_not_finished",
            "state",
            "id",
            sqlite_where=_NOT_FINISHED,
            postgresql_where=_NOT_FINISHED,
        ),
    )

    id: Mapped[GameId] = mapped_column(primary_key=True, autoincrement=False)
    """Given by the server, so that a game can be announced in the commit that makes it."""
    pairing_id: Mapped[PairingId] = mapped_column(ForeignKey("pairing.id"))
    tournament_id: Mapped[TournamentId] = mapped_column(ForeignKey("tournament.id"))
    ladder_id: Mapped[LadderId | None] = mapped_column(ForeignKey("ladder.id"))
    """``None`` when the game is not rated."""
    black_id: Mapped[BotVersionId] = mapped_column(ForeignKey("bot_version.id"))
    white_id: Mapped[BotVersionId] = mapped_column(ForeignKey("bot_version.id"))
    opening_plies: Mapped[int]
    moves: Mapped[bytes]
    """Two bytes a cell, little-endian; the opening alone until the game ends."""
    start_time: Mapped[datetime]
    state: Mapped[GameState] = mapped_column(default=GameState.RUNNING)
    times: Mapped[bytes] = mapped_column(default=b"")
    """Raw and then charged nanoseconds of every move after the opening: two columns of
    eight bytes each, little-endian."""
    analysis: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    """What the bots said they thought, by ply; ``None`` when they said nothing."""
    result: Mapped[Result] = mapped_column(default=Result.NONE)
    ending: Mapped[Ending | None] = mapped_column(default=None)
    at_fault: Mapped[Party] = mapped_column(default=Party.NOBODY)
    detail: Mapped[str] = mapped_column(default="")
    end_sequence: Mapped[int | None] = mapped_column(_Id, default=None)
    """Orders the games by their ends; ``None`` while the game runs."""
    end_time: Mapped[datetime | None] = mapped_column(default=None)
    fingerprint: Mapped[int | None] = mapped_column(_Id, default=None)
    """A hash of players, opening and moves; ``None`` while the game runs."""
    is_repeat: Mapped[bool] = mapped_column(default=False)
    """An earlier game of the ladder was the same, so this one is not rated."""


class Fault(Base):
    """An entry of the fault ledger: why a game ended off the board, or an incident."""

    __tablename__ = "fault"

    id: Mapped[FaultId] = mapped_column(primary_key=True, init=False)
    kind: Mapped[FaultKind]
    party: Mapped[FaultParty]
    detail: Mapped[str] = mapped_column(String(FAULT_DETAIL))
    """One sentence for people."""
    evidence: Mapped[dict[str, Any]]
    create_time: Mapped[datetime]
    game_id: Mapped[GameId | None] = mapped_column(ForeignKey("game.id"), index=True, default=None)
    """``None`` where it concerns no game, or several."""
    ending: Mapped[Ending | None] = mapped_column(default=None)
    """What it ended the game by; ``None`` where games went on."""
    ply: Mapped[int | None] = mapped_column(default=None)
    """How many stones lay on the game's board."""
    version_id: Mapped[BotVersionId | None] = mapped_column(
        ForeignKey("bot_version.id"), index=True, default=None
    )
    """The bot concerned; ``None`` when it was no bot."""


class RatingRun(Base):
    """One run of a ladder's job."""

    __tablename__ = "rating_run"
    __table_args__ = (UniqueConstraint("ladder_id", "revision", "algorithm"),)

    id: Mapped[RatingRunId] = mapped_column(primary_key=True, init=False)
    ladder_id: Mapped[LadderId] = mapped_column(ForeignKey("ladder.id"))
    revision: Mapped[int] = mapped_column(_Id)
    """The ladder's revision whose games it was computed from."""
    voided: Mapped[int] = mapped_column(_Id)
    """How many finished games of the ladder had been voided."""
    cutoff: Mapped[int] = mapped_column(_Id)
    """The `end_sequence` of the last game that went into it; 0 for none."""
    games: Mapped[int] = mapped_column(_Id)
    repeats: Mapped[int] = mapped_column(_Id)
    """Finished games up to there that are not rated, since they repeat others."""
    checksum: Mapped[str] = mapped_column(String(64))
    """SHA-256 of its input, hexadecimal."""
    algorithm: Mapped[str] = mapped_column(String(60))
    parameters: Mapped[dict[str, Any]]
    create_time: Mapped[datetime]


class Rating(Base):
    """One line of a run."""

    __tablename__ = "rating"

    run_id: Mapped[RatingRunId] = mapped_column(ForeignKey("rating_run.id"), primary_key=True)
    version_id: Mapped[BotVersionId] = mapped_column(ForeignKey("bot_version.id"), primary_key=True)
    rank: Mapped[int]
    elo: Mapped[float]
    margin: Mapped[float]
    """Half of the 95 % interval, relative to the anchors; Elo."""
    superiority: Mapped[float | None]
    """The chance to be stronger than the next in rank; ``None`` for the last."""
    classic_elo: Mapped[float]
    opponents_elo: Mapped[float]
    """The mean over its games."""
    wins_as_black: Mapped[int]
    draws_as_black: Mapped[int]
    losses_as_black: Mapped[int]
    wins_as_white: Mapped[int]
    draws_as_white: Mapped[int]
    losses_as_white: Mapped[int]
    faults: Mapped[int]
    is_anchor: Mapped[bool]
    is_provisional: Mapped[bool]
    """It has few games, or has won or lost them all: the prior says much of its rating."""
    is_linked: Mapped[bool]
    """Games lead from it to the anchors, from opponent to opponent."""


class Posterior(Base):
    """What the errors of the published run's ratings have in common."""

    __tablename__ = "posterior"

    ladder_id: Mapped[LadderId] = mapped_column(ForeignKey("ladder.id"), primary_key=True)
    run_id: Mapped[RatingRunId]
    version_ids: Mapped[bytes]
    """Of the rows and columns: eight bytes each, little-endian."""
    matrix: Mapped[bytes]
    """Row by row, in Elo squared, up to a constant: four bytes each, little-endian floats."""


class RatingDay(Base):
    """A version's rating by the games up to the end of a day (UTC)."""

    __tablename__ = "rating_day"

    ladder_id: Mapped[LadderId] = mapped_column(ForeignKey("ladder.id"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    version_id: Mapped[BotVersionId] = mapped_column(ForeignKey("bot_version.id"), primary_key=True)
    elo: Mapped[float]
    margin: Mapped[float]
    """Half of the 95 % interval; Elo."""
    games: Mapped[int]
    """Rated ones up to then."""


class JournalRow(Base):
    """An entry of the journal: moves of running games that were committed together.

    A game's moves are folded into its own row when it ends; entries that hold
    no move of a running game are deleted.
    """

    __tablename__ = "journal"

    epoch: Mapped[Epoch] = mapped_column(primary_key=True, autoincrement=False)
    """Of the server that wrote it; 0 for one without a claim."""
    id: Mapped[EntryId] = mapped_column(primary_key=True, autoincrement=False)
    """Given by the server: a repeated commit of the same entry is recognised by the two."""
    moves: Mapped[bytes]
    """28 bytes a move: game, ply, cell, raw and charged nanoseconds (``<QHHQQ``)."""
    analysis: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    """By game and ply, what the bots said they thought; ``None`` when nothing."""


class Claim(Base):
    """Who owns the database: the one row of its table."""

    __tablename__ = "claim"

    epoch: Mapped[Epoch]
    """How many servers have claimed the database so far."""
    holder: Mapped[str] = mapped_column(String(200))
    """The machine and the process of the last one."""
    time: Mapped[datetime | None]
    """When it did; ``None`` before the first."""
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False, default=0)
