"""A tournament that is being played, taken from the store."""

import enum
from collections import Counter
from dataclasses import dataclass, field

from sqlalchemy import Connection

from meijin.game import Result
from meijin.server.match.live.live_game import Contest, LiveGame
from meijin.server.tournaments.formats import FORMATS
from meijin.server.tournaments.formats.base import Format
from meijin.server.tournaments.pending import PendingPairings
from meijin.store.schema import BotId, TournamentId, TournamentState
from meijin.store.tournaments import get_tournament, last_number, pending_pairings
from meijin.store.tournaments.listing import fault_counts
from meijin.store.tournaments.match_counts import PairingResult


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


MAX_WORDS = 120
"""Characters of the last fault that a verdict has room for."""

_END = 60
"""Of them those of its end, where a crash has its file and line."""


@dataclass(slots=True, eq=False, kw_only=True)
class TournamentRun(Contest):
    format: Format
    """Plans its games, and says when it is decided."""
    state: RunState = RunState.PLAYING
    pending: PendingPairings = field(default_factory=PendingPairings)
    """Planned games in the order in which they are to be played."""
    last_number: int = 0
    """Of the games that were planned."""
    loaded: int = 0
    """The number of the last of its pending games that has been read."""
    leased: int = 0
    """Of its games how many workers are playing."""
    faults: Counter[BotId] = field(default_factory=Counter)
    """How many of its games each bot has forfeited."""

    @property
    def running(self) -> int:
        return len(self.games) + self.leased

    @property
    def is_playing(self) -> bool:
        """Whether games of it are still to be started."""
        return self.state is RunState.PLAYING

    @property
    def has_place(self) -> bool:
        """Whether another of its games may begin now."""
        return self.is_playing and not 0 < self.row.max_games <= self.running

    def count(self, game: LiveGame, result: Result) -> None:
        """A game of it has a result; it is told as if nobody had swapped the colours."""
        pairing = game.pairing
        if game.arbiter.position.is_swapped:
            result = result.mirrored
        players = (pairing.black_id, pairing.white_id)
        repeats = game.symmetric_fingerprint
        self.format.game_ended(PairingResult(pairing.number, *players, result, repeats))

    def count_fault(self, game: LiveGame) -> str:
        """Count a game with a result; why it ends the tournament, since a bot forfeits too many."""
        culprit, most = game.culprit, self.row.max_faults
        if culprit is None or not most:
            return ""
        player, outcome = game.player(culprit), game.arbiter.outcome
        assert outcome is not None
        self.faults[player.bot_id] += 1
        faults = self.faults[player.bot_id]
        if faults < most:
            return ""
        games = "a game" if faults == 1 else f"{faults} games"
        last = f"{outcome.ending.value}: {_shortened(outcome.detail)}".removesuffix(": ")
        return f"{player.name} has lost {games} by its own faults; the last: {last}"


def _shortened(text: str) -> str:
    if len(text) <= MAX_WORDS:
        return text
    return f"{text[: MAX_WORDS - _END - 3]}...{text[-_END:]}"


def run_of(game: LiveGame) -> TournamentRun:
    assert isinstance(game.run, TournamentRun)
    return game.run


def load_run(connection: Connection, tournament_id: TournamentId) -> TournamentRun:
    """A stored tournament as it is played, without its pending games.

    Its running games are entered by the match.
    """
    row = get_tournament(connection, tournament_id)
    return TournamentRun(
        row=row,
        format=FORMATS[row.format].load(connection, row),
        state=RUN_STATES[row.state],
        last_number=last_number(connection, row.id),
        faults=fault_counts(connection, row.id) if row.max_faults else Counter(),
    )


def load_pending(connection: Connection, run: TournamentRun) -> bool:
    """Read the next of a run's pending games, few enough not to hold up the event loop.

    Returns:
        Whether there may be more.
    """
    pairings = pending_pairings(connection, run.id, after=run.loaded, limit=CHUNK)
    for pairing in pairings:
        run.pending.add(pairing)
        run.loaded = pairing.number
    return len(pairings) == CHUNK
