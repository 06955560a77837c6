"""The log of moves and its database know each other."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply the step: no log belongs to a database yet."""
    for name in ("database_id", "log_link"):
        op.add_column("claim", sa.Column(name, sa.String(32), nullable=False, server_default=""))
    op.add_column("claim", sa.Column("log_id", sa.String(32), nullable=True))
    for name in ("log_epoch", "log_entry"):
        op.add_column("claim", sa.Column(name, _ID, nullable=False, server_default="0"))
    drawn = sa.text("UPDATE claim SET database_id = :drawn")
    op.execute(drawn.bindparams(drawn=secrets.token_hex(16)))
