"""What a fault has in common with others, by which the ledger is grouped."""

import re

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

BATCH = 2000
_EXCEPTION = re.compile(
    r"(?P<name>[A-Za-z_][\w.]*)(?::.*)? \((?P<file>[^()]+), line (?P<line>\d+)\)", re.DOTALL
)
_VARYING = re.compile(r"""\w*\d[\w.,:]*|"[^"]*"|'[^']*'""")
_FAULT = sa.table("fault", sa.column("id"), sa.column("detail"), sa.column("signature"))


def upgrade() -> None:
    """Add the column and its index, and fill it, a batch of rows after another."""
    empty = sa.Column("signature", sa.String(80), nullable=False, server_default="")
    op.add_column("fault", empty)
    faults, last = op.get_bind(), 0
    change = _FAULT.update().where(_FAULT.c.id == sa.bindparam("of"))
    while True:
        query = sa.select(_FAULT.c.id, _FAULT.c.detail).where(_FAULT.c.id > last)
        rows = faults.execute(query.order_by(_FAULT.c.id).limit(BATCH)).all()
        if not rows:
            break
        values = [{"of": key, "signature": _signature(detail)} for key, detail in rows]
        faults.execute(change, values)
        last = rows[-1][0]
    op.create_index("fault_signature", "fault", ["version_id", "kind", "signature", "id"])


def _signature(detail: str) -> str:
    found = _EXCEPTION.fullmatch(detail)
    common = "{name} {file}:{line}".format_map(found) if found else _VARYING.sub("…", detail)
    return common[:80]


def downgrade() -> None:
    """Drop both."""
    op.drop_index("fault_signature", "fault")
    op.drop_column("fault", "signature")
