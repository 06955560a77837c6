"""The threads and the memory that versions were told to use, also when a game began."""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

_COLUMNS = (
    ("bot_version", "threads", sa.Integer()),
    ("bot_version", "memory_bytes", sa.BigInteger()),
    ("game", "black_threads", sa.Integer()),
    ("game", "white_threads", sa.Integer()),
    ("game", "black_memory_bytes", sa.BigInteger()),
    ("game", "white_memory_bytes", sa.BigInteger()),
)


def upgrade() -> None:
    """Add the columns; what is stored says nothing of them."""
    for table, name, kind in _COLUMNS:
        op.add_column(table, sa.Column(name, kind, nullable=True))


def downgrade() -> None:
    """Drop them."""
    for table, name, _ in _COLUMNS:
        op.drop_column(table, name)
