"""Games counted by the positions of their first moves, many at once."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from meijin.game import Result, Variant, decode_moves
from meijin.game.board.canonical_position import zobrist_keys
from meijin.game.board.symmetry import symmetries
from meijin.store.openings.counting import MoveCount
from meijin.store.openings.games_to_count import DEPTH, EndedGame
from meijin.store.schema import GAME_ENDED, BotVersionId, StrengthBand

Integers: TypeAlias = NDArray[np.int64]
Moves: TypeAlias = NDArray[np.int64]
"""Cells, shape (games, `DEPTH` + 1); `GAME_ENDED` from a game's end on."""

LOWEST = 1200
"""The first rating of the second band; the next bands begin `WIDTH` further each."""
WIDTH = 200
_RESULTS = (Result.BLACK_WINS, Result.DRAW, Result.WHITE_WINS)


def band_of(game: EndedGame, elo: Mapping[BotVersionId, float]) -> StrengthBand:
    """The band of the mean of its players' ratings."""
    black, white = elo.get(game.black_id), elo.get(game.white_id)
    if black is None or white is None:
        return StrengthBand.UNRATED
    place = int(((black + white) / 2 - LOWEST) // WIDTH) + StrengthBand.FROM_1200
    return StrengthBand(min(max(place, StrengthBand.BELOW_1200), StrengthBand.FROM_1800))


def count_moves(games: Sequence[tuple[EndedGame, StrengthBand]]) -> list[MoveCount]:
    """What games add to the counts; sorted by position, cell and band."""

    def variant_of(each: tuple[EndedGame, StrengthBand]) -> str:
        return str(each[0].variant)

    found: list[MoveCount] = []
    for _, group in groupby(sorted(games, key=variant_of), key=variant_of):
        found += _count(list(group))
    return sorted(found)


def _count(games: Sequence[tuple[EndedGame, StrengthBand]]) -> list[MoveCount]:
    """The same of games of one variant."""
    variant = games[0][0].variant
    moves = np.array([_cells(game.moves, variant) for game, _ in games])
    positions, cells = _canonical(moves, variant)
    # A game's positions end with its last stone: there its own end stands for the move.
    plies = np.arange(moves.shape[1])
    lengths = (moves != GAME_ENDED).sum(axis=1)
    game, ply = np.nonzero(plies <= lengths[:, None])
    bands = np.array([band.value for _, band in games])
    points = np.array([_RESULTS.index(each.result) for each, _ in games])
    ids = np.array([each.id for each, _ in games])
    keys = np.stack([positions[game, ply], cells[game, ply], bands[game]], axis=1)
    unique, where = np.unique(keys, axis=0, return_inverse=True)
    results = np.zeros((len(unique), len(_RESULTS)), dtype=np.int64)
    np.add.at(results, (where, points[game]), 1)
    last = np.zeros(len(unique), dtype=np.int64)
    last[where] = ids[game]  # the last of equal places prevails
    rows = np.concatenate([unique, results, last[:, None]], axis=1)
    return [MoveCount(*row) for row in rows.tolist()]


def _cells(data: bytes, variant: Variant) -> list[int]:
    """A row of `Moves`; a game ends here at a cell that is not on the board."""
    cells = list(decode_moves(data))[: DEPTH + 1]
    off = (ply for ply, cell in enumerate(cells) if cell >= variant.cells)
    kept = cells[: next(off, len(cells))]
    return kept + [GAME_ENDED] * (DEPTH + 1 - len(kept))


def _canonical(moves: Moves, variant: Variant) -> tuple[Integers, Integers]:
    """The key of the position before each move, and the move's cell in the canonical image."""
    images, empty, stones = _tables(variant)
    games, plies = moves.shape
    hashes = np.empty((len(images), games, plies), dtype=np.int64)
    placed = images[:, moves]
    hashes[:, :, 0] = empty
    for ply in range(plies - 1):
        hashes[:, :, ply + 1] = hashes[:, :, ply] ^ stones[ply % 2][placed[:, :, ply]]
    least = hashes.min(axis=0)
    cells = np.where(hashes == least, placed, np.iinfo(np.int64).max).min(axis=0)
    return least, cells


@lru_cache(maxsize=16)
def _tables(variant: Variant) -> tuple[Integers, np.int64, tuple[Integers, Integers]]:
    """The images of all cells, and the Zobrist keys; the last of each stands for no cell."""
    keys = zobrist_keys(variant)
    images = np.array([[*image, GAME_ENDED] for image in symmetries(variant)], dtype=np.int64)
    black, white = (np.array([*each, 0], dtype=np.int64) for each in keys.stones)
    return images, np.int64(keys.empty), (black, white)
