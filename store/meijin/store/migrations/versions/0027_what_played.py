"""What played a game: its release and hardware, and the pair that it is of."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; of earlier games nobody knows what they hold."""
    op.add_column("pairing", sa.Column("pair", sa.Integer(), server_default="0", nullable=False))
    for name, length in (("release", 40), ("black_hardware", 80), ("white_hardware", 80)):
        kind = sa.String(length=length)
        op.add_column("game", sa.Column(name, kind, server_default="", nullable=False))


def downgrade() -> None:
    """Drop them."""
    for name in ("release", "black_hardware", "white_hardware"):
        op.drop_column("game", name)
    op.drop_column("pairing", "pair")
