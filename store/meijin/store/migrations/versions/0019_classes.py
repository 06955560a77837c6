"""Classes with their deadlines, and what people call bots."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply the step: no bot is called anything but its name, and none is in a class."""
    op.add_column(
        "bot", sa.Column("display_name", sa.String(60), nullable=False, server_default="")
    )
    op.create_table(
        "class",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("name", sa.String(40), nullable=False, unique=True),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("deadline", sa.DateTime(), nullable=True),
    )
    op.create_table(
        "class_member",
        sa.Column("bot_id", _ID, sa.ForeignKey("bot.id"), primary_key=True),
        sa.Column("class_id", _ID, sa.ForeignKey("class.id"), nullable=False),
        sa.Column("student_id", sa.String(60), nullable=False),
        sa.Column("version_id", _ID, sa.ForeignKey("bot_version.id"), nullable=True),
        sa.Column("late_attempts", sa.Integer(), nullable=False),
        sa.Column("late_time", sa.DateTime(), nullable=True),
    )
    op.create_index("ix_class_member_class_id", "class_member", ["class_id"])
