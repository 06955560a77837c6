"""Games, the journal of those that are running, and the fault ledger."""

import enum
from datetime import datetime
from importlib.metadata import version
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, false, text

from meijin.game import Ending, Party, Result
from meijin.store.schema.base import (
    INT64,
    NOT_FINISHED,
    Field,
    Record,
    column,
    partial_index,
)
from meijin.store.schema.bots import HARDWARE
from meijin.store.schema.ids import (
    BotVersionId,
    EntryId,
    Epoch,
    FaultId,
    GameId,
    LadderId,
    PairingId,
    TournamentId,
)

GAME_IS_NOT_FINISHED = text("game.state <> 'finished'")
"""Has SQLite use the index of what is not finished: it does not see that from another state."""
_NOT_VOID = text("state <> 'void'")

RELEASE = version("meijin")
"""Of Meijin, that runs here."""


class GameState(enum.Enum):
    """Where a game stands."""

    RUNNING = "running"
    FINISHED = "finished"
    VOID = "void"


class Game(Record, table="game"):
    """One game of a pairing."""

    id: Field[GameId] = column(primary_key=True, autoincrement=False)
    """Given by the server, so that a game can be announced in the commit that makes it."""
    pairing_id: Field[PairingId] = column(ForeignKey("pairing.id"))
    tournament_id: Field[TournamentId] = column(ForeignKey("tournament.id"))
    ladder_id: Field[LadderId | None] = column(ForeignKey("ladder.id"))
    """``None`` when the game is not rated."""
    black_id: Field[BotVersionId] = column(ForeignKey("bot_version.id"))
    """While the game runs the first player, and who had black in the end."""
    white_id: Field[BotVersionId] = column(ForeignKey("bot_version.id"))
    opening_plies: Field[int]
    opening: Field[int] = column(INT64)
    """A key that games with the same opening share, see `settled_opening`."""
    moves: Field[bytes]
    """Two bytes a cell, little-endian; the opening alone until the game ends."""
    start_time: Field[datetime]
    state: Field[GameState] = column(default=GameState.RUNNING)
    times: Field[bytes] = column(default=b"")
    """Raw and then charged nanoseconds of every move after the opening: two columns of
    eight bytes each, little-endian."""
    analysis: Field[dict[str, Any] | None] = column(default=None)
    """What the bots said they thought, by ply; ``None`` when they said nothing."""
    result: Field[Result] = column(default=Result.NONE)
    ending: Field[Ending | None] = column(default=None)
    at_fault: Field[Party] = column(default=Party.NOBODY)
    detail: Field[str] = column(default="")
    end_sequence: Field[int | None] = column(INT64, default=None)
    """Orders the games by their ends; ``None`` while the game runs."""
    end_time: Field[datetime | None] = column(default=None)
    fingerprint: Field[int | None] = column(INT64, default=None)
    """A hash of players, opening and moves; ``None`` while the game runs."""
    symmetric_fingerprint: Field[int | None] = column(INT64, default=None)
    """The same for a game and its mirror images; ``None`` while it runs, and where no move was
    made. A test leaves out those that an earlier game of it has, see `tournaments.duplicates`."""
    is_repeat: Field[bool] = column(default=False, server_default=false())
    """An earlier game of the ladder was the same, so this one is not rated: known once it is in
    the ladder's log, see `Ladder.sequenced`."""
    decisions: Field[bytes | None] = column(default=None)
    """Those of its opening, see `encode_decisions`; ``None`` for none, and while it runs."""
    is_swapped: Field[bool] = column(default=False, server_default=false())
    """The first player, whom the pairing calls black, had white in the end."""
    release: Field[str] = column(String(40), default=RELEASE, server_default="")
    """Of the server that began it; empty where it is not known."""
    black_hardware: Field[str] = column(String(HARDWARE), default="", server_default="")
    """What black's version said before the game that it runs on; as `black_id`."""
    white_hardware: Field[str] = column(String(HARDWARE), default="", server_default="")
    black_threads: Field[int | None] = column(default=None)
    """That black's version said before the game; ``None`` where it said nothing."""
    white_threads: Field[int | None] = column(default=None)
    black_memory_bytes: Field[int | None] = column(BigInteger, default=None)
    """Likewise."""
    white_memory_bytes: Field[int | None] = column(BigInteger, default=None)


partial_index("game_once", Game.pairing_id, where=_NOT_VOID, unique=True)
Index(
    "game_result",  # a ladder's games are counted in it alone
    Game.ladder_id,
    Game.state,
    Game.is_repeat,
    Game.black_id,
    Game.white_id,
    Game.result,
    Game.at_fault,
)
Index("game_order", Game.ladder_id, Game.end_sequence)
Index("game_fingerprint", Game.ladder_id, Game.fingerprint, Game.end_sequence)
# Not the one above: SQLite looks in no partial index when a pairing is deleted.
Index("game_of_pairing", Game.pairing_id)
Index("game_of_tournament", Game.tournament_id, Game.id)
Index("game_of_black", Game.black_id, Game.id)
Index("game_of_white", Game.white_id, Game.id)
partial_index("game_not_finished", Game.state, Game.id, where=NOT_FINISHED)


class JournalRow(Record, table="journal"):
    """An entry of the journal: moves of running games that were committed together.

    A game's moves are folded into its own row when it ends; entries that hold
    no move of a running game are deleted.
    """

    epoch: Field[Epoch] = column(primary_key=True, autoincrement=False)
    """Of the server that wrote it; 0 for one without a claim."""
    id: Field[EntryId] = column(primary_key=True, autoincrement=False)
    """Given by the server: a repeated commit of the same entry is recognised by the two."""
    moves: Field[bytes]
    """28 bytes a stone or a code of a decision: game, ply, code (a cell, or what `encode_action`
    makes of a decision), raw and charged nanoseconds (``<QHHQQ``)."""
    analysis: Field[dict[str, Any] | None] = column(default=None)
    """By game and ply, what the bots said they thought; ``None`` when nothing."""


FAULT_DETAIL = 600
"""Characters of a fault's sentence."""


FAULT_SIGNATURE = 80
"""Characters of what it has in common with others."""


class FaultKind(enum.Enum):
    """What went wrong."""

    TIME = "time"
    """A move took longer than the clock allowed."""
    ILLEGAL = "illegal"
    """A move on an occupied cell, or off the board."""
    FORBIDDEN = "forbidden"
    """A move that the rule of the game forbids."""
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
    """The server or its database was away, or has lost moves of a game."""
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


class Fault(Record, table="fault"):
    """An entry of the fault ledger: why a game ended off the board, or an incident."""

    id: Field[FaultId] = column(primary_key=True, default=0)
    kind: Field[FaultKind]
    party: Field[FaultParty]
    detail: Field[str] = column(String(FAULT_DETAIL))
    """One sentence for people."""
    evidence: Field[dict[str, Any]] = column(default_factory=dict)
    create_time: Field[datetime]
    game_id: Field[GameId | None] = column(ForeignKey("game.id"), index=True, default=None)
    """``None`` where it concerns no game, or several."""
    ending: Field[Ending | None] = column(default=None)
    """What it ended the game by; ``None`` where games went on."""
    ply: Field[int | None] = column(default=None)
    """How many stones lay on the game's board."""
    version_id: Field[BotVersionId | None] = column(ForeignKey("bot_version.id"), default=None)
    """The bot concerned; ``None`` when it was no bot."""
    signature: Field[str] = column(String(FAULT_SIGNATURE), default="", server_default="")
    """What faults of one cause have in common, see `faults.signature_of`."""


Index("fault_of_version", Fault.version_id, Fault.kind, Fault.id)
Index("fault_signature", Fault.version_id, Fault.kind, Fault.signature, Fault.id)
