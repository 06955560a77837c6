"""Recovery: what an earlier server left, its tournaments and running games, is taken up again."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import structlog
from sqlalchemy import Connection

from meijin.game import Party
from meijin.server.match.games import Games
from meijin.server.match.live.live_game import LiveGame
from meijin.server.match.lobby import Lobby
from meijin.server.match.presence.lost_moves import LOST
from meijin.server.tournaments.run import TournamentRun, load_pending, load_run
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store import games, journal, tournaments
from meijin.store.fence import EntryKey
from meijin.store.games import GameRow
from meijin.store.journal import KeptEntries
from meijin.store.move_log.entry import LogEntry
from meijin.store.move_log.log import FIRST_ENTRY
from meijin.store.running_games import RunningGames, read_running_games
from meijin.store.schema import EntryId, Epoch, GameId, PairingId, TournamentId
from meijin.store.tournaments import PendingPairing

log = structlog.get_logger()


class LastIds(NamedTuple):
    """The last ids given, from which the next follow, and the journal that is kept."""

    game: GameId
    end: int
    """Ended games are numbered in the order of their ends."""
    entry: EntryId
    kept: Sequence[KeptEntries] = ()


@dataclass(frozen=True, slots=True)
class RecoveredState:
    """Everything that is needed to go on."""

    last: LastIds
    runs: tuple[TournamentRun, ...]
    games: RunningGames
    pairings: dict[PairingId, PendingPairing]
    """The pairings of the running games."""


def load(connection: Connection, log_folder: Path | None) -> RecoveredState:
    """Read what an earlier server left.

    Args:
        log_folder: The log of moves, if there is one.
    """
    running = read_running_games(connection, log_folder)
    if running.problem is None and not running.is_proven:
        log.warning("the log of moves has lost its head; that its end is whole is not proven")
    return RecoveredState(
        last=LastIds(
            games.last_game(connection),
            games.last_end(connection),
            running.newest.id,
            journal.kept_entries(connection),
        ),
        runs=tuple(_runs(connection, running.rows)),
        games=running,
        pairings=tournaments.running_pairings(connection),
    )


def first_entry(recovered: RecoveredState) -> LogEntry:
    """What a log begins with: all moves of the running games, and nothing else."""
    return LogEntry(FIRST_ENTRY, recovered.games.pack(), recovered.games.analysis)


def kept_in(entry: LogEntry, epoch: Epoch) -> Sequence[KeptEntries]:
    """What is kept in a log that has begun with an entry."""
    end = EntryKey(epoch, EntryId(entry.id + 1))
    return [KeptEntries(end, entries=1, bytes=len(entry.moves))]


def _runs(connection: Connection, rows: Sequence[GameRow]) -> Sequence[TournamentRun]:
    """The tournaments to be played on, and those that were cancelled with games running."""
    running = tournaments.running_tournaments(connection)
    runs = []
    for tournament_id in sorted({*running, *(row.tournament_id for row in rows)}):
        run = load_run(connection, tournament_id)
        while load_pending(connection, run):
            pass
        runs.append(run)
    return runs


def restore(recovered: RecoveredState, lobby: Lobby, match: Games, scheduler: Scheduler) -> None:
    """Put the games back on their boards, where they wait for their bots.

    A game that is short, or whose moves do not fit each other, is void.
    """
    runs: dict[TournamentId, TournamentRun] = {run.id: run for run in recovered.runs}
    for row in recovered.games.rows:
        game = match.new_live_game(
            runs[row.tournament_id],
            recovered.pairings[row.pairing_id],
            game_id=row.id,
            players=(
                lobby.player(row.black_bot_id, row.black),
                lobby.player(row.white_bot_id, row.white),
            ),
            versions=(row.black_id, row.white_id),
            start_time=row.start_time,
        )
        game.analysis = recovered.games.analysis.get(str(row.id))
        misfit = match.restore(game, recovered.games.moves[row.id])
        if misfit is not None or row.id in recovered.games.short:
            _void_short(game, recovered.games, row, misfit)
            match.end(game)
    for run in recovered.runs:
        scheduler.add(run)
    if recovered.runs:
        log.info("resumed", tournaments=len(recovered.runs), games=len(recovered.games.rows))


def _void_short(
    game: LiveGame, running: RunningGames, row: GameRow, misfit: ValueError | None
) -> None:
    """Stop a game that is not what was acknowledged; its moves are kept as they were found."""
    why = str(misfit or running.problem or "a move is missing in its middle")
    log.error("a game is void: its stored moves are not whole", game=game.id, reason=why)
    game.arbiter.void(Party.SERVER, LOST)
    stored = base64.b64encode(running.pack_game(row)).decode()
    game.arbiter.add_evidence(reason=why, stored_moves=stored)
