"""Databases of earlier releases, brought to the current schema with games in them."""

from __future__ import annotations

import ast
import struct
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert, select, text
from sqlalchemy.schema import MetaData
from tests.store.steps import migrate_to

from meijin.game import (
    Color,
    Ending,
    Outcome,
    Party,
    Result,
    Variant,
    decode_moves,
    encode_moves,
)
from meijin.ladder.statistics.sequential.sprt import Scale, Sprt
from meijin.server.tournaments.formats.ladder import LadderSettings
from meijin.server.tournaments.formats.sprt import SprtSettings, Unit
from meijin.store import Database, bots, faults, games, journal, tournaments
from meijin.store.access import tokens
from meijin.store.access.tokens import Identity
from meijin.store.journal import StoredMove, unpack_moves
from meijin.store.ladders import ladders, log, tallies
from meijin.store.ladders import runs as rating_runs
from meijin.store.ladders.opening_keys import opening_key
from meijin.store.ladders.repeats import fingerprint
from meijin.store.schema import (
    Bot,
    BotId,
    BotState,
    BotVersionId,
    FaultKind,
    FaultParty,
    Game,
    GameId,
    GameState,
    Instant,
    LadderId,
    TokenId,
    TokenKind,
    Tournament,
    TournamentId,
)
from meijin.store.tournaments.duplicates import symmetric_fingerprint

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
LINE, OTHER = encode_moves((112, 113, 97)), encode_moves((112, 113, 98))

OldGame = tuple[int, int | None, int, int, int, bytes, str]
"""Id, ladder, black, white, plies of the opening, moves, and state."""

GAMES: tuple[OldGame, ...] = (
    (1, 1, 1, 2, 2, LINE, "finished"),
    (2, 1, 1, 2, 2, LINE, "finished"),  # the same
    (3, 1, 2, 1, 2, LINE, "finished"),  # with other colours
    (4, 1, 1, 2, 1, LINE, "finished"),  # with a shorter opening
    (5, 1, 1, 2, 2, OTHER, "void"),
    (6, 1, 1, 2, 2, OTHER, "finished"),  # the same as a void one
    (7, None, 1, 2, 2, LINE, "finished"),  # not rated
    (8, 2, 1, 2, 2, LINE, "finished"),  # on another ladder
    (9, 1, 1, 2, 2, LINE, "finished"),  # the same once more
    (10, 1, 1, 2, 2, LINE[:4], "running"),
)
REPEATS = {2, 9}
JOURNAL = struct.pack("<QHHQQ", 10, 2, 97, 5, 4)
"""A move of the running game, and nanoseconds."""

TOURNAMENT: dict[str, Any] = {
    "id": 1,
    "name": "spring",
    "format": "gauntlet",
    "rounds": 2,
    "seed": 7,
    "variant": "freestyle 15x15",
    "time_control": "60",
    "max_games": 0,
    "ladder_id": 1,
    "create_time": NOON,
    "state": "running",
}

VERSIONS = Path(str(files("meijin.store"))) / "migrations" / "versions"


def imported_modules(source: str) -> set[str]:
    """The modules that a piece of code imports, wherever it does so, relative ones with a dot."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
    return found


@pytest.mark.parametrize("step", sorted(VERSIONS.glob("*.py")), ids=lambda step: step.stem)
def test_steps_import_none_of_our_code(step: Path) -> None:
    """What a step does is written in it: a change of the code leaves history as it is."""
    roots = {module.partition(".")[0] for module in imported_modules(step.read_text())}
    assert not roots & {"meijin", ""}


class Old:
    """Rows put into the tables of an old schema, as they were then."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._tables = MetaData()
        self._tables.reflect(connection)
        for table in self._tables.tables.values():
            for column in table.columns:
                if column.name.endswith("_time"):
                    column.type = Instant()

    def add(self, table: str, **values: Any) -> None:
        """Add one row."""
        self._connection.execute(insert(self._tables.tables[table]).values(**values))


def fill(connection: Connection) -> None:
    """Two ladders with games and a run, two bots, and a tournament."""
    old = Old(connection)
    for number, name in enumerate(("ada", "bob"), start=1):
        old.add("bot", id=number, name=name, create_time=NOON, is_open=False)
        version = {"digest": "d", "label": "1.0", "configuration": []}
        old.add("bot_version", id=number, bot_id=number, create_time=NOON, **version)
    for number, name in enumerate(("freestyle-15x15", "standard-15x15"), start=1):
        old.add("ladder", id=number, name=name, revision=6, run_id=number, run_revision=6)
        run = {"revision": 6, "games": 6, "checksum": "0" * 64, "algorithm": "old"}
        old.add("rating_run", id=number, ladder_id=number, create_time=NOON, parameters={}, **run)
        rating = {"elo": 1500.0, "classic_elo": 1500.0, "games": 6, "faults": 0}
        score = {"wins": 3, "draws": 0, "losses": 3}
        old.add("rating", run_id=number, version_id=1, rank=1, **rating, **score)
    old.add("tournament", **TOURNAMENT)
    for game in GAMES:
        add_game(old, game)
    add_fault(old, 1, 1, "black", "time")
    add_fault(old, 2, 3, "black", "disconnect")
    add_fault(old, 3, 5, "operator", "void")
    add_fault(old, 4, 5, "nobody", "void")
    old.add("flush", id=3, moves=JOURNAL, analysis={"10": {"2": {"depth": 4}}})


def add_game(old: Old, game: OldGame) -> None:
    """A game and its pairing; the games end in the order of their ids."""
    number, ladder, black, white, opening_plies, moves, state = game
    players = {"black_id": black, "white_id": white}
    old.add("pairing", id=number, tournament_id=1, number=number, round=1, opening=b"", **players)
    ended: dict[str, Any] = {"result": "*", "at_fault": "nobody"}
    if state != "running":
        ended = {
            "result": "1-0" if state == "finished" else "*",
            "ending": "five" if state == "finished" else "void",
            "at_fault": "nobody",
            "end_sequence": number,
            "end_time": NOON,
        }
    old.add(
        "game",
        id=number,
        pairing_id=number,
        tournament_id=1,
        ladder_id=ladder,
        opening_plies=opening_plies,
        moves=moves,
        times=b"",
        detail="",
        start_time=NOON,
        state=state,
        **players,
        **ended,
    )


def add_fault(old: Old, number: int, game: int, party: str, ending: str) -> None:
    """Why a game ended off the board."""
    words = {"party": party, "ending": ending, "version_id": 1 if party == "black" else None}
    old.add("fault", id=number, game_id=game, evidence={"ply": 3}, create_time=NOON, **words)


@pytest.fixture
def migrated(any_database_url: str) -> Iterator[Database]:
    """A database of the first schema, filled, and then migrated."""
    with Database(any_database_url) as database:
        migrate_to(database, "0001")
        database.write(fill)
        database.migrate()
        yield database


def test_ended_games_get_their_fingerprints(migrated: Database) -> None:
    """As if they had ended now; a running game has none."""
    query = select(Game.id, Game.fingerprint).order_by(Game.id)
    found = migrated.read(lambda at: at.execute(query).all())
    wanted = [
        (
            number,
            None
            if state == "running"
            else fingerprint(BotVersionId(black), BotVersionId(white), plies, moves),
        )
        for number, _, black, white, plies, moves, state in GAMES
    ]
    assert found == wanted


def test_games_get_the_keys_of_their_openings(migrated: Database) -> None:
    """As if they had begun now."""
    query = select(Game.id, Game.opening).order_by(Game.id)
    found = migrated.read(lambda at: at.execute(query).all())
    assert found == [(game[0], opening_key(game[5][: 2 * game[4]])) for game in GAMES]


def test_repeats_are_marked(migrated: Database) -> None:
    """On each ladder the games that are the same as an earlier one of it."""
    query = select(Game.id).where(Game.is_repeat.is_(True))
    assert set(migrated.read(lambda at: at.scalars(query).all())) == REPEATS


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        ("UPDATE game SET ending = 'resign' WHERE id = 2", {9}),
        ("UPDATE game SET result = '0-1' WHERE id IN (2, 9)", {9}),
        ("UPDATE game SET at_fault = 'white', ending = 'time' WHERE id = 1", {9}),
        ("UPDATE game SET opening_plies = 3 WHERE id IN (1, 2, 9)", set()),
        ("UPDATE game SET is_repeat = false WHERE id = 2", {9}),
    ],
)
def test_repeats_with_another_end_count(any_database_url: str, change: str, kept: set[int]) -> None:
    """And those that ended before a move; no game is marked that was not."""
    with Database(any_database_url) as database:
        migrate_to(database, "0001")
        database.write(fill)
        migrate_to(database, "0009")
        database.write(lambda to: to.execute(text(change)))
        database.migrate()
        query = select(Game.id).where(Game.is_repeat.is_(True))
        assert set(database.read(lambda at: at.scalars(query).all())) == kept


@pytest.mark.parametrize(
    ("state", "form", "variant", "is_filled"),
    [
        ("running", "sprt", "freestyle 15x15", True),
        ("cancelled", "sprt", "standard 17x15", True),
        ("finished", "sprt", "freestyle 15x15", False),
        ("running", "gauntlet", "freestyle 15x15", False),
    ],
)
def test_running_tests_know_their_repeats(
    any_database_url: str, *, state: str, form: str, variant: str, is_filled: bool
) -> None:
    """By what their games would have been given had they ended now; one that is over stays."""
    changes = f"state = '{state}', format = '{form}', variant = '{variant}'"
    with Database(any_database_url) as database:
        migrate_to(database, "0001")
        database.write(fill)
        database.write(lambda to: to.execute(text(f"UPDATE tournament SET {changes}")))
        database.write(
            lambda to: to.execute(text("UPDATE game SET opening_plies = 3 WHERE id = 9"))
        )
        database.migrate()
        query = select(Game.id, Game.symmetric_fingerprint)
        found = dict(database.read(lambda at: at.execute(query).all()))
    wanted = {
        number: symmetric_fingerprint(
            (BotVersionId(black), BotVersionId(white)),
            decode_moves(moves),
            Outcome(Ending.FIVE, Color.BLACK),
            opening_plies=3 if number == 9 else plies,
            variant=Variant.parse(variant),
        )
        for number, _, black, white, plies, moves, state in GAMES
        if is_filled and state == "finished"
    }
    assert found == {game[0]: wanted.get(game[0]) for game in GAMES}


def test_the_marks_are_those_that_the_log_gives(migrated: Database) -> None:
    """A run of the migrated games can be verified."""
    for ladder, games_of in ((LadderId(1), 4), (LadderId(2), 1)):
        with migrated.reader.begin() as at:
            marked = [*log.finished_games(at, ladder, after=0)]
            assert [*log.logged_games(at, ladder, cutoff=99, voided=0)] == marked
        assert sum(not game.is_repeat for game in marked) == games_of


def test_ladders_are_computed_anew(migrated: Database) -> None:
    """The old numbers are gone, and every ladder with games is dirty."""
    assert migrated.read(ladders.dirty_ladders) == [1, 2]
    found = migrated.read(lambda at: rating_runs.standings(at, LadderId(1)))
    assert (found.run, found.standings, found.ladder.games) == (None, [], 4)
    assert migrated.read(lambda at: ladders.anchors(at, LadderId(1))) == []
    assert migrated.read(lambda at: ladders.voided_games(at, LadderId(1))) == 0
    assert migrated.read(lambda at: tallies.last_mark(at, LadderId(1))) is None


def test_games_and_tournaments_are_kept(migrated: Database) -> None:
    """With what they had, and with defaults for what is new."""
    game = migrated.read(lambda at: games.get_game(at, GameId(2)))
    assert game is not None
    assert (game.black, game.white, game.moves) == ("ada", "bob", LINE)
    assert (game.state, game.result, game.ending) == (
        GameState.FINISHED,
        Result.BLACK_WINS,
        Ending.FIVE,
    )
    assert (game.at_fault, game.is_repeat, game.reason) == (Party.NOBODY, True, "")
    row = migrated.read(lambda at: tournaments.get_tournament(at, TournamentId(1)))
    assert row is not None
    assert (row.name, row.planned, row.finished, row.running) == ("spring", 10, 8, 1)
    columns = select(Tournament.openings, Tournament.options, Tournament.verdict)
    assert migrated.read(lambda at: at.execute(columns).one()) == (b"", None, "")
    assert migrated.read(lambda at: bots.find_bot(at, "ada")) == 1


SPRT = {
    "elo0": -5.0,
    "elo1": 0.0,
    "alpha": 0.1,
    "beta": 0.05,
    "scale": "logistic",
    "unit": "games",
    "most_games": 400,
}


@pytest.mark.parametrize(
    ("name", "stopping", "settings"),
    [
        (
            "sprt",
            SPRT,
            SprtSettings(Sprt(-5, 0, alpha=0.1, scale=Scale.LOGISTIC), Unit.GAMES, 400),
        ),
        ("ladder", {"confidence": 0.95, "most_games": 0}, LadderSettings(0.95, 0)),
    ],
)
def test_what_ended_a_tournament_is_read_by_its_format(
    any_database_url: str,
    name: str,
    stopping: dict[str, Any],
    settings: SprtSettings | LadderSettings,
) -> None:
    """Under the name that the column has now."""
    with Database(any_database_url) as database:
        migrate_to(database, "0003")
        database.write(
            lambda to: Old(to).add(
                "tournament",
                **TOURNAMENT | {"format": name, "rounds": 0, "ladder_id": None},
                stopping=stopping,
            )
        )
        database.migrate()
        row = database.read(lambda at: tournaments.get_tournament(at, TournamentId(1)))
    assert row.options is not None
    assert type(settings).parse(row.options) == settings


def test_moves_of_running_games_are_kept(migrated: Database) -> None:
    """With what the bots said they thought, under the numbers they had."""
    (found,) = migrated.read(lambda at: list(journal.kept_moves(at)))
    assert list(unpack_moves(found)) == [StoredMove(GameId(10), 2, 97, 5, 4)]
    assert migrated.read(partial(journal.running_analysis, games=[GameId(10)])) == {
        "10": {"2": {"depth": 4}}
    }
    assert migrated.read(journal.newest_entry).id == 3


def test_tokens_of_earlier_releases_go_on(any_database_url: str) -> None:
    """An admin's is an operator's, a bot's the bot's; a revoked one stays revoked."""
    with Database(any_database_url) as database:
        migrate_to(database, "0007")

        def add(connection: Connection) -> None:
            old = Old(connection)
            old.add("bot", id=1, name="ada", create_time=NOON, is_open=False)
            for key, kind, bot_id, revoke_time in (
                (1, "admin", None, None),
                (2, "bot", 1, None),
                (3, "admin", None, NOON),
            ):
                old.add(
                    "token",
                    id=key,
                    digest=tokens.token_digest(f"gmk_{key}"),
                    suffix="abcdef",
                    kind=kind,
                    create_time=NOON,
                    bot_id=bot_id,
                    revoke_time=revoke_time,
                )

        database.write(add)
        database.migrate()
        found = [
            database.read(partial(tokens.authenticate, token=f"gmk_{key}", now=NOON))
            for key in (1, 2, 3)
        ]
        rows = database.read(partial(bots.list_bots, limit=2))
    assert found == [
        Identity(TokenKind.OPERATOR, None, TokenId(1)),
        Identity(TokenKind.BOT, BotId(1), TokenId(2)),
        None,
    ]
    assert [(row.name, row.state, row.is_hidden) for row in rows] == [
        ("ada", BotState.ACTIVE, False)
    ]


def test_faults_get_their_kinds(migrated: Database) -> None:
    """What is void since its tournament was decided was nobody's fault."""
    rows = migrated.read(partial(faults.list_faults, limit=9))
    assert [(row.id, row.kind, row.party, row.bot) for row in rows] == [
        (3, FaultKind.VOIDED, FaultParty.OPERATOR, ""),
        (2, FaultKind.DISCONNECT, FaultParty.CONNECTION, "ada"),
        (1, FaultKind.TIME, FaultParty.BOT, "ada"),
    ]


def test_the_migrated_tables_take_new_rows(migrated: Database) -> None:
    """What is written from now on needs no default of the old kind."""
    anchors = [BotVersionId(1)]
    migrated.write(lambda to: ladders.set_anchors(to, LadderId(2), anchors))
    assert migrated.read(lambda at: ladders.anchors(at, LadderId(2))) == anchors
    version = migrated.read(lambda at: at.scalar(text("SELECT version_num FROM alembic_version")))
    assert version == max(step.stem[:4] for step in VERSIONS.glob("0*.py"))


def test_bots_count_the_games_that_are_there(migrated: Database) -> None:
    """Those with a result, rated or not, with either colour; nobody has been seen before."""
    found = migrated.read(lambda at: at.execute(select(Bot.name, Bot.games, Bot.last_seen_time)))
    finished = sum(game[-1] == "finished" for game in GAMES)
    assert sorted(tuple(row) for row in found) == [("ada", finished, None), ("bob", finished, None)]


def test_tournaments_count_the_games_that_are_there(migrated: Database) -> None:
    """From now on they are counted as they come and go; whoever played is entered."""
    counts = text(
        "SELECT (SELECT count(*) FROM pairing WHERE tournament_id = tournament.id) - planned,"
        " (SELECT count(*) FROM game WHERE tournament_id = tournament.id AND state = 'running')"
        " - running,"
        " (SELECT count(*) FROM game WHERE tournament_id = tournament.id AND state = 'finished')"
        " - finished, planned FROM tournament"
    )
    rows = migrated.read(lambda at: at.execute(counts).all())
    assert rows
    assert all(tuple(row[:3]) == (0, 0, 0) for row in rows)
    assert any(row.planned for row in rows)
    outside = text(
        "SELECT count(*) FROM pairing WHERE NOT EXISTS (SELECT 1 FROM entrant"
        " WHERE entrant.tournament_id = pairing.tournament_id AND bot_id = black_id)"
    )
    assert migrated.read(lambda at: at.scalar(outside)) == 0
