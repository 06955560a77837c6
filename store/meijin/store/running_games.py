"""The running games as they are stored: their rows, and their moves in the journal and the log."""

from collections import defaultdict
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from meijin.game import is_stone
from meijin.store import journal
from meijin.store.fence import EntryKey
from meijin.store.games import GameRow, running_games
from meijin.store.move_log.mark import LogMark, read_mark
from meijin.store.move_log.problem import LogProblem
from meijin.store.move_log.reader import LogReader, LogReading
from meijin.store.schema import GameId


@dataclass(frozen=True, slots=True)
class RunningGames:
    """Everything that is stored of the games that run."""

    rows: tuple[GameRow, ...]
    moves: dict[GameId, list[tuple[int, int, int]]]
    """Code, raw and charged nanoseconds of every stone and decision after the opening."""
    analysis: dict[str, Any]
    """By game and ply, what the bots said they thought."""
    newest: EntryKey
    """The newest entry of the journal."""
    mark: LogMark
    """What the database knew of the log of moves."""
    log: LogReading | None
    """The log as it was read; ``None`` where the database keeps all moves."""
    short: frozenset[GameId]
    """Those that have lost moves, or may have."""

    @property
    def problem(self) -> LogProblem | None:
        return None if self.log is None else self.log.problem

    @property
    def is_proven(self) -> bool:
        """Whether an end of the log that is lost would have been noticed."""
        return self.log is None or self.log.is_headed or not self.log.last

    def pack(self) -> bytearray:
        """All moves of them, as a journal has them."""
        packed = bytearray()
        for row in self.rows:
            packed += self.pack_game(row)
        return packed

    def pack_game(self, row: GameRow) -> bytearray:
        """All moves of one of them."""
        return journal.pack_game(row.id, self.moves[row.id], opening_plies=row.opening_plies)


def read_running_games(connection: Connection, log_folder: Path | None) -> RunningGames:
    """What is stored of the running games.

    Args:
        log_folder: The log of moves, if there is one: what the database has of them is older.
    """
    with nullcontext() if log_folder is None else LogReader(log_folder) as log:
        return _read(connection, log)


def _read(connection: Connection, log: LogReader | None) -> RunningGames:
    rows = tuple(running_games(connection))
    ids = [row.id for row in rows]
    newest, mark = journal.newest_entry(connection), read_mark(connection)
    moves = RunningMoves({row.id: row.opening_plies for row in rows})
    for kept in journal.kept_moves(connection):
        moves.add(kept)
    said = [journal.running_analysis(connection, ids)]
    reading = None
    if log is not None:
        log.open_new()
        reading = LogReading(log, mark, newest)
        for entry in reading:
            moves.add(entry.moves, gaps=reading.gaps)
            if entry.analysis:
                said.append(entry.analysis)
    problem = None if reading is None else reading.problem
    return RunningGames(
        rows,
        moves.of_game,
        journal.merge_analysis(said, ids),
        newest,
        mark,
        log=reading,
        short=frozenset(moves.short(problem)),
    )


class RunningMoves:
    """The moves of some games, each in its order, as they follow their openings.

    A move, or a decision, that is stored twice counts once. Where a game was written anew, what is
    left of it before is no whole.
    """

    def __init__(self, opening_plies: Mapping[GameId, int]) -> None:
        self.of_game: dict[GameId, list[tuple[int, int, int]]] = defaultdict(list)
        """Code, raw and charged nanoseconds of each."""
        self._opening_plies = opening_plies
        self._plies = dict(opening_plies)
        self._decided: dict[GameId, set[tuple[int, int]]] = defaultdict(set)
        """Plies and codes of the decisions of games: none comes twice at a ply."""
        self._ahead: dict[GameId, int] = {}
        self._gaps = 0
        self._heard: set[GameId] = set()
        """Since the last gap of the log."""

    def add(self, packed: bytes | bytearray, *, gaps: int = 0) -> None:
        """Add the moves of an entry behind those that were stored before.

        All in one loop: a start reads a million moves, most of them of games that have ended.

        Args:
            gaps: How many the log has before it.
        """
        if gaps > self._gaps:
            self._gaps, self._heard = gaps, set()
        plies, moves = self._plies, self.of_game
        for game_id, ply, code, raw_ns, charged_ns in journal.unpack_fields(packed):
            due = plies.get(game_id)
            if due is None:
                continue
            if gaps:
                self._heard.add(game_id)
            if code == journal.ANEW:
                self._begin_anew(game_id)
            elif ply > due:
                self._ahead[game_id] = ply
            elif ply == due:
                if is_stone(code):
                    plies[game_id] = due + 1
                elif not self._is_new(game_id, ply, code):
                    continue
                moves[game_id].append((code, raw_ns, charged_ns))

    def _is_new(self, game_id: GameId, ply: int, code: int) -> bool:
        """Note a decision's code; whether it was not noted before."""
        decided = self._decided[game_id]
        if (ply, code) in decided:
            return False
        decided.add((ply, code))
        return True

    def _begin_anew(self, game_id: GameId) -> None:
        self._plies[game_id] = self._opening_plies[game_id]
        self.of_game[game_id] = []
        self._decided.pop(game_id, None)
        self._ahead.pop(game_id, None)

    def short(self, problem: LogProblem | None) -> set[GameId]:
        """The games that have lost moves, or may have, by what is wrong with the log.

        A game that goes on behind what is lost, without a move missing, has lost none.
        """
        short = {game_id for game_id, ply in self._ahead.items() if ply >= self._plies[game_id]}
        if problem is not None:
            is_in_the_middle = self._gaps and not problem.is_at_the_end
            short |= self._plies.keys() - (self._heard if is_in_the_middle else set())
        return short
