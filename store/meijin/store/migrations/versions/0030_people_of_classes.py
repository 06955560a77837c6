"""How many people of a class may play at once, and the key of the link by which they come."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; classes so far have no link."""
    op.add_column("class", sa.Column("people", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("class", sa.Column("play_key", sa.String(40), nullable=True))


def downgrade() -> None:
    """Drop them."""
    op.drop_column("class", "play_key")
    op.drop_column("class", "people")
