"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the step."""
    op.create_table(
        "flush",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("moves", sa.LargeBinary(), nullable=False),
        sa.Column("analysis", sa.JSON(none_as_null=True), nullable=True),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "ladder",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("revision", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("run_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column(
            "run_revision", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "owner",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "bot",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("owner_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["owner_id"],
            ["owner.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "rating_run",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "ladder_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("revision", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("games", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("checksum", sa.String(length=64), nullable=False),
        sa.Column("algorithm", sa.String(length=60), nullable=False),
        sa.Column("parameters", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["ladder_id"],
            ["ladder.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("ladder_id", "revision", "algorithm"),
    )
    op.create_table(
        "tournament",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column(
            "format",
            sa.Enum(
                "round-robin", "gauntlet", name="tournamentformat", native_enum=False, length=20
            ),
            nullable=False,
        ),
        sa.Column("rounds", sa.Integer(), nullable=False),
        sa.Column("seed", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("variant", sa.String(length=60), nullable=False),
        sa.Column("time_control", sa.String(length=60), nullable=False),
        sa.Column("max_games", sa.Integer(), nullable=False),
        sa.Column("ladder_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("request_id", sa.String(length=100), nullable=True),
        sa.Column(
            "state",
            sa.Enum(
                "running",
                "finished",
                "cancelled",
                name="tournamentstate",
                native_enum=False,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("end_time", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["ladder_id"],
            ["ladder.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("request_id"),
    )
    op.create_table(
        "bot_version",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("bot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("label", sa.String(length=40), nullable=False),
        sa.Column("configuration", sa.JSON(), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("parent_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.ForeignKeyConstraint(
            ["bot_id"],
            ["bot.id"],
        ),
        sa.ForeignKeyConstraint(
            ["parent_id"],
            ["bot_version.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("bot_id", "digest"),
    )
    op.create_table(
        "entrant",
        sa.Column(
            "tournament_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.ForeignKeyConstraint(
            ["bot_id"],
            ["bot.id"],
        ),
        sa.ForeignKeyConstraint(
            ["tournament_id"],
            ["tournament.id"],
        ),
        sa.PrimaryKeyConstraint("tournament_id", "seat"),
    )
    op.create_table(
        "pairing",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "tournament_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("black_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("white_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("opening", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["black_id"],
            ["bot.id"],
        ),
        sa.ForeignKeyConstraint(
            ["tournament_id"],
            ["tournament.id"],
        ),
        sa.ForeignKeyConstraint(
            ["white_id"],
            ["bot.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("tournament_id", "number"),
    )
    op.create_table(
        "token",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("suffix", sa.String(length=6), nullable=False),
        sa.Column(
            "kind",
            sa.Enum("bot", "admin", name="tokenkind", native_enum=False, length=20),
            nullable=False,
        ),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("bot_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("revoke_time", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["bot_id"],
            ["bot.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest"),
    )
    with op.batch_alter_table("token", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_token_bot_id"), ["bot_id"], unique=False)

    op.create_table(
        "game",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column(
            "pairing_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column(
            "tournament_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("ladder_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True),
        sa.Column("black_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("white_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("opening_plies", sa.Integer(), nullable=False),
        sa.Column("moves", sa.LargeBinary(), nullable=False),
        sa.Column("start_time", sa.DateTime(), nullable=False),
        sa.Column(
            "state",
            sa.Enum("running", "finished", "void", name="gamestate", native_enum=False, length=20),
            nullable=False,
        ),
        sa.Column("times", sa.LargeBinary(), nullable=False),
        sa.Column("analysis", sa.JSON(none_as_null=True), nullable=True),
        sa.Column(
            "result",
            sa.Enum("1-0", "0-1", "1/2-1/2", "*", name="result", native_enum=False, length=20),
            nullable=False,
        ),
        sa.Column(
            "ending",
            sa.Enum(
                "five",
                "draw",
                "resign",
                "time",
                "illegal",
                "crash",
                "disconnect",
                "adjudication",
                "void",
                name="ending",
                native_enum=False,
                length=20,
            ),
            nullable=True,
        ),
        sa.Column(
            "at_fault",
            sa.Enum(
                "nobody",
                "black",
                "white",
                "server",
                "network",
                "operator",
                name="party",
                native_enum=False,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("detail", sa.String(), nullable=False),
        sa.Column(
            "end_sequence", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.Column("end_time", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(
            ["black_id"],
            ["bot_version.id"],
        ),
        sa.ForeignKeyConstraint(
            ["ladder_id"],
            ["ladder.id"],
        ),
        sa.ForeignKeyConstraint(
            ["pairing_id"],
            ["pairing.id"],
        ),
        sa.ForeignKeyConstraint(
            ["tournament_id"],
            ["tournament.id"],
        ),
        sa.ForeignKeyConstraint(
            ["white_id"],
            ["bot_version.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("game", schema=None) as batch_op:
        batch_op.create_index(
            "game_once",
            ["pairing_id"],
            unique=True,
            sqlite_where=sa.text("state <> 'void'"),
            postgresql_where=sa.text("state <> 'void'"),
        )
        batch_op.create_index("game_order", ["ladder_id", "end_sequence"], unique=False)
        batch_op.create_index(
            "game_result",
            ["ladder_id", "state", "black_id", "white_id", "result", "at_fault"],
            unique=False,
        )
        batch_op.create_index(batch_op.f("ix_game_tournament_id"), ["tournament_id"], unique=False)

    op.create_table(
        "rating",
        sa.Column("run_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False
        ),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("elo", sa.Double(), nullable=False),
        sa.Column("classic_elo", sa.Double(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"],
            ["rating_run.id"],
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["bot_version.id"],
        ),
        sa.PrimaryKeyConstraint("run_id", "version_id"),
    )
    op.create_table(
        "fault",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("game_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column(
            "party",
            sa.Enum(
                "nobody",
                "black",
                "white",
                "server",
                "network",
                "operator",
                name="party",
                native_enum=False,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column(
            "ending",
            sa.Enum(
                "five",
                "draw",
                "resign",
                "time",
                "illegal",
                "crash",
                "disconnect",
                "adjudication",
                "void",
                name="ending",
                native_enum=False,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("evidence", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column(
            "version_id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=True
        ),
        sa.ForeignKeyConstraint(
            ["game_id"],
            ["game.id"],
        ),
        sa.ForeignKeyConstraint(
            ["version_id"],
            ["bot_version.id"],
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    with op.batch_alter_table("fault", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_fault_game_id"), ["game_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_fault_version_id"), ["version_id"], unique=False)
