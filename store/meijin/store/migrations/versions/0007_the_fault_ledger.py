"""The fault ledger: what went wrong, whose fault it was, and incidents in games that went on."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_WORD = sa.String(length=20)


def upgrade() -> None:
    """Apply the step: every fault so far ended a game."""
    op.execute("DELETE FROM fault WHERE party = 'nobody'")
    with op.batch_alter_table("fault") as fault:
        fault.add_column(sa.Column("kind", _WORD, nullable=False, server_default=""))
        fault.add_column(
            sa.Column("detail", sa.String(length=600), nullable=False, server_default="")
        )
        fault.add_column(sa.Column("ply", sa.Integer(), nullable=True))
        fault.alter_column("game_id", existing_type=_ID, nullable=True)
        fault.alter_column("ending", existing_type=_WORD, nullable=True)
    op.execute(
        "UPDATE fault SET detail ="
        " (SELECT substr(game.detail, 1, 600) FROM game WHERE game.id = fault.game_id)"
    )
    op.execute(
        "UPDATE fault SET kind = CASE"
        " WHEN ending <> 'void' THEN ending"
        " WHEN party = 'operator' THEN 'voided'"
        " WHEN party = 'network' THEN 'mass_disconnect'"
        " ELSE 'outage' END"
    )
    op.execute(
        "UPDATE fault SET party = CASE WHEN ending = 'disconnect' THEN 'connection' ELSE 'bot' END"
        " WHERE party IN ('black', 'white')"
    )
    with op.batch_alter_table("fault") as fault:
        fault.alter_column("kind", existing_type=_WORD, server_default=None)
        fault.alter_column("detail", existing_type=sa.String(length=600), server_default=None)
