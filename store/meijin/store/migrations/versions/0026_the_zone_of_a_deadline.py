"""Keep the zone in which the deadline of a class was set."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("class", sa.Column("deadline_offset_minutes", sa.Integer(), nullable=True))
