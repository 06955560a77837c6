"""Clocks by side, adjudication and a bound on faults; and what lists of bots say."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

_INT64 = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Apply the step: tournaments before it had none of them, and bots are seen from now on."""
    op.add_column("tournament", sa.Column("time_controls", sa.JSON()))
    op.add_column("tournament", sa.Column("adjudication", sa.String(60)))
    op.add_column(
        "tournament", sa.Column("max_faults", sa.Integer(), nullable=False, server_default="0")
    )
    op.add_column("bot", sa.Column("last_seen_time", sa.DateTime()))
    op.add_column("bot", sa.Column("games", _INT64, nullable=False, server_default="0"))
    _count_games()


def _count_games() -> None:
    """Count the finished games of each bot, with either colour."""
    game, version, bot = (
        sa.table("game", sa.column("black_id"), sa.column("white_id"), sa.column("state")),
        sa.table("bot_version", sa.column("id"), sa.column("bot_id")),
        sa.table("bot", sa.column("id"), sa.column("games")),
    )
    for side in (game.c.black_id, game.c.white_id):
        counted = (
            sa.select(version.c.bot_id, sa.func.count().label("number"))
            .join(game, side == version.c.id)
            .where(game.c.state == "finished")
            .group_by(version.c.bot_id)
            .subquery()
        )
        more = sa.update(bot).where(bot.c.id == counted.c.bot_id)
        op.execute(more.values(games=bot.c.games + counted.c.number))
