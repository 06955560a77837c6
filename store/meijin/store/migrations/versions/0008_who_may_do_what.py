"""Who may do what: owners' tokens, invitations, bots that may not play, and the audit log."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_WORD = sa.String(length=20)


def upgrade() -> None:
    """Apply the step: the operators' tokens that are there keep working."""
    op.add_column("owner", sa.Column("quota", sa.Integer(), nullable=True))
    _extend_bots()
    _extend_tokens()
    _add_invitations()
    _add_audit()


def _extend_bots() -> None:
    with op.batch_alter_table("bot") as bot:
        bot.add_column(sa.Column("state", _WORD, nullable=False, server_default="active"))
        bot.add_column(sa.Column("reason", sa.String(200), nullable=False, server_default=""))
        bot.add_column(
            sa.Column("is_hidden", sa.Boolean(), nullable=False, server_default=sa.false())
        )
        bot.add_column(sa.Column("former_names", sa.JSON(), nullable=False, server_default="[]"))
    with op.batch_alter_table("bot") as bot:
        for name, kind in (
            ("state", _WORD),
            ("reason", sa.String(200)),
            ("is_hidden", sa.Boolean()),
            ("former_names", sa.JSON()),
        ):
            bot.alter_column(name, existing_type=kind, server_default=None)


def _extend_tokens() -> None:
    with op.batch_alter_table("token") as token:
        token.add_column(sa.Column("owner_id", _ID, nullable=True))
        token.add_column(sa.Column("label", sa.String(60), nullable=False, server_default=""))
        token.add_column(sa.Column("creator", sa.String(60), nullable=False, server_default=""))
        token.add_column(sa.Column("expire_time", sa.DateTime(), nullable=True))
        token.add_column(sa.Column("use_time", sa.DateTime(), nullable=True))
        token.create_foreign_key("token_owner", "owner", ["owner_id"], ["id"])
        token.create_index("ix_token_owner_id", ["owner_id"])
    with op.batch_alter_table("token") as token:
        for name in ("label", "creator"):
            token.alter_column(name, existing_type=sa.String(60), server_default=None)
    op.execute("UPDATE token SET kind = 'operator' WHERE kind = 'admin'")


def _add_invitations() -> None:
    op.create_table(
        "invitation",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("suffix", sa.String(6), nullable=False),
        sa.Column("uses_left", sa.Integer(), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("creator", sa.String(60), nullable=False),
        sa.Column("expire_time", sa.DateTime(), nullable=False),
        sa.Column("quota", sa.Integer(), nullable=True),
        sa.Column("revoke_time", sa.DateTime(), nullable=True),
    )


def _add_audit() -> None:
    op.create_table(
        "audit",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("time", sa.DateTime(), nullable=False),
        sa.Column("token_id", _ID, nullable=True),
        sa.Column("kind", _WORD, nullable=False),
        sa.Column("actor", sa.String(60), nullable=False),
        sa.Column("method", sa.String(100), nullable=False),
        sa.Column("action", sa.String(40), nullable=False),
        sa.Column("subject", sa.String(140), nullable=False),
        sa.Column("before", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("after", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("peer", sa.String(200), nullable=False),
        sa.Column("request_id", sa.String(64), nullable=False),
    )
    op.create_index("ix_audit_subject", "audit", ["subject"])
