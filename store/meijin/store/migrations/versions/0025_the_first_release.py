"""The first release: every table."""

import secrets

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = None
branch_labels = None
depends_on = None

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:  # noqa: PLR0915 - a statement a table and an index
    """Make the tables, and the row of a database that nobody has claimed."""
    op.create_table(
        "audit",
        sa.Column("id", _ID, nullable=False),
        sa.Column("time", sa.DateTime(), nullable=False),
        sa.Column("token_id", _ID, nullable=True),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("actor", sa.String(length=60), nullable=False),
        sa.Column("method", sa.String(length=100), nullable=False),
        sa.Column("action", sa.String(length=40), nullable=False),
        sa.Column("subject", sa.String(length=140), nullable=False),
        sa.Column("before", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("after", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("peer", sa.String(length=200), nullable=False),
        sa.Column("request_id", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_audit_subject", "audit", ["subject"])
    op.create_table(
        "claim",
        sa.Column("epoch", _ID, nullable=False),
        sa.Column("holder", sa.String(length=200), nullable=False),
        sa.Column("time", sa.DateTime(), nullable=True),
        sa.Column("database_id", sa.String(length=32), server_default="", nullable=False),
        sa.Column("log_id", sa.String(length=32), nullable=True),
        sa.Column("log_epoch", _ID, server_default="0", nullable=False),
        sa.Column("log_entry", _ID, server_default="0", nullable=False),
        sa.Column("log_link", sa.String(length=32), server_default="", nullable=False),
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "class",
        sa.Column("id", _ID, nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("deadline", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "invitation",
        sa.Column("id", _ID, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("suffix", sa.String(length=6), nullable=False),
        sa.Column("uses_left", sa.Integer(), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("creator", sa.String(length=60), nullable=False),
        sa.Column("expire_time", sa.DateTime(), nullable=False),
        sa.Column("quota", sa.Integer(), nullable=True),
        sa.Column("revoke_time", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest"),
    )
    op.create_table(
        "journal",
        sa.Column("epoch", _ID, autoincrement=False, nullable=False),
        sa.Column("id", _ID, autoincrement=False, nullable=False),
        sa.Column("moves", sa.LargeBinary(), nullable=False),
        sa.Column("analysis", sa.JSON(none_as_null=True), nullable=True),
        sa.PrimaryKeyConstraint("epoch", "id"),
    )
    op.create_table(
        "ladder",
        sa.Column("id", _ID, nullable=False),
        sa.Column("name", sa.String(length=60), nullable=False),
        sa.Column("variant", sa.String(length=60), nullable=False),
        sa.Column("time_class", sa.String(length=60), nullable=False),
        sa.Column("sequenced", _ID, server_default="0", nullable=False),
        sa.Column("revision", _ID, nullable=False),
        sa.Column("run_id", _ID, nullable=True),
        sa.Column("run_revision", _ID, nullable=False),
        sa.Column("voided", _ID, server_default="0", nullable=False),
        sa.Column("games", _ID, nullable=False),
        sa.Column("settled_by", _ID, nullable=True),
        sa.Column("settled_revision", _ID, server_default="0", nullable=False),
        sa.Column("settled_sequence", _ID, server_default="0", nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "opening_cursor",
        sa.Column("ladder_id", _ID, autoincrement=False, nullable=False),
        sa.Column("end_sequence", _ID, nullable=False),
        sa.Column("games", _ID, nullable=False),
        sa.PrimaryKeyConstraint("ladder_id"),
    )
    op.create_table(
        "opening_move",
        sa.Column("position", _ID, autoincrement=False, nullable=False),
        sa.Column("cell", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("band", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("black_wins", sa.Integer(), nullable=False),
        sa.Column("draws", sa.Integer(), nullable=False),
        sa.Column("white_wins", sa.Integer(), nullable=False),
        sa.Column("game_id", _ID, nullable=False),
        sa.PrimaryKeyConstraint("position", "cell", "band"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "owner",
        sa.Column("id", _ID, nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("quota", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_table(
        "bot",
        sa.Column("id", _ID, nullable=False),
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("owner_id", _ID, nullable=True),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.Column(
            "state",
            sa.Enum("active", "disabled", "banned", name="botstate", native_enum=False, length=20),
            nullable=False,
        ),
        sa.Column("reason", sa.String(length=200), nullable=False),
        sa.Column("is_hidden", sa.Boolean(), nullable=False),
        sa.Column("former_names", sa.JSON(), nullable=False),
        sa.Column("last_seen_time", sa.DateTime(), nullable=True),
        sa.Column("games", _ID, server_default="0", nullable=False),
        sa.Column("display_name", sa.String(length=60), server_default="", nullable=False),
        sa.Column(
            "challenges",
            sa.Enum(
                "none", "owners", "anyone", name="challengepolicy", native_enum=False, length=20
            ),
            server_default="owners",
            nullable=False,
        ),
        sa.ForeignKeyConstraint(["owner_id"], ["owner.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
    )
    op.create_index("ix_bot_owner_id", "bot", ["owner_id"])
    op.create_table(
        "day_tally",
        sa.Column("ladder_id", _ID, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("cutoff", _ID, nullable=False),
        sa.Column("chain", sa.LargeBinary(), nullable=False),
        sa.Column("games", _ID, nullable=False),
        sa.Column("repeats", _ID, nullable=False),
        sa.Column("rated_with", sa.String(length=64), nullable=True),
        sa.Column("versions", sa.LargeBinary(), nullable=False),
        sa.Column("counts", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"]),
        sa.PrimaryKeyConstraint("ladder_id", "day"),
    )
    op.create_table(
        "posterior",
        sa.Column("ladder_id", _ID, nullable=False),
        sa.Column("run_id", _ID, nullable=False),
        sa.Column("version_ids", sa.LargeBinary(), nullable=False),
        sa.Column("matrix", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"]),
        sa.PrimaryKeyConstraint("ladder_id"),
    )
    op.create_table(
        "rating_run",
        sa.Column("id", _ID, nullable=False),
        sa.Column("ladder_id", _ID, nullable=False),
        sa.Column("revision", _ID, nullable=False),
        sa.Column("voided", _ID, nullable=False),
        sa.Column("cutoff", _ID, nullable=False),
        sa.Column("games", _ID, nullable=False),
        sa.Column("repeats", _ID, nullable=False),
        sa.Column("checksum", sa.String(length=64), nullable=False),
        sa.Column("algorithm", sa.String(length=60), nullable=False),
        sa.Column("parameters", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("diagnosis", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("final_of", _ID, nullable=True),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("ladder_id", "revision", "algorithm"),
    )
    op.create_table(
        "tournament",
        sa.Column("id", _ID, nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("format", sa.String(length=20), nullable=False),
        sa.Column("rounds", sa.Integer(), nullable=False),
        sa.Column("seed", _ID, nullable=False),
        sa.Column("variant", sa.String(length=60), nullable=False),
        sa.Column("time_control", sa.String(length=60), nullable=False),
        sa.Column("max_games", sa.Integer(), nullable=False),
        sa.Column("ladder_id", _ID, nullable=True),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("request_id", sa.String(length=100), nullable=True),
        sa.Column(
            "state",
            sa.Enum(
                "planning",
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
        sa.Column("openings", sa.LargeBinary(), nullable=False),
        sa.Column("options", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("verdict", sa.String(length=200), server_default="", nullable=False),
        sa.Column("planned", sa.Integer(), server_default="0", nullable=False),
        sa.Column("running", sa.Integer(), server_default="0", nullable=False),
        sa.Column("finished", sa.Integer(), server_default="0", nullable=False),
        sa.Column("time_controls", sa.JSON(none_as_null=True), nullable=True),
        sa.Column("adjudication", sa.String(length=60), nullable=True),
        sa.Column("max_faults", sa.Integer(), server_default="0", nullable=False),
        sa.Column("end_sequence", _ID, nullable=True),
        sa.Column("owner_id", _ID, nullable=True),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"]),
        sa.ForeignKeyConstraint(["owner_id"], ["owner.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("request_id"),
    )
    op.create_index("tournament_end", "tournament", ["end_sequence"])
    op.create_index(
        "tournament_no_challenge",
        "tournament",
        ["id"],
        sqlite_where=sa.text("format <> 'challenge'"),
        postgresql_where=sa.text("format <> 'challenge'"),
    )
    op.create_index(
        "tournament_not_finished",
        "tournament",
        ["state", "id"],
        sqlite_where=sa.text("state <> 'finished'"),
        postgresql_where=sa.text("state <> 'finished'"),
    )
    op.create_index(
        "tournament_of_owner",
        "tournament",
        ["owner_id", "id"],
        sqlite_where=sa.text("owner_id IS NOT NULL"),
        postgresql_where=sa.text("owner_id IS NOT NULL"),
    )
    op.create_table(
        "bot_version",
        sa.Column("id", _ID, nullable=False),
        sa.Column("bot_id", _ID, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("label", sa.String(length=40), nullable=False),
        sa.Column("configuration", sa.JSON(), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("parent_id", _ID, nullable=True),
        sa.Column("hardware", sa.String(length=80), nullable=False),
        sa.Column("nodes_per_second", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("doctor_time", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"]),
        sa.ForeignKeyConstraint(["parent_id"], ["bot_version.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("bot_id", "digest"),
    )
    op.create_index("bot_version_label", "bot_version", ["bot_id", "label", "id"])
    op.create_index("bot_version_order", "bot_version", ["bot_id", "id"])
    op.create_table(
        "challenge",
        sa.Column("tournament_id", _ID, nullable=False),
        sa.Column("challenger_id", _ID, nullable=False),
        sa.Column("opponent_id", _ID, nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.Column(
            "colors",
            sa.Enum(
                "alternate", "black", "white", name="challengecolors", native_enum=False, length=20
            ),
            nullable=False,
        ),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("owner_id", _ID, nullable=True),
        sa.ForeignKeyConstraint(["challenger_id"], ["bot.id"]),
        sa.ForeignKeyConstraint(["opponent_id"], ["bot.id"]),
        sa.ForeignKeyConstraint(["owner_id"], ["owner.id"]),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"]),
        sa.PrimaryKeyConstraint("tournament_id"),
    )
    op.create_index("challenge_of_challenger", "challenge", ["challenger_id", "tournament_id"])
    op.create_index("challenge_of_owner", "challenge", ["owner_id", "tournament_id"])
    op.create_table(
        "entrant",
        sa.Column("tournament_id", _ID, nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("bot_id", _ID, nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"]),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"]),
        sa.PrimaryKeyConstraint("tournament_id", "seat"),
    )
    op.create_table(
        "pairing",
        sa.Column("id", _ID, nullable=False),
        sa.Column("tournament_id", _ID, nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("black_id", _ID, nullable=False),
        sa.Column("white_id", _ID, nullable=False),
        sa.Column("opening", sa.LargeBinary(), nullable=False),
        sa.Column("reason", sa.String(length=200), server_default="", nullable=False),
        sa.Column("time_control", sa.String(length=60), nullable=True),
        sa.Column("ladder_id", _ID, nullable=True),
        sa.ForeignKeyConstraint(["black_id"], ["bot.id"]),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"]),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"]),
        sa.ForeignKeyConstraint(["white_id"], ["bot.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("tournament_id", "number"),
    )
    op.create_table(
        "token",
        sa.Column("id", _ID, nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("suffix", sa.String(length=6), nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "bot",
                "owner",
                "operator",
                "read",
                "person",
                name="tokenkind",
                native_enum=False,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("bot_id", _ID, nullable=True),
        sa.Column("owner_id", _ID, nullable=True),
        sa.Column("label", sa.String(length=60), nullable=False),
        sa.Column("creator", sa.String(length=60), nullable=False),
        sa.Column("expire_time", sa.DateTime(), nullable=True),
        sa.Column("use_time", sa.DateTime(), nullable=True),
        sa.Column("revoke_time", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"]),
        sa.ForeignKeyConstraint(["owner_id"], ["owner.id"], name="token_owner"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest"),
    )
    op.create_index("ix_token_bot_id", "token", ["bot_id"])
    op.create_index("ix_token_owner_id", "token", ["owner_id"])
    op.create_table(
        "webhook",
        sa.Column("id", _ID, nullable=False),
        sa.Column("url", sa.String(length=2000), nullable=False),
        sa.Column(
            "format",
            sa.Enum(
                "standard", "discord", "slack", name="webhookformat", native_enum=False, length=20
            ),
            nullable=False,
        ),
        sa.Column("events", sa.JSON(), nullable=False),
        sa.Column("secret", sa.String(length=100), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("owner_id", _ID, nullable=True),
        sa.Column("bot_id", _ID, nullable=True),
        sa.Column("tournament_id", _ID, nullable=True),
        sa.Column("ladder_id", _ID, nullable=True),
        sa.Column("old_secret", sa.String(length=100), server_default="", nullable=False),
        sa.Column("old_secret_end", sa.DateTime(), nullable=True),
        sa.Column("failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("failing_since", sa.DateTime(), nullable=True),
        sa.Column("hold_time", sa.DateTime(), nullable=True),
        sa.Column("disable_reason", sa.String(length=200), server_default="", nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"]),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"]),
        sa.ForeignKeyConstraint(["owner_id"], ["owner.id"]),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_webhook_owner_id", "webhook", ["owner_id"])
    op.create_table(
        "anchor",
        sa.Column("ladder_id", _ID, nullable=False),
        sa.Column("version_id", _ID, nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"]),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"]),
        sa.PrimaryKeyConstraint("ladder_id", "version_id"),
    )
    op.create_table(
        "class_member",
        sa.Column("bot_id", _ID, nullable=False),
        sa.Column("class_id", _ID, nullable=False),
        sa.Column("student_id", sa.String(length=60), nullable=False),
        sa.Column("version_id", _ID, nullable=True),
        sa.Column("late_attempts", sa.Integer(), nullable=False),
        sa.Column("late_time", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bot.id"]),
        sa.ForeignKeyConstraint(["class_id"], ["class.id"]),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"]),
        sa.PrimaryKeyConstraint("bot_id"),
    )
    op.create_index("ix_class_member_class_id", "class_member", ["class_id"])
    op.create_table(
        "game",
        sa.Column("id", _ID, autoincrement=False, nullable=False),
        sa.Column("pairing_id", _ID, nullable=False),
        sa.Column("tournament_id", _ID, nullable=False),
        sa.Column("ladder_id", _ID, nullable=True),
        sa.Column("black_id", _ID, nullable=False),
        sa.Column("white_id", _ID, nullable=False),
        sa.Column("opening_plies", sa.Integer(), nullable=False),
        sa.Column("opening", _ID, nullable=False),
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
                "forbidden",
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
                "supplier",
                name="party",
                native_enum=False,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("detail", sa.String(), nullable=False),
        sa.Column("end_sequence", _ID, nullable=True),
        sa.Column("end_time", sa.DateTime(), nullable=True),
        sa.Column("fingerprint", _ID, nullable=True),
        sa.Column("symmetric_fingerprint", _ID, nullable=True),
        sa.Column("is_repeat", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("choice", sa.LargeBinary(), nullable=True),
        sa.Column("is_swapped", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(["black_id"], ["bot_version.id"]),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"]),
        sa.ForeignKeyConstraint(["pairing_id"], ["pairing.id"]),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournament.id"]),
        sa.ForeignKeyConstraint(["white_id"], ["bot_version.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("game_fingerprint", "game", ["ladder_id", "fingerprint", "end_sequence"])
    op.create_index(
        "game_not_finished",
        "game",
        ["state", "id"],
        sqlite_where=sa.text("state <> 'finished'"),
        postgresql_where=sa.text("state <> 'finished'"),
    )
    op.create_index("game_of_black", "game", ["black_id", "id"])
    op.create_index("game_of_pairing", "game", ["pairing_id"])
    op.create_index("game_of_tournament", "game", ["tournament_id", "id"])
    op.create_index("game_of_white", "game", ["white_id", "id"])
    op.create_index(
        "game_once",
        "game",
        ["pairing_id"],
        unique=True,
        sqlite_where=sa.text("state <> 'void'"),
        postgresql_where=sa.text("state <> 'void'"),
    )
    op.create_index("game_order", "game", ["ladder_id", "end_sequence"])
    op.create_index(
        "game_result",
        "game",
        ["ladder_id", "state", "is_repeat", "black_id", "white_id", "result", "at_fault"],
    )
    op.create_table(
        "rating",
        sa.Column("run_id", _ID, nullable=False),
        sa.Column("version_id", _ID, nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("elo", sa.Double(), nullable=False),
        sa.Column("margin", sa.Double(), nullable=False),
        sa.Column("superiority", sa.Double(), nullable=True),
        sa.Column("classic_elo", sa.Double(), nullable=False),
        sa.Column("opponents_elo", sa.Double(), nullable=False),
        sa.Column("wins_as_black", sa.Integer(), nullable=False),
        sa.Column("draws_as_black", sa.Integer(), nullable=False),
        sa.Column("losses_as_black", sa.Integer(), nullable=False),
        sa.Column("wins_as_white", sa.Integer(), nullable=False),
        sa.Column("draws_as_white", sa.Integer(), nullable=False),
        sa.Column("losses_as_white", sa.Integer(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("is_anchor", sa.Boolean(), nullable=False),
        sa.Column("is_provisional", sa.Boolean(), nullable=False),
        sa.Column("is_linked", sa.Boolean(), nullable=False),
        sa.Column("depends_on_opponents", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.Column("changes_over_time", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(["run_id"], ["rating_run.id"]),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"]),
        sa.PrimaryKeyConstraint("run_id", "version_id"),
    )
    op.create_table(
        "rating_day",
        sa.Column("ladder_id", _ID, nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("version_id", _ID, nullable=False),
        sa.Column("elo", sa.Double(), nullable=False),
        sa.Column("margin", sa.Double(), nullable=False),
        sa.Column("games", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladder.id"]),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"]),
        sa.PrimaryKeyConstraint("ladder_id", "day", "version_id"),
    )
    op.create_table(
        "webhook_cursor",
        sa.Column("webhook_id", _ID, nullable=False),
        sa.Column(
            "source",
            sa.Enum(
                "games",
                "tournaments",
                "ladders",
                "faults",
                name="eventsource",
                native_enum=False,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("subject_id", _ID, nullable=False),
        sa.Column("position", _ID, nullable=False),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhook.id"]),
        sa.PrimaryKeyConstraint("webhook_id", "source", "subject_id"),
    )
    op.create_table(
        "webhook_delivery",
        sa.Column("id", _ID, nullable=False),
        sa.Column("webhook_id", _ID, nullable=False),
        sa.Column("message_id", sa.String(length=40), nullable=False),
        sa.Column(
            "event",
            sa.Enum(
                "game.ended",
                "tournament.ended",
                "ladder.published",
                "bot.paused",
                "fault.recorded",
                "webhook.test",
                name="webhookevent",
                native_enum=False,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("subject_id", _ID, nullable=False),
        sa.Column("event_time", sa.DateTime(), nullable=False),
        sa.Column("next_time", sa.DateTime(), nullable=True),
        sa.Column(
            "state",
            sa.Enum(
                "waiting", "delivered", "failed", name="deliverystate", native_enum=False, length=20
            ),
            nullable=False,
        ),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("last_time", sa.DateTime(), nullable=True),
        sa.Column("http_status", sa.Integer(), nullable=True),
        sa.Column("detail", sa.String(length=200), nullable=False),
        sa.ForeignKeyConstraint(["webhook_id"], ["webhook.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "webhook_delivery_due", "webhook_delivery", ["state", "webhook_id", "next_time"]
    )
    op.create_index("webhook_delivery_of", "webhook_delivery", ["webhook_id", "id"])
    op.create_table(
        "fault",
        sa.Column("id", _ID, nullable=False),
        sa.Column(
            "kind",
            sa.Enum(
                "time",
                "illegal",
                "forbidden",
                "crash",
                "disconnect",
                "supplier",
                "absence",
                "mass_disconnect",
                "outage",
                "stall",
                "voided",
                "pause",
                name="faultkind",
                native_enum=False,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column(
            "party",
            sa.Enum(
                "bot",
                "supplier",
                "connection",
                "network",
                "server",
                "operator",
                name="faultparty",
                native_enum=False,
                length=20,
            ),
            nullable=False,
        ),
        sa.Column("detail", sa.String(length=600), nullable=False),
        sa.Column("evidence", sa.JSON(none_as_null=True), nullable=False),
        sa.Column("create_time", sa.DateTime(), nullable=False),
        sa.Column("game_id", _ID, nullable=True),
        sa.Column(
            "ending",
            sa.Enum(
                "five",
                "draw",
                "resign",
                "time",
                "illegal",
                "forbidden",
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
        sa.Column("ply", sa.Integer(), nullable=True),
        sa.Column("version_id", _ID, nullable=True),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"]),
        sa.ForeignKeyConstraint(["version_id"], ["bot_version.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("fault_of_version", "fault", ["version_id", "kind", "id"])
    op.create_index("ix_fault_game_id", "fault", ["game_id"])
    op.create_table(
        "opening_game",
        sa.Column("game_id", _ID, autoincrement=False, nullable=False),
        sa.Column("band", sa.SmallInteger(), nullable=False),
        sa.Column(
            "result",
            sa.Enum("1-0", "0-1", "1/2-1/2", "*", name="result", native_enum=False, length=20),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"]),
        sa.PrimaryKeyConstraint("game_id"),
    )
    op.create_table(
        "opening_recheck",
        sa.Column("id", _ID, nullable=False),
        sa.Column("game_id", _ID, nullable=False),
        sa.ForeignKeyConstraint(["game_id"], ["game.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.execute(
        sa.text(
            "INSERT INTO claim (id, epoch, holder, database_id) VALUES (0, 0, '', :drawn)"
        ).bindparams(drawn=secrets.token_hex(16))
    )
