"""Repeats that ended in another way than the first, or before anything was played, are none.

And tests leave out games that repeat earlier ones of theirs, mirror images too. Those that are
over stay as they were judged.
"""

import hashlib
import re
import struct
from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

_Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply the step. Ladders are computed anew by this release in any case."""
    _mark_repeats()
    op.add_column("game", sa.Column("symmetric_fingerprint", _Id, nullable=True))
    _fill_running_tests()


def _mark_repeats() -> None:
    op.execute(
        "UPDATE game SET is_repeat = length(moves) > 2 * opening_plies AND EXISTS"
        " (SELECT 1 FROM game AS earlier"
        " WHERE earlier.ladder_id = game.ladder_id AND earlier.fingerprint = game.fingerprint"
        " AND earlier.state = 'finished' AND earlier.end_sequence < game.end_sequence"
        " AND earlier.black_id = game.black_id AND earlier.white_id = game.white_id"
        " AND earlier.opening_plies = game.opening_plies AND earlier.moves = game.moves"
        " AND earlier.result = game.result AND earlier.ending = game.ending"
        " AND earlier.at_fault = game.at_fault)"
        " WHERE state = 'finished' AND is_repeat"
    )


def _fill_running_tests() -> None:
    connection = op.get_bind()
    games = sa.text(
        "SELECT game.id, tournament.variant, black_id, white_id, opening_plies, moves,"
        " result || ' ' || ending || ' ' || at_fault"
        " FROM game JOIN tournament ON tournament.id = game.tournament_id"
        " WHERE tournament.format = 'sprt' AND tournament.state <> 'finished'"
        " AND game.state = 'finished' AND length(moves) > 2 * opening_plies"
    ).execution_options(yield_per=10_000)
    rows = [
        {"key": key, "value": _fingerprint(variant, players, bytes(moves), end)}
        for key, variant, *players, moves, end in connection.execute(games)
    ]
    if rows:
        change = sa.text("UPDATE game SET symmetric_fingerprint = :value WHERE id = :key")
        connection.execute(change, rows)


def _fingerprint(variant: str, players: Sequence[int], moves: bytes, end: str) -> int:
    """The hash of a game and its images as it was defined at this step."""
    size = re.search(r"(\d+)x(\d+)", variant)
    assert size is not None
    cells = [cell for (cell,) in struct.iter_unpack("<H", moves)]
    images = _images(cells, int(size[1]), int(size[2]))
    game = struct.pack("<QQH", *players) + struct.pack(f"<{len(cells)}H", *min(images))
    digest = hashlib.blake2b(game + end.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _images(cells: Sequence[int], width: int, height: int) -> list[list[int]]:
    places = [divmod(cell, width) for cell in cells]
    images = [
        [
            (height - 1 - row if down else row, width - 1 - column if right else column)
            for row, column in places
        ]
        for down in (False, True)
        for right in (False, True)
    ]
    if width == height:
        images += [[(column, row) for row, column in image] for image in images]
    return [[row * width + column for row, column in image] for image in images]
