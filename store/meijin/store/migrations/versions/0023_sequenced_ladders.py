"""Ladders know where their log ends: what has ended so far is in it.

A run is final for a tournament that settled its ladder when it has the last game of that time.
"""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply the step."""
    for name in ("sequenced", "settled_sequence"):
        op.add_column("ladder", sa.Column(name, _ID, nullable=False, server_default="0"))
    op.execute(
        "UPDATE ladder SET sequenced = coalesce((SELECT max(end_sequence) FROM game"
        " WHERE ladder_id = ladder.id), 0)"
    )
    op.execute("UPDATE ladder SET settled_sequence = sequenced WHERE settled_by IS NOT NULL")
