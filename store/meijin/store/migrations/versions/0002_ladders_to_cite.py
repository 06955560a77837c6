"""Ladders to cite: distinct games, intervals, anchors, history, and tournaments with an open end."""

import hashlib
import struct

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

_Id = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_Json = sa.JSON(none_as_null=True)
_RESULT = ("ladder_id", "state", "is_repeat", "black_id", "white_id", "result", "at_fault")


def upgrade() -> None:
    """Apply the step. Runs are left out: they are computed anew from the games."""
    _add_columns()
    _mark_repeats()
    _replace_ratings()
    _add_tables()


def _add_columns() -> None:
    with op.batch_alter_table("game") as game:
        game.add_column(sa.Column("fingerprint", _Id, nullable=True))
        game.add_column(
            sa.Column("is_repeat", sa.Boolean(), nullable=False, server_default=sa.false())
        )
        game.drop_index("game_result")
        game.create_index("game_result", _RESULT)
        game.create_index("game_fingerprint", ["ladder_id", "fingerprint", "end_sequence"])
    with op.batch_alter_table("pairing") as pairing:
        pairing.add_column(_text("reason"))
    # Not in the batch: for a default that is no plain text it would make the table anew.
    no_bytes = sa.Column("openings", sa.LargeBinary(), nullable=False, server_default=_no_bytes())
    op.add_column("tournament", no_bytes)
    with op.batch_alter_table("tournament") as tournament:
        tournament.add_column(sa.Column("stopping", _Json, nullable=True))
        tournament.add_column(_text("verdict"))
    with op.batch_alter_table("ladder") as ladder:
        ladder.add_column(sa.Column("voided", _Id, nullable=False, server_default="0"))
        ladder.add_column(sa.Column("history", _Json, nullable=True))


def _no_bytes() -> sa.TextClause:
    """An empty default; SQLite takes ``''`` for text, whatever the column is."""
    return sa.text("x''" if op.get_bind().dialect.name == "sqlite" else "''")


def _text(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(length=200), nullable=False, server_default="")


def _mark_repeats() -> None:
    connection = op.get_bind()
    games = sa.text(
        "SELECT id, black_id, white_id, opening_plies, moves FROM game WHERE state <> 'running'"
    ).execution_options(yield_per=10_000)
    rows = [
        {"key": key, "value": _fingerprint(black, white, opening_plies, bytes(moves))}
        for key, black, white, opening_plies, moves in connection.execute(games)
    ]
    if rows:
        change = sa.text("UPDATE game SET fingerprint = :value WHERE id = :key")
        connection.execute(change, rows)
    op.execute(
        "UPDATE game SET is_repeat = EXISTS (SELECT 1 FROM game AS earlier"
        " WHERE earlier.ladder_id = game.ladder_id AND earlier.fingerprint = game.fingerprint"
        " AND earlier.state = 'finished' AND earlier.end_sequence < game.end_sequence"
        " AND earlier.black_id = game.black_id AND earlier.white_id = game.white_id"
        " AND earlier.opening_plies = game.opening_plies AND earlier.moves = game.moves)"
        " WHERE state = 'finished' AND ladder_id IS NOT NULL"
    )


def _fingerprint(black_id: int, white_id: int, opening_plies: int, moves: bytes) -> int:
    """The hash of a game as it was defined at this step."""
    players = struct.pack("<QQH", black_id, white_id, opening_plies)
    digest = hashlib.blake2b(players + moves, digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def _replace_ratings() -> None:
    op.drop_table("rating")
    op.drop_table("rating_run")
    op.execute("UPDATE ladder SET run_id = NULL, run_revision = 0")
    op.create_table(
        "rating_run",
        sa.Column("id", _Id, nullable=False),
        sa.Column("ladder_id", _Id, nullable=False),
        sa.Column("revision", _Id, nullable=False),
        sa.Column("voided", _Id, nullable=False),
        sa.Column("cutoff", _Id, nullable=False),
        sa.Column("games", _Id, nullable=False),
        sa.Column("repeats", _Id, nullable=False),
        sa.Column("checksum", sa.String(length=64), nullable=False),
        sa.Column("algorithm", sa.String(length=60), nullable=False),
        sa.Column("parameters", _Json, nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("ladder_id", "revision", "algorithm"),
    )
    counts = (
        f"{result}_as_{color}"
        for color in ("black", "white")
        for result in ("wins", "draws", "losses")
    )
    op.create_table(
        "rating",
        sa.Column("run_id", _Id, nullable=False),
        sa.Column("version_id", _Id, nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("elo", sa.Double(), nullable=False),
        sa.Column("margin", sa.Double(), nullable=False),
        sa.Column("superiority", sa.Double(), nullable=True),
        sa.Column("classic_elo", sa.Double(), nullable=False),
        sa.Column("opponents_elo", sa.Double(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in counts),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("is_anchor", sa.Boolean(), nullable=False),
        sa.Column("is_provisional", sa.Boolean(), nullable=False),
        sa.Column("is_linked", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["rating_run.id"]),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"]),
        sa.PrimaryKeyConstraint("run_id", "version_id"),
    )


def _add_tables() -> None:
    op.create_table(
        "anchor",
        sa.Column("ladder_id", _Id, nullable=False),
        sa.Column("version_id", _Id, nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"]),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"]),
        sa.PrimaryKeyConstraint("ladder_id", "version_id"),
    )
    op.create_table(
        "posterior",
        sa.Column("ladder_id", _Id, nullable=False),
        sa.Column("run_id", _Id, nullable=False),
        sa.Column("version_ids", sa.LargeBinary(), nullable=False),
        sa.Column("matrix", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"]),
        sa.PrimaryKeyConstraint("ladder_id"),
    )
    op.create_table(
        "rating_day",
        sa.Column("ladder_id", _Id, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("version_id", _Id, nullable=False),
        sa.Column("elo", sa.Double(), nullable=False),
        sa.Column("margin", sa.Double(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"]),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"]),
        sa.PrimaryKeyConstraint("ladder_id", "day", "version_id"),
    )
