"""What speaks against the fit of a run; nothing is said of those before."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the step."""
    op.add_column("rating_run", sa.Column("diagnosis", sa.JSON(), nullable=True))
    for flag in ("depends_on_opponents", "changes_over_time"):
        op.add_column(
            "rating", sa.Column(flag, sa.Boolean(), nullable=False, server_default=sa.false())
        )
