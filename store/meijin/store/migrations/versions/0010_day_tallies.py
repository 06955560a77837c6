"""Games by their openings, and the tallies that a ladder's runs go on from."""

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
    _count_games()
    _add_tallies()


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


def _count_games() -> None:
    op.add_column("ladder", sa.Column("games", _ID, nullable=False, server_default="0"))
    op.execute(
        "UPDATE ladder SET games = (SELECT count(*) FROM game"
        " WHERE ladder_id = ladder.id AND state = 'finished' AND NOT is_repeat)"
    )
    with op.batch_alter_table("ladder") as ladder:
        ladder.alter_column("games", existing_type=_ID, server_default=None)
        ladder.drop_column("history")


def _add_tallies() -> None:
    """Make room for tallies; the history is computed anew from them, by the first job."""
    op.execute("DELETE FROM rating_day")
    op.create_table(
        "day_tally",
        sa.Column("ladder_id", _ID, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("cutoff", _ID, nullable=False),
        sa.Column("chain", sa.LargeBinary(), nullable=False),
        sa.Column("games", _ID, nullable=False),
        sa.Column("repeats", _ID, nullable=False),
        sa.Column("rated_with", sa.String(64), nullable=True),
        sa.Column("versions", sa.LargeBinary(), nullable=False),
        sa.Column("counts", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"]),
        sa.PrimaryKeyConstraint("ladder_id", "day"),
    )
