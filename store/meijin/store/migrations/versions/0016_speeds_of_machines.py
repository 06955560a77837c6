"""How fast the reference search is on the machines of bots, as they say."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the step: nobody has said it so far."""
    op.add_column(
        "bot_version",
        sa.Column("nodes_per_second", sa.BigInteger(), nullable=False, server_default="0"),
    )
