"""Ladders that are settled, and the final runs that say so."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply the step."""
    op.add_column("ladder", sa.Column("settled_by", _ID))
    op.add_column(
        "ladder",
        sa.Column("settled_revision", _ID, nullable=False, server_default="0"),
    )
    op.add_column("rating_run", sa.Column("final_of", _ID))
