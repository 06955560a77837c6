"""Several decisions of an opening, where there was one choice of a side."""

import struct

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

_DECISION = struct.Struct("<HHQQ")
_CODES = {1: 0xFFFE, 2: 0xFFFF}
"""Of a side that is chosen, which was stored as its colour."""

_GAME = sa.table("game", sa.column("id"), sa.column("decisions", sa.LargeBinary()))


def upgrade() -> None:
    """Rename the column, and write the codes of the journal for the colours."""
    op.execute("ALTER TABLE game RENAME COLUMN choice TO decisions")
    games = op.get_bind()
    query = sa.select(_GAME.c.id, _GAME.c.decisions).where(_GAME.c.decisions.is_not(None))
    for game_id, choice in games.execute(query).all():
        ply, color, raw_ns, charged_ns = _DECISION.unpack(choice)
        decisions = _DECISION.pack(ply, _CODES[color], raw_ns, charged_ns)
        games.execute(_GAME.update().where(_GAME.c.id == game_id).values(decisions=decisions))
