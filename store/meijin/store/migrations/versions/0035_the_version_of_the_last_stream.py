"""The version that a bot was there with last, which need not be its newest."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; until a bot is there again its newest version stands for it."""
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.add_column("bot", sa.Column("version_id", kind, nullable=True))


def downgrade() -> None:
    """Drop it."""
    op.drop_column("bot", "version_id")
