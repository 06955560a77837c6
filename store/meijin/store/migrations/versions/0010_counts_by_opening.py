"""Games by their openings."""

import hashlib

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_BATCH = 10_000
"""Games whose openings are read at once."""


def upgrade() -> None:
    """Apply the step."""
    op.add_column("game", sa.Column("opening", _ID, nullable=False, server_default="0"))
    _fill_openings()
    with op.batch_alter_table("game") as game:
        game.alter_column("opening", existing_type=_ID, server_default=None)


def _fill_openings() -> None:
    connection = op.get_bind()
    games = sa.text(
        "SELECT id, opening_plies, moves FROM game WHERE id > :last ORDER BY id LIMIT :batch"
    )
    change = sa.text("UPDATE game SET opening = :value WHERE id = :key")
    last = -1
    while rows := connection.execute(games, {"last": last, "batch": _BATCH}).all():
        values = [
            {"key": key, "value": _opening(bytes(moves[: 2 * plies]))} for key, plies, moves in rows
        ]
        connection.execute(change, values)
        last = rows[-1].id


def _opening(cells: bytes) -> int:
    """The hash of an opening as it was defined at this step."""
    digest = hashlib.blake2b(cells, digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)
