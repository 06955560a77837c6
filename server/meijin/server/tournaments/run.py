"""A tournament that is being played, taken from the store."""

import enum
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import Connection

from meijin.game import Adjudication, Result, TimeControl, Variant
from meijin.server.match.live.live_game import LiveGame
from meijin.server.storage import Storage
from meijin.server.tournaments.fault_limit import FaultLimit
from meijin.server.tournaments.formats import FORMATS
from meijin.server.tournaments.formats.base import Format
from meijin.server.tournaments.pending import PendingPairings
from meijin.store.schema import BotId, FormatName, LadderId, TournamentId, TournamentState
from meijin.store.tournaments import (
    PendingPairing,
    TournamentRow,
    last_number,
    pending_pairings,
)
from meijin.store.tournaments.fault_counts import fault_counts
from meijin.store.tournaments.match_counts import GAMES_OF_A_PAIR, PairingResult


class RunState(enum.Enum):
    """What becomes of a tournament's games."""

    PLAYING = enum.auto()
    """They are planned and started."""
    SUSPENDED = enum.auto()
    """None is planned or started; those that run go on, for the run that takes its place."""
    CANCELLED = enum.auto()
    """None is planned or started, and those that ran are void."""
    FINISHED = enum.auto()
    """None is needed any more; the end is stored, or is about to be."""


RUN_STATES = {
    TournamentState.RUNNING: RunState.PLAYING,
    TournamentState.CANCELLED: RunState.CANCELLED,
    TournamentState.FINISHED: RunState.FINISHED,
}
"""By what the store says."""


CHUNK = 500
"""Pending games that are read at once: 4 ms of the interpreter, which the event loop waits for."""


@dataclass(slots=True, eq=False)
class TournamentRun:
    """A tournament whose games are being played."""

    id: TournamentId
    variant: Variant
    time_control: TimeControl
    max_games: int
    """The most games at once; 0 leaves it to the bots."""
    ladder_id: LadderId | None
    format_name: FormatName
    format: Format
    """Plans its games, and says when it is decided."""
    state: RunState = RunState.PLAYING
    pending: PendingPairings = field(default_factory=PendingPairings)
    """Planned games in the order in which they are to be played."""
    games: dict[int, LiveGame] = field(default_factory=dict)
    """Its running games by their numbers; the match keeps them."""
    last_number: int = 0
    """Of the games that were planned."""
    loaded: int = 0
    """The last number up to which its pending games have been read."""
    time_controls: Mapping[BotId, TimeControl] = field(default_factory=dict)
    """Of every bot where they differ; empty where all have `time_control`."""
    adjudication: Adjudication | None = None
    """``None`` where games are played to their end."""
    faults: FaultLimit = field(default_factory=lambda: FaultLimit(0))
    """When it is cancelled, since a bot has forfeited too many of its games."""
    verdict: str = ""
    """Why it ended, as stored; empty where an operator has cancelled it."""

    @property
    def running(self) -> int:
        """How many of its games are being played."""
        return len(self.games)

    @property
    def is_loaded(self) -> bool:
        """Whether all of its pending games have been read."""
        return self.loaded >= self.last_number

    @property
    def is_playing(self) -> bool:
        """Whether games of it are still to be started."""
        return self.state is RunState.PLAYING

    @property
    def has_place(self) -> bool:
        """Whether another of its games may begin now."""
        return self.is_playing and not 0 < self.max_games <= self.running

    def control_of(self, bot_id: BotId) -> TimeControl:
        """What a bot gets on its clock, unless the pairing says another."""
        return self.time_controls.get(bot_id, self.time_control)

    @property
    def next_number(self) -> int:
        """Of the first game that is planned next, the first of a pair: always odd."""
        return self.last_number + 1 + self.last_number % GAMES_OF_A_PAIR

    def count(
        self, pairing: PendingPairing, result: Result, fingerprint: int | None = None
    ) -> None:
        """A game of it has a result.

        Args:
            result: As if the players had the colours that the pairing gives them.
            fingerprint: What the game's repeats have as well; ``None`` when it repeats none.
        """
        players = (pairing.black_id, pairing.white_id)
        self.format.game_ended(PairingResult(pairing.number, *players, result, fingerprint))


def run_of(game: LiveGame) -> TournamentRun:
    """The tournament that a game is played for."""
    assert isinstance(game.run, TournamentRun)
    return game.run


def load_run(connection: Connection, row: TournamentRow, storage: Storage) -> TournamentRun:
    """A stored tournament as it is played, with the first of its pending games.

    Its running games are entered by the match.

    Args:
        storage: For what is read while it is played.
    """
    run = TournamentRun(
        id=row.id,
        variant=row.variant,
        time_control=row.time_control,
        max_games=row.max_games,
        ladder_id=row.ladder_id,
        format_name=row.format,
        format=FORMATS[row.format].load(connection, row, storage),
        state=RUN_STATES[row.state],
        last_number=last_number(connection, row.id),
        time_controls=row.time_controls,
        adjudication=row.adjudication,
        faults=_faults(connection, row),
        verdict=row.verdict,
    )
    load_pending(connection, run)
    return run


def _faults(connection: Connection, row: TournamentRow) -> FaultLimit:
    return FaultLimit(
        row.max_faults, fault_counts(connection, row.id) if row.max_faults else Counter()
    )


def load_pending(connection: Connection, run: TournamentRun) -> None:
    """Read the next of a run's pending games, so many that the event loop is not held up."""
    pairings = pending_pairings(connection, run.id, after=run.loaded, limit=CHUNK)
    for pairing in pairings:
        run.pending.add(pairing)
    run.loaded = pairings[-1].number if len(pairings) == CHUNK else run.last_number
