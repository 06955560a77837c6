"""The fence: who has claimed the database, and whose entry of the journal is whose."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the step: entries that are there belong to no claim."""
    claim = op.create_table(
        "claim",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("epoch", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("holder", sa.String(length=200), nullable=False),
        sa.Column("time", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.bulk_insert(claim, [{"id": 0, "epoch": 0, "holder": "", "time": None}])
    if op.get_bind().dialect.name == "sqlite":
        _rebuild_journal()
    else:
        op.execute("ALTER TABLE journal ADD COLUMN epoch BIGINT NOT NULL DEFAULT 0")
        op.execute("ALTER TABLE journal ALTER COLUMN epoch DROP DEFAULT")
        op.execute("ALTER TABLE journal DROP CONSTRAINT journal_pkey")
        op.execute("ALTER TABLE journal ADD PRIMARY KEY (epoch, id)")


def _rebuild_journal() -> None:
    """SQLite can't change a primary key."""
    op.rename_table("journal", "old_journal")
    op.create_table(
        "journal",
        sa.Column("epoch", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("moves", sa.LargeBinary(), nullable=False),
        sa.Column("analysis", sa.JSON(), nullable=True),
        sa.PrimaryKeyConstraint("epoch", "id"),
    )
    op.execute(
        "INSERT INTO journal (epoch, id, moves, analysis) "
        "SELECT 0, id, moves, analysis FROM old_journal"
    )
    op.drop_table("old_journal")
