"""Ladders that are settled, and the final runs that say so."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the step."""
    op.add_column("ladder", sa.Column("settled_by", sa.Integer()))
    op.add_column(
        "ladder",
        sa.Column("settled_revision", sa.BigInteger(), nullable=False, server_default="0"),
    )
    op.add_column("rating_run", sa.Column("final_of", sa.Integer()))
