"""Programs of bots, their logs, their use of processors by days, and their quotas."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

_INT64 = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_QUOTAS = {
    "program_quota": sa.Integer(),
    "program_bytes_quota": sa.BigInteger(),
    "program_cpu_quota": sa.Integer(),
}
_OPEN = sa.text("state IN ('uploaded', 'checking')")


def upgrade() -> None:
    """Make the tables; no bot has a program yet."""
    op.create_table(
        "program",
        sa.Column("id", _INT64, nullable=False),
        sa.Column("bot_id", _INT64, nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("size", _INT64, nullable=False),
        sa.Column("file_name", sa.String(100), nullable=False),
        sa.Column("label", sa.String(40), nullable=False),
        sa.Column("uploader", sa.String(60), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("update_time", sa.DateTime(), nullable=False),
        sa.Column("reason", sa.String(200), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.Column("hello", sa.JSON(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("lease_time", sa.DateTime(), nullable=True),
        sa.Column("starts", sa.Integer(), nullable=False),
        sa.Column("cpu_ms", _INT64, nullable=False),
        sa.Column("memory_bytes", _INT64, nullable=False),
        sa.Column("output_bytes", _INT64, nullable=False),
        sa.Column("limit_hit", sa.String(100), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("program_once", "program", ["bot_id", "digest"], unique=True)
    op.create_index("program_digest", "program", ["digest"])
    op.create_index(
        "program_open",
        "program",
        ["update_time", "id"],
        sqlite_where=_OPEN,
        postgresql_where=_OPEN,
    )
    op.create_table(
        "program_log",
        sa.Column("program_id", _INT64, nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("is_cut", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["program_id"], ["program.id"]),
        sa.PrimaryKeyConstraint("program_id"),
    )
    op.create_table(
        "program_day",
        sa.Column("program_id", _INT64, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("cpu_ms", _INT64, nullable=False),
        sa.ForeignKeyConstraint(["program_id"], ["program.id"]),
        sa.PrimaryKeyConstraint("program_id", "day"),
    )
    op.add_column("bot", sa.Column("program_id", _INT64, nullable=True))
    for table in ("bot_version", "class"):
        hosted: sa.Column[bool] = sa.Column(
            "is_hosted", sa.Boolean(), nullable=False, server_default=sa.false()
        )
        op.add_column(table, hosted)
    for name, kind in _QUOTAS.items():
        op.add_column("owner", sa.Column(name, kind, nullable=True))


def downgrade() -> None:
    """Drop them, with what is known of programs; their bytes stay."""
    for name in _QUOTAS:
        op.drop_column("owner", name)
    op.drop_column("class", "is_hosted")
    op.drop_column("bot_version", "is_hosted")
    op.drop_column("bot", "program_id")
    for table in ("program_day", "program_log", "program"):
        op.drop_table(table)
