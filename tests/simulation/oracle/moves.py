"""No acknowledged move is lost or doubled."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

from tests.simulation.oracle.books import GameRecord
from tests.simulation.oracle.clocks import check_charge
from tests.simulation.oracle.violation import require

from meijin.game import Color

COLORS = {0xFFFE: Color.BLACK, 0xFFFF: Color.WHITE}
"""What stands in place of a cell where a side is chosen."""
MOVE = struct.Struct("<QHHQQ")
"""A move in the journal: game, ply, cell, raw and charged nanoseconds."""
CHOICE = struct.Struct("<HHQQ")
"""A choice in the row of a game: ply, code, raw and charged nanoseconds."""
ANEW = 0xFFFD
"""What stands in place of a cell where all moves of a game follow."""

Move: TypeAlias = tuple[int, int, int, int, int]
"""Its fields."""


def split(stored: bytes) -> tuple[list[Move], list[Move]]:
    """The moves of an entry that are new, and then the marks and moves that are written anew."""
    made: list[Move] = list(MOVE.iter_unpack(stored))
    end = next((place for place, move in enumerate(made) if move[2] == ANEW), len(made))
    return made[:end], made[end:]


def check_anew(games: Mapping[int, GameRecord], anew: Iterable[Move]) -> None:
    """What is written anew is all that was committed in a running game, or with this entry."""
    written: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for game_id, ply, cell, _, _ in anew:
        written[game_id] += [] if cell == ANEW else [(ply, cell)]
    for game_id, made in written.items():
        game = games.get(game_id)
        if game is None:  # its start, of which the database is told, is not committed yet
            require(not made, f"game {game_id} has moves, and has not begun")
            continue
        require(game.state == "running", f"game {game_id}, which is {game.state}, is written anew")
        cells = memoryview(bytes(game.moves)).cast("H")
        stones = [(ply, cells[ply]) for ply in range(game.opening_plies, len(cells))]
        require([each for each in made if each[1] not in COLORS] == stones, f"{made} of {stones}")
        chosen = [(ply, COLORS[code]) for ply, code in made if code in COLORS]
        require(chosen == ([game.chosen] if game.chosen else []), f"{chosen} of {game.chosen}")


def add_move(
    game: GameRecord, ply: int, cell: int, raw_ns: int, charged_ns: int, *, now_ns: int
) -> None:
    """A stone or a choice is stored: it is the next one, and what its bot has sent."""
    where = f"game {game.id} ply {ply}"
    sent = game.sent[game.turn]
    require(ply == game.ply, f"{where} is stored when {game.ply} was to be")
    require(cell in sent, f"{where}: {cell} is stored, {sent} was sent")
    if _is_within_action(game):
        require(raw_ns == charged_ns == 0, f"{where}: a stone of an action has a time of its own")
    else:
        check_charge(game, raw_ns, charged_ns, now_ns=now_ns)
        game.charged_ns[game.seat_to_act].append(charged_ns)
    if cell in COLORS:
        require(game.task is not None and game.task.may_choose, f"{where}: no choice was asked for")
        game.chosen = ply, COLORS[cell]
        return
    game.moves += cell.to_bytes(2, "little")
    game.stone_ns.append(charged_ns)


def add_choice(game: GameRecord, stored: bytes, *, now_ns: int) -> None:
    ply, code, raw_ns, charged_ns = CHOICE.unpack(stored)
    add_move(game, ply, code, raw_ns, charged_ns, now_ns=now_ns)


def check_late(game: GameRecord, ply: int, cell: int) -> None:
    """A stone or a choice is stored of a game that has ended with it."""
    if cell in COLORS:
        is_known = game.chosen == (ply, COLORS[cell])
    else:
        is_known = game.moves[2 * ply : 2 * ply + 2] == cell.to_bytes(2, "little")
    require(is_known, f"game {game.id}: {cell} is stored at ply {ply}, and its record has another")


def _is_within_action(game: GameRecord) -> bool:
    """Whether the next stone belongs to the action of the one before."""
    return game.task is not None and not game.task.may_choose and game.ply > 0


def check_record(game: GameRecord, moves: bytes) -> None:
    """The record of a game that has ended holds the moves that were committed."""
    require(moves == game.moves, f"game {game.id} is stored as {moves!r}, not {game.moves!r}")


class Left(NamedTuple):
    """What a journal holds of a game."""

    stones: bytearray
    """Those after the opening."""
    choices: set[Color]


def left_in(games: Iterable[GameRecord], journal: Iterable[bytes]) -> Mapping[int, Left]:
    first_plies = {game.id: game.opening_plies for game in games if game.state == "running"}
    left = {game_id: Left(bytearray(), set()) for game_id in first_plies}
    for moves in journal:
        for game_id, ply, cell, _, _ in MOVE.iter_unpack(moves):
            if game_id not in left:
                continue
            stones, choices = left[game_id]
            if cell == ANEW:
                stones.clear()
                choices.clear()
            elif cell in COLORS:
                choices.add(COLORS[cell])
            elif ply == first_plies[game_id] + len(stones) // 2:
                stones += cell.to_bytes(2, "little")  # one that is stored twice counts once
    return left


def is_beyond(game: GameRecord, left: Left) -> bool:
    """Whether more was committed of a game than is left."""
    return game.ply > game.opening_plies + len(left.stones) // 2 or (
        game.chosen is not None and not left.choices
    )


def check_journal(games: Iterable[GameRecord], journal: Iterable[bytes]) -> None:
    """All committed moves of running games are still there."""
    running = {game.id: game for game in games if game.state == "running"}
    for game_id, left in left_in(running.values(), journal).items():
        made = running[game_id].moves[2 * running[game_id].opening_plies :]
        require(left.stones == made, f"game {game_id}: {left.stones!r} is left of {made!r}")
