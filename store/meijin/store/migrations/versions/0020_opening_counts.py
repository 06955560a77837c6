"""The moves of the first plies, counted by position."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply the step: nothing is counted yet, and the worker begins with the first game."""
    op.create_table(
        "opening_move",
        sa.Column("position", _ID, primary_key=True, autoincrement=False),
        sa.Column("cell", sa.SmallInteger(), primary_key=True, autoincrement=False),
        sa.Column("band", sa.SmallInteger(), primary_key=True, autoincrement=False),
        sa.Column("black_wins", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("white_wins", sa.Integer(), nullable=False),
        sa.Column("game_id", _ID, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "opening_game",
        sa.Column("game_id", _ID, sa.ForeignKey("game.id"), primary_key=True, autoincrement=False),
        sa.Column("band", sa.SmallInteger(), nullable=False),
        sa.Column("result", sa.String(20), nullable=False),
    )
    op.create_table(
        "opening_cursor",
        sa.Column("ladder_id", _ID, primary_key=True, autoincrement=False),
        sa.Column("end_sequence", _ID, nullable=False),
        sa.Column("games", _ID, nullable=False),
    )
    op.create_table(
        "opening_recheck",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("game_id", _ID, sa.ForeignKey("game.id"), nullable=False),
    )
