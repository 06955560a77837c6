"""Games, and the journal of those that are running."""

import enum
from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, false, text
from sqlalchemy.orm import Mapped, mapped_column

from meijin.game import Ending, Party, Result
from meijin.store.schema.base import INT64, NOT_FINISHED, Base
from meijin.store.schema.ids import (
    BotVersionId,
    EntryId,
    Epoch,
    GameId,
    LadderId,
    PairingId,
    TournamentId,
)

GAME_IS_NOT_FINISHED = text("game.state <> 'finished'")
"""Has SQLite use the index of what is not finished: it does not see that from another state."""
_NOT_VOID = text("state <> 'void'")
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


class GameState(enum.Enum):
    """Where a game stands."""

    RUNNING = "running"
    FINISHED = "finished"
    VOID = "void"


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
            sqlite_where=NOT_FINISHED,
            postgresql_where=NOT_FINISHED,
        ),
    )

    id: Mapped[GameId] = mapped_column(primary_key=True, autoincrement=False)
    """Given by the server, so that a game can be announced in the commit that makes it."""
    pairing_id: Mapped[PairingId] = mapped_column(ForeignKey("pairing.id"))
    tournament_id: Mapped[TournamentId] = mapped_column(ForeignKey("tournament.id"))
    ladder_id: Mapped[LadderId | None] = mapped_column(ForeignKey("ladder.id"))
    """``None`` when the game is not rated."""
    black_id: Mapped[BotVersionId] = mapped_column(ForeignKey("bot_version.id"))
    """While the game runs the first player, and who had black in the end."""
    white_id: Mapped[BotVersionId] = mapped_column(ForeignKey("bot_version.id"))
    opening_plies: Mapped[int]
    opening: Mapped[int] = mapped_column(INT64)
    """A key that games with the same opening share, see `settled_opening`."""
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
    end_sequence: Mapped[int | None] = mapped_column(INT64, default=None)
    """Orders the games by their ends; ``None`` while the game runs."""
    end_time: Mapped[datetime | None] = mapped_column(default=None)
    fingerprint: Mapped[int | None] = mapped_column(INT64, default=None)
    """A hash of players, opening and moves; ``None`` while the game runs."""
    symmetric_fingerprint: Mapped[int | None] = mapped_column(INT64, default=None)
    """The same for a game and its mirror images; ``None`` while it runs, and where no move was
    made. A test leaves out those that an earlier game of it has, see `tournaments.duplicates`."""
    is_repeat: Mapped[bool] = mapped_column(default=False, server_default=false())
    """An earlier game of the ladder was the same, so this one is not rated: known once it is in
    the ladder's log, see `Ladder.sequenced`."""
    choice: Mapped[bytes | None] = mapped_column(default=None)
    """The choice of a side, see `encode_choice`; ``None`` where none was made, and while it runs."""
    is_swapped: Mapped[bool] = mapped_column(default=False, server_default=false())
    """The first player, whom the pairing calls black, had white in the end."""


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
    """28 bytes a stone or choice of a side: game, ply, code (a cell, or what `encode_action`
    makes of a choice), raw and charged nanoseconds (``<QHHQQ``)."""
    analysis: Mapped[dict[str, Any] | None] = mapped_column(default=None)
    """By game and ply, what the bots said they thought; ``None`` when nothing."""
