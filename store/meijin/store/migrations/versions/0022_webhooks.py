"""Webhooks with their deliveries, and the order in which tournaments ended."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply the step: nobody is told of tournaments that ended before it."""
    op.add_column("tournament", sa.Column("end_sequence", _ID))
    op.create_index("tournament_end", "tournament", ["end_sequence"])
    op.create_table(
        "webhook",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("url", sa.String(2000), nullable=False),
        sa.Column("format", sa.String(20), nullable=False),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("secret", sa.String(100), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("owner_id", _ID, sa.ForeignKey("owner.id")),
        sa.Column("bot_id", _ID, sa.ForeignKey("bot.id")),
        sa.Column("tournament_id", _ID, sa.ForeignKey("tournament.id")),
        sa.Column("ladder_id", _ID, sa.ForeignKey("ladder.id")),
        sa.Column("old_secret", sa.String(100), nullable=False, server_default=""),
        sa.Column("old_secret_end", sa.DateTime()),
        sa.Column("failures", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("failing_since", sa.DateTime()),
        sa.Column("hold_time", sa.DateTime()),
        sa.Column("disable_reason", sa.String(200), nullable=False, server_default=""),
    )
    op.create_index("ix_webhook_owner_id", "webhook", ["owner_id"])
    op.create_table(
        "webhook_cursor",
        sa.Column("webhook_id", _ID, sa.ForeignKey("webhook.id"), primary_key=True),
        sa.Column("source", sa.String(20), primary_key=True),
        sa.Column("subject_id", _ID, primary_key=True),
        sa.Column("position", _ID, nullable=False),
    )
    op.create_table(
        "webhook_delivery",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("webhook_id", _ID, sa.ForeignKey("webhook.id"), nullable=False),
        sa.Column("message_id", sa.String(40), nullable=False),
        sa.Column("event", sa.String(20), nullable=False),
        sa.Column("subject_id", _ID, nullable=False),
        sa.Column("event_time", sa.DateTime(), nullable=False),
        sa.Column("next_time", sa.DateTime()),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("last_time", sa.DateTime()),
        sa.Column("http_status", sa.Integer()),
        sa.Column("detail", sa.String(200), nullable=False),
    )
    op.create_index("webhook_delivery_of", "webhook_delivery", ["webhook_id", "id"])
    op.create_index(
        "webhook_delivery_due", "webhook_delivery", ["state", "webhook_id", "next_time"]
    )
