"""The running games as they are stored: their rows, and their moves in the journal and the log."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from meijin.game import chosen_color
from meijin.store import journal
from meijin.store.fence import EntryKey
from meijin.store.games import GameRow, running_games
from meijin.store.journal import StoredMove
from meijin.store.move_log.mark import LogMark, read_mark
from meijin.store.move_log.problem import LogProblem
from meijin.store.move_log.reader import LogReader, LogReading
from meijin.store.schema import GameId


@dataclass(frozen=True, slots=True)
class RunningGames:
    """Everything that is stored of the games that run."""

    rows: tuple[GameRow, ...]
    moves: dict[GameId, list[tuple[int, int, int]]]
    """Code, raw and charged nanoseconds of every stone and choice after the opening."""
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
        """What is wrong with the log."""
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
    moves.add(journal.running_moves(connection))
    said = [journal.running_analysis(connection, ids)]
    reading = None
    if log is not None:
        log.open_new()
        reading = log.read(mark, newest)
        moves.add(_logged(reading, moves, said))
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


def _logged(
    reading: LogReading, moves: "RunningMoves", said: list[dict[str, Any]]
) -> Iterator[StoredMove]:
    """The moves of a log; what the bots said is added to what they `said`."""
    for entry in reading:
        if reading.gaps:
            moves.hear(journal.unpack_moves(entry.moves), reading.gaps)
        if entry.analysis:
            said.append(entry.analysis)
        yield from journal.unpack_moves(entry.moves)


class RunningMoves:
    """The moves of some games, each in its order, as they follow their openings.

    A move, or a choice, that is stored twice counts once. Where a game was written anew, what is
    left of it before is no whole.
    """

    def __init__(self, opening_plies: Mapping[GameId, int]) -> None:
        self.of_game: dict[GameId, list[tuple[int, int, int]]] = defaultdict(list)
        """Code, raw and charged nanoseconds of each."""
        self._opening_plies = opening_plies
        self._plies = dict(opening_plies)
        self._chosen: set[GameId] = set()
        self._ahead: dict[GameId, int] = {}
        self._gaps = 0
        self._heard: set[GameId] = set()
        """Since the last gap of the log."""

    def hear(self, stored: Iterable[StoredMove], gaps: int) -> None:
        """Note which games go on behind so many gaps of the log."""
        if gaps > self._gaps:
            self._gaps, self._heard = gaps, set()
        self._heard.update(move.game_id for move in stored)

    def add(self, stored: Iterable[StoredMove]) -> None:
        """Add moves in the order in which they were stored."""
        plies, chosen, ahead, moves = self._plies, self._chosen, self._ahead, self.of_game
        for move in stored:
            ply = plies.get(move.game_id)
            if ply is not None and move.is_anew:
                plies[move.game_id] = self._opening_plies[move.game_id]
                moves[move.game_id] = []
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

    def short(self, problem: LogProblem | None) -> set[GameId]:
        """The games that have lost moves, or may have, by what is wrong with the log.

        A game that goes on behind what is lost, without a move missing, has lost none.
        """
        short = {game_id for game_id, ply in self._ahead.items() if ply >= self._plies[game_id]}
        if problem is not None:
            is_in_the_middle = self._gaps and not problem.is_at_the_end
            short |= self._plies.keys() - (self._heard if is_in_the_middle else set())
        return short
