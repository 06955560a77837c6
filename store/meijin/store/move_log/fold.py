"""The fold of a move log into a copy of its database, which then needs no log."""

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator

from meijin.store.fence import NO_ENTRY, SELECT_NEWEST, EntryKey
from meijin.store.journal import ENTRY_BYTES, pack_move, unpack_moves
from meijin.store.move_log.entry import Analysis, LogEntry
from meijin.store.move_log.mark import FORGET_LOG, SELECT_MARK, LogMark
from meijin.store.move_log.problem import LogProblem
from meijin.store.move_log.reader import LogReader, LogReading
from meijin.store.schema import GameId, GameState

STEP_BYTES = 64 * 1024
"""Of entries in a step, a millisecond of the interpreter."""

STEP_PAUSE_S = 0.001
"""Between two steps: a running server is to have the interpreter too."""

_HAS_MARK = "SELECT count(*) FROM pragma_table_info('claim') WHERE name = 'log_id'"
_RUNNING = "SELECT id FROM game WHERE state = ?"
_NEWEST = "SELECT epoch, id, moves, analysis FROM journal ORDER BY epoch DESC, id DESC LIMIT 1"
_NONE = "SELECT epoch, 0, x'', NULL FROM claim"
_PUT = "INSERT OR REPLACE INTO journal (epoch, id, moves, analysis) VALUES (?, ?, ?, ?)"


def fold_log(copy: sqlite3.Connection, log: LogReader) -> LogProblem | None:
    """Put what a log holds of a database's running games into its journal, and have it need no log.

    It becomes a part of the newest entry there, behind what that has. A new one would be taken for
    a commit by the fence, which looks whether the newest is missing.

    Returns:
        What is wrong with the log; the copy is of no use then.
    """
    (has_mark,) = copy.execute(_HAS_MARK).fetchone()
    if not has_mark:  # it is of a release that had no log
        return None
    mark = LogMark.of_row(copy.execute(SELECT_MARK).fetchone())
    newest = copy.execute(SELECT_NEWEST).fetchone() or NO_ENTRY
    reading = LogReading(log, mark, EntryKey(*newest))
    running = {game_id for (game_id,) in copy.execute(_RUNNING, (GameState.RUNNING.value,))}
    moves, analysis = _of_games(running, reading)
    if mark.log_id is not None and reading.problem is None:
        _add_to_newest(copy, moves, analysis)
        copy.execute(FORGET_LOG)
    return reading.problem


def _add_to_newest(copy: sqlite3.Connection, moves: bytes, analysis: Analysis) -> None:
    found = copy.execute(_NEWEST).fetchone() or copy.execute(_NONE).fetchone()
    epoch, entry_id, known, said = found
    merged: Analysis = json.loads(said or "null") or {}
    for game, by_ply in analysis.items():
        merged.setdefault(game, {}).update(by_ply)
    row = (epoch, entry_id, known + moves, json.dumps(merged) if merged else None)
    copy.execute(_PUT, row)


def _of_games(games: set[GameId], entries: Iterable[LogEntry]) -> tuple[bytes, Analysis]:
    moves: dict[GameId, bytearray] = {}
    analysis: Analysis = {}
    for entry in _slowly(entries):
        for move in unpack_moves(entry.moves):
            if move.game_id in games:
                if move.is_anew:
                    moves[move.game_id] = bytearray()
                moves.setdefault(move.game_id, bytearray()).extend(pack_move(*move))
        for game in entry.analysis:
            if int(game) in games:
                analysis.setdefault(game, {}).update(entry.analysis[game])
    return b"".join(moves.values()), analysis


def _slowly(entries: Iterable[LogEntry]) -> Iterator[LogEntry]:
    size = 0
    for entry in entries:
        yield entry
        size += ENTRY_BYTES + len(entry.moves)
        if size >= STEP_BYTES:
            size = 0
            time.sleep(STEP_PAUSE_S)
