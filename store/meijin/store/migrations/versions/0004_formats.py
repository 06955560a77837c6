"""Settings of any format, and planned games with a clock of their own."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the step: games that are there have their tournament's clock."""
    op.execute("ALTER TABLE tournament RENAME COLUMN stopping TO options")
    op.add_column("pairing", sa.Column("time_control", sa.String(length=60), nullable=True))
