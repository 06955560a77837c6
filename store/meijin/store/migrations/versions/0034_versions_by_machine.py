"""Versions of one digest on several machines, and how they were unlike what they said."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

_ONCE = "bot_version_bot_id_digest_key"
"""As PostgreSQL has named it; SQLite has no name for it."""


def upgrade() -> None:
    """A digest may come again; what is stored has always been what it says."""
    with op.batch_alter_table("bot_version", naming_convention={"uq": _ONCE}) as table:
        table.drop_constraint(_ONCE, type_="unique")
        table.add_column(sa.Column("deviation", sa.String(200), nullable=False, server_default=""))
    op.create_index("bot_version_digest", "bot_version", ["bot_id", "digest", "id"])


def downgrade() -> None:
    """Demand it once again, which fails where one has come on several machines."""
    op.drop_index("bot_version_digest", "bot_version")
    once = sa.UniqueConstraint("bot_id", "digest")
    with op.batch_alter_table("bot_version", table_args=(once,)) as table:
        table.drop_column("deviation")
    if op.get_bind().dialect.name == "postgresql":  # which makes no table anew
        op.create_unique_constraint(_ONCE, "bot_version", ["bot_id", "digest"])
