"""Verification: a database and its log of moves are read through, with a server or without one."""

import sqlite3
from dataclasses import dataclass

from meijin.game import (
    Board,
    GamePosition,
    IllegalActionError,
    IllegalMoveError,
    decode_moves,
)
from meijin.store.backup import cut_restores, damage_of
from meijin.store.database import Database
from meijin.store.games import GameRow
from meijin.store.move_log.segment import log_folder
from meijin.store.running_games import RunningGames, read_running_games


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found."""

    running: RunningGames | None
    """What is stored of the running games; ``None`` where the database can't be read."""
    failures: tuple[str, ...]
    """What is missing of what was acknowledged, or may be; empty where all is there."""

    @property
    def moves(self) -> int:
        return 0 if self.running is None else sum(map(len, self.running.moves.values()))


def verify(database: Database) -> Verification:
    """Read everything through that a start reads, and change nothing.

    Raises:
        UnknownSchemaError: the tables are of another release.
    """
    folder = None
    if database.file is not None and database.file.exists():
        folder = log_folder(database.file.resolve())
        damage = _damage(database)
        if damage:
            return Verification(None, (damage,))
    database.check_schema()
    running = database.read(read_running_games, folder)
    failures = [] if running.problem is None else [str(running.problem)]
    if running.problem is None and not running.is_proven:
        failures.append("the log of moves has lost its head, and with it the proof of its end")
    misfits = ((row.id, _misfit(row, running)) for row in running.rows)
    failures += [f"game {game} can't be replayed: {why}" for game, why in misfits if why]
    if running.problem is None:
        failures += [f"moves of game {game_id} are missing" for game_id in sorted(running.short)]
    return Verification(running, tuple(failures))


def _damage(database: Database) -> str | None:
    file = database.file
    assert file is not None
    if cut_restores(file):
        return (
            f"a restore of {file} was cut off; start the server, which undoes it, or run it again"
        )
    try:
        damage = damage_of(file)
    except sqlite3.DatabaseError as error:
        damage = str(error)
    return None if damage is None else f"the database {file} is damaged ({damage})"


def _misfit(row: GameRow, running: RunningGames) -> str | None:
    """Why a game's moves can't have been played."""
    board = Board.from_moves(decode_moves(row.moves), row.variant)
    position = GamePosition(board)
    try:
        for code, _, _ in running.moves.get(row.id, []):
            if position.task is None:
                board.play(code)
            else:
                position.replay(code)
    except (IllegalActionError, IllegalMoveError) as error:
        return str(error)
    return None
