"""Indexes for a bot's faults of one kind, which each hello asks for, and for an owner's bots."""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the step."""
    op.drop_index("ix_fault_version_id", "fault")
    op.create_index("fault_of_version", "fault", ["version_id", "kind", "id"])
    op.create_index("ix_bot_owner_id", "bot", ["owner_id"])
