"""When each version of a bot has passed the doctor."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the step: no version before it was examined."""
    op.add_column("bot_version", sa.Column("doctor_time", sa.DateTime()))
