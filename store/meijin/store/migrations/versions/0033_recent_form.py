"""Recent form, bounds of who has won or lost every game, and changes of strength."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

_ELO = ("form", "form_margin", "bound")
_GAMES = ("form_games", "changed_games")


def upgrade() -> None:
    """Add the columns; runs of before say nothing of them."""
    for name in _ELO:
        op.add_column("rating", sa.Column(name, sa.Double(), nullable=True))
    for name in _GAMES:
        op.add_column("rating", sa.Column(name, sa.Integer(), nullable=True))


def downgrade() -> None:
    """Drop them."""
    for name in (*_ELO, *_GAMES):
        op.drop_column("rating", name)
