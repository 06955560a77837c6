"""The journal by its name: the table of the group commits was called ``flush``."""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the step. PostgreSQL names the primary key after the table that it was made with."""
    op.rename_table("flush", "journal")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER INDEX flush_pkey RENAME TO journal_pkey")
