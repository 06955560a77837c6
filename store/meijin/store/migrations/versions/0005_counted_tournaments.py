"""Tournaments that are counted as they are played, and indexes for lists of games."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

_NOT_FINISHED = sa.text("state <> 'finished'")


def upgrade() -> None:
    """Apply the step."""
    for name in ("planned", "running", "finished"):
        op.add_column(
            "tournament", sa.Column(name, sa.Integer(), nullable=False, server_default="0")
        )
    _count()
    _enter_players()
    _add_indexes()


def _count() -> None:
    op.execute(
        "UPDATE tournament SET planned ="
        " (SELECT count(*) FROM pairing WHERE tournament_id = tournament.id)"
    )
    for state in ("running", "finished"):
        op.execute(
            f"UPDATE tournament SET {state} = (SELECT count(*) FROM game"  # noqa: S608 - two words
            f" WHERE tournament_id = tournament.id AND state = '{state}')"
        )


def _enter_players() -> None:
    """Enter whoever played in a tournament that everyone may play in, in seats below 0."""
    op.execute(
        "INSERT INTO entrant (tournament_id, seat, bot_id)"
        " SELECT tournament_id,"
        " -row_number() OVER (PARTITION BY tournament_id ORDER BY bot_id), bot_id"
        " FROM (SELECT tournament_id, black_id AS bot_id FROM pairing"
        " UNION SELECT tournament_id, white_id FROM pairing) AS played"
        " WHERE tournament_id NOT IN (SELECT tournament_id FROM entrant)"
    )


def _add_indexes() -> None:
    op.drop_index("ix_game_tournament_id", "game")
    op.create_index("game_of_pairing", "game", ["pairing_id"])
    op.create_index("game_of_tournament", "game", ["tournament_id", "id"])
    op.create_index("game_of_black", "game", ["black_id", "id"])
    op.create_index("game_of_white", "game", ["white_id", "id"])
    op.create_index("bot_version_order", "bot_version", ["bot_id", "id"])
    for table in ("game", "tournament"):
        op.create_index(
            f"{table}_not_finished",
            table,
            ["state", "id"],
            sqlite_where=_NOT_FINISHED,
            postgresql_where=_NOT_FINISHED,
        )
