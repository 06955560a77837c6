"""Challenges, and whose of them a bot accepts."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply the step: bots accept the challenges of owners, and there are none yet."""
    op.add_column(
        "bot", sa.Column("challenges", sa.String(20), nullable=False, server_default="owners")
    )
    op.create_table(
        "challenge",
        sa.Column("tournament_id", _ID, sa.ForeignKey("tournament.id"), primary_key=True),
        sa.Column("challenger_id", _ID, sa.ForeignKey("bot.id"), nullable=False),
        sa.Column("opponent_id", _ID, sa.ForeignKey("bot.id"), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("colors", sa.String(20), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("owner_id", _ID, sa.ForeignKey("owner.id"), nullable=True),
    )
    no_challenge = sa.text("format <> 'challenge'")
    op.create_index(
        "tournament_no_challenge",
        "tournament",
        ["id"],
        sqlite_where=no_challenge,
        postgresql_where=no_challenge,
    )
    op.create_index("challenge_of_owner", "challenge", ["owner_id", "tournament_id"])
    op.create_index("challenge_of_challenger", "challenge", ["challenger_id", "tournament_id"])
