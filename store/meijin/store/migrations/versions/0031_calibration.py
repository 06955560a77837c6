"""What the games of each day came to, by what ratings had foretold."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None


_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table; the next look at a ladder's history fills it."""
    op.create_table(
        "calibration_day",
        sa.Column("ladder_id", _ID, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("bin", sa.Integer(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("expected", sa.Double(), nullable=False),
        sa.Column("points", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"]),
        sa.PrimaryKeyConstraint("ladder_id", "day", "bin"),
    )


def downgrade() -> None:
    """Drop it."""
    op.drop_table("calibration_day")
