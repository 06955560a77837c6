"""Tournaments know the owner who has made them: those that are there already are the operators'."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the step."""
    # In SQL: Alembic adds a foreign key on SQLite by copying the whole table.
    kind = "INTEGER" if op.get_bind().dialect.name == "sqlite" else "BIGINT"
    op.execute(f"ALTER TABLE tournament ADD COLUMN owner_id {kind} REFERENCES owner (id)")
    has_owner = sa.text("owner_id IS NOT NULL")
    op.create_index(
        "tournament_of_owner",
        "tournament",
        ["owner_id", "id"],
        sqlite_where=has_owner,
        postgresql_where=has_owner,
    )
