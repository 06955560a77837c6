"""The choice of a side that an opening may have, and games whose players exchanged colours."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the step: in the games before it nobody has chosen."""
    op.add_column("game", sa.Column("choice", sa.LargeBinary()))
    op.add_column(
        "game", sa.Column("is_swapped", sa.Boolean(), nullable=False, server_default=sa.false())
    )
