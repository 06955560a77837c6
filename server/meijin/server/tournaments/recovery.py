"""Recovery: what an earlier server left, its tournaments and running games, is taken up again."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import structlog
from sqlalchemy import Connection

from meijin.game import chosen_color
from meijin.server.match.games import Games
from meijin.server.match.lobby import Lobby
from meijin.server.storage import Storage
from meijin.server.tournaments.run import TournamentRun, load_pending, load_run
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store import games, journal, tournaments
from meijin.store.games import GameRow
from meijin.store.journal import EntryKey, KeptEntries, StoredMove
from meijin.store.move_log import LogEntry, MoveLog
from meijin.store.schema import EntryId, Epoch, GameId, PairingId, TournamentId
from meijin.store.tournaments import PendingPairing

log = structlog.get_logger()

FIRST_ENTRY = EntryId(1)
"""Of a log that begins anew, with the moves of the games that are taken up again."""


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
    games: tuple[GameRow, ...]
    pairings: dict[PairingId, PendingPairing]
    """The pairings of the running games."""
    moves: dict[GameId, list[tuple[int, int, int]]]
    """Code, raw and charged nanoseconds of every stone and choice of the running games."""
    analysis: dict[str, Any]


def load(
    connection: Connection, storage: Storage, move_log: MoveLog | None = None
) -> RecoveredState:
    """Read what an earlier server left; its tournaments will read from `storage`.

    Moves are in the log, if there is one, and what the database has of them is older.
    """
    rows = tuple(games.running_games(connection))
    logged = [] if move_log is None else list(move_log.read())
    running = [row.id for row in rows]
    said = [journal.running_analysis(connection, running), *(entry.analysis for entry in logged)]
    stored = chain(
        journal.running_moves(connection),
        chain.from_iterable(journal.unpack_moves(entry.moves) for entry in logged),
    )
    return RecoveredState(
        last=LastIds(
            games.last_game(connection),
            games.last_end(connection),
            journal.last_entry(connection),
            journal.kept_entries(connection),
        ),
        runs=tuple(_runs(connection, rows, storage)),
        games=rows,
        pairings=tournaments.running_pairings(connection),
        moves=moves_by_game(stored, {row.id: row.opening_plies for row in rows}),
        analysis=journal.merge_analysis(said, running),
    )


def begin_log(move_log: MoveLog, recovered: RecoveredState, epoch: Epoch) -> RecoveredState:
    """Have a log hold the moves of the running games, and nothing else.

    Returns:
        What was recovered, with what is kept now.

    Raises:
        OSError: the disk does not take it.
    """
    packed = bytearray()
    for row in recovered.games:
        moves = recovered.moves[row.id]
        packed += journal.pack_game(row.id, moves, opening_plies=row.opening_plies)
    entry = LogEntry(FIRST_ENTRY, packed, recovered.analysis)
    move_log.begin(entry)
    end = EntryKey(epoch, EntryId(entry.id + 1))
    kept = KeptEntries(end, entries=1, bytes=len(packed))
    return replace(recovered, last=recovered.last._replace(kept=[kept]))


def _runs(
    connection: Connection, rows: Sequence[GameRow], storage: Storage
) -> Sequence[TournamentRun]:
    """The tournaments to be played on, and those that were cancelled with games running."""
    running = tournaments.running_tournaments(connection)
    runs = []
    for tournament_id in sorted({*running, *(row.tournament_id for row in rows)}):
        row = tournaments.get_tournament(connection, tournament_id)
        run = load_run(connection, row, storage)
        while not run.is_loaded:
            load_pending(connection, run)
        runs.append(run)
    return runs


def moves_by_game(
    stored: Iterable[StoredMove], opening_plies: Mapping[GameId, int]
) -> dict[GameId, list[tuple[int, int, int]]]:
    """The moves of some games, each in its order, as they follow their openings.

    A move, or a choice, that is stored twice counts once. Where a game was written anew, what is
    left of it before is no whole. Where moves are missing in the middle, which only a damaged file
    brings about, the game goes back to the last one before, and the log says so.
    """
    plies = dict(opening_plies)
    chosen: set[GameId] = set()
    ahead: dict[GameId, int] = {}
    moves: dict[GameId, list[tuple[int, int, int]]] = defaultdict(list)
    for move in stored:
        ply = plies.get(move.game_id)
        if ply is not None and move.is_anew:
            plies[move.game_id], moves[move.game_id] = opening_plies[move.game_id], []
            chosen.discard(move.game_id)
            ahead.pop(move.game_id, None)
        elif ply is not None and move.ply > ply:
            ahead[move.game_id] = move.ply
        if move.ply != ply or move.is_anew:
            continue
        if chosen_color(move.code) is None:
            plies[move.game_id] += 1
        elif move.game_id not in chosen:
            chosen.add(move.game_id)
        else:
            continue
        moves[move.game_id].append((move.code, move.raw_ns, move.charged_ns))
    for game_id, ply in ahead.items():
        if ply >= plies[game_id]:
            log.error(
                "stored moves are missing; the game goes back", game=game_id, ply=plies[game_id]
            )
    return moves


def restore(recovered: RecoveredState, lobby: Lobby, match: Games, scheduler: Scheduler) -> None:
    """Put the games back on their boards, where they wait for their bots."""
    runs: dict[TournamentId, TournamentRun] = {run.id: run for run in recovered.runs}
    for row in recovered.games:
        game = match.new_live_game(
            runs[row.tournament_id],
            recovered.pairings[row.pairing_id],
            game_id=row.id,
            players=(
                lobby.player(row.black_id, row.black),
                lobby.player(row.white_id, row.white),
            ),
            versions=(row.black_version_id, row.white_version_id),
            start_time=row.start_time,
        )
        game.analysis = recovered.analysis.get(str(row.id))
        match.restore(game, recovered.moves[row.id])
    for run in recovered.runs:
        if run.is_playing:
            scheduler.add(run)
        else:
            scheduler.void_rest(run)
    if recovered.runs:
        log.info("resumed", tournaments=len(recovered.runs), games=len(recovered.games))
