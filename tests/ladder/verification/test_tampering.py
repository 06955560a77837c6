"""Tamperings with a ladder's database: each is found, with the first game, day, line or figure."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from shutil import copyfile

import pytest
from tests.ladder.verification.real_games import DAYS, GAMES, five, made_ladder
from tests.store.league import BLACK

from meijin.game import encode_moves
from meijin.ladder.algorithms.registry import UnknownAlgorithmError
from meijin.ladder.verification.verify import verify
from meijin.store import Database
from meijin.store.ladders.games import fingerprint
from meijin.store.schema import BotVersionId, LadderId, RatingRunId

LADDER = LadderId(1)
OTHER_MOVES = encode_moves(five(BLACK, 99))
"""Of another game that black wins."""
OTHER_FINGERPRINT = fingerprint(BotVersionId(1), BotVersionId(2), 2, OTHER_MOVES)
GAME = "UPDATE game SET {} WHERE id = 1000001"
RUN = "UPDATE rating_run SET {} WHERE id = 4"
LINE = "UPDATE rating SET {} WHERE run_id = 4 AND rank = 2"
PARAMETERS = "UPDATE rating_run SET parameters = json_set(parameters, {}) WHERE id = 4"
DAY = "day = '2026-01-02'"
BOT = r"freestyle-15x15-bot-\d [12]\.0"

TAMPERINGS = [
    # Games.
    (
        GAME.format("result = '0-1'"),
        rf"games of 2026-01-01: {BOT} against {BOT} .* kept 1-0-0, computed 0-0-1 \(game 1000001\)",
    ),
    (
        GAME.format("result = '1/2-1/2', ending = 'draw'"),
        rf"games of 2026-01-01: {BOT} .* kept 1-0-0, computed 0-1-0 \(game 1000001\)",
    ),
    (
        "DELETE FROM game WHERE id = 1000001",
        rf"games of 2026-01-01: {BOT} .* kept 1-0-0, computed 0-0-0 \(game gone\)",
    ),
    (
        f"DELETE FROM game WHERE id = {1_000_000 + GAMES}",
        "games of 2026-01-01: the last one, whose end is number 14, is gone",
    ),
    (
        GAME.format("state = 'void', result = '*', ending = 'void'"),
        rf"games of 2026-01-01: {BOT} .* kept 1-0-0, computed 0-0-0 \(game 1000001\)",
    ),
    (GAME.format("black_id = white_id, white_id = black_id"), "game 1000001: fingerprint kept"),
    (GAME.format(f"moves = X'{OTHER_MOVES.hex()}'"), "game 1000001: fingerprint kept"),
    (
        GAME.format(f"moves = X'{OTHER_MOVES.hex()}', fingerprint = {OTHER_FINGERPRINT}"),
        "game 1000001: opening kept",
    ),
    (
        GAME.format("moves = CAST(substr(moves, 1, 16) || X'6300' AS BLOB)"),
        "game 1000001: fingerprint kept",
    ),
    (GAME.format("fingerprint = fingerprint + 1"), "game 1000001: fingerprint kept"),
    (GAME.format("opening = 7"), "game 1000001: opening kept 7, computed"),
    (GAME.format("opening_plies = 0"), "game 1000001: fingerprint kept"),
    (GAME.format("end_time = '2026-01-02 12:00:00.000000'"), "games of 2026-01-01: "),
    (GAME.format("is_repeat = 1"), "game 1000001: repeat kept True, computed False"),
    (
        "UPDATE game SET is_repeat = 0 WHERE id = 1000014",
        "game 1000014: repeat kept False, computed True",
    ),
    (
        "UPDATE game SET end_sequence = 18 + 1 - end_sequence WHERE end_sequence IN (6, 13)",
        "games of 2026-01-01: ",
    ),
    (
        "UPDATE game SET at_fault = 'nobody', ending = 'resign' WHERE id = 1000004",
        rf"games of 2026-01-01: {BOT} faults kept 1, computed 0",
    ),
    # The run.
    (RUN.format("checksum = 'ab' || substr(checksum, 3)"), "checksum kept ab"),
    (RUN.format("cutoff = cutoff - 1"), "games of 2026-01-04: the last one"),
    (RUN.format("cutoff = cutoff + 1"), "cutoff kept 57, computed 56"),
    (RUN.format("games = games + 1"), r"games kept 52, computed 51"),
    (RUN.format("repeats = 0"), "repeats kept 0, computed 4"),
    (
        RUN.format("voided = 0"),
        rf"games of 2026-01-01: {BOT} .* kept 0-0-0, computed 0-0-1 \(game 1000009\)",
    ),
    (RUN.format("revision = 2"), "revision kept 2, and"),
    (RUN.format("create_time = '2020-01-01 00:00:00.000000'"), "time kept 2020-01-01"),
    (RUN.format("create_time = '2120-01-01 00:00:00.000000'"), "time kept 2120-01-01"),
    (PARAMETERS.format("'$.draws', 1.0"), r"parameters draws kept 1\.0000, computed"),
    (PARAMETERS.format("'$.anchors', json('[2]')"), "checksum kept"),
    (PARAMETERS.format("'$.stranger', 1"), "parameters stranger kept 1, computed None"),
    (
        RUN.format("diagnosis = json_set(diagnosis, '$.goodness.p_value', 0.5)"),
        r"diagnosis goodness p_value kept 0\.5000, computed",
    ),
    ("UPDATE ladder SET run_id = 3", "published run kept 3, and the newest is 4"),
    ("UPDATE ladder SET voided = 0", "voided games kept 0, and the fault ledger has 1"),
    ("DELETE FROM fault", "voided games kept 1, and the fault ledger has 0"),
    # Its lines.
    (LINE.format("elo = elo + 1"), rf"line of {BOT}: elo kept \d+\.\d{{4}}, computed \d+\.\d{{4}}"),
    (LINE.format("margin = margin + 0.0001"), rf"line of {BOT}: margin kept"),
    (LINE.format("superiority = 0.99"), rf"line of {BOT}: superiority kept 0\.9900"),
    (LINE.format("classic_elo = 2000"), rf"line of {BOT}: classic_elo kept 2000\.0000"),
    (LINE.format("depends_on_opponents = 1"), rf"line of {BOT}: depends_on_opponents kept True"),
    (LINE.format("is_provisional = 1 - is_provisional"), rf"line of {BOT}: is_provisional kept"),
    (LINE.format("wins_as_black = wins_as_black + 1"), rf"line of {BOT}: wins_as_black kept"),
    ("DELETE FROM rating WHERE run_id = 4 AND rank = 2", rf"line of {BOT}: not kept"),
    (LINE.format("version_id = (SELECT max(id) FROM bot_version)"), rf"line of {BOT}: not kept"),
    # What is kept beside it.
    (
        "UPDATE posterior SET matrix = zeroblob(length(matrix))",
        rf"covariance of {BOT} and {BOT}: kept 0\.0, computed",
    ),
    ("DELETE FROM posterior", "covariance: not kept"),
    (
        f"UPDATE rating_day SET elo = elo + 1 WHERE {DAY} AND version_id = 3",
        rf"history of 2026-01-02 {BOT} elo kept",
    ),
    (
        f"DELETE FROM rating_day WHERE {DAY} AND version_id = 3",
        rf"history of 2026-01-02 {BOT} kept None",
    ),
    (
        f"UPDATE calibration_day SET points = points + 1 WHERE {DAY}",
        r"history of 2026-01-02 calibration\[\d+\] points kept",
    ),
    (
        f"UPDATE day_tally SET games = games + 1 WHERE {DAY}",
        "games of 2026-01-02: games kept 26, computed 25",
    ),
    (
        f"UPDATE day_tally SET chain = zeroblob(32) WHERE {DAY}",
        "games of 2026-01-02: chain kept 00",
    ),
    (
        f"UPDATE day_tally SET counts = (SELECT counts FROM day_tally LIMIT 1) WHERE {DAY}",
        "games of 2026-01-02: .* W-D-L kept",
    ),
    ("UPDATE bot_version SET parent_id = NULL WHERE parent_id IS NOT NULL", "checksum kept"),
]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("honest") / "meijin.db"
    made_ladder(path)
    return path


@pytest.fixture
def database(honest: Path, tmp_path: Path) -> Iterator[Database]:
    """A copy, to be tampered with."""
    path = tmp_path / "meijin.db"
    copyfile(honest, path)
    with Database(f"sqlite:///{path}") as database:
        yield database


def tamper(database: Database, statement: str) -> None:
    assert database.file is not None
    with closing(sqlite3.connect(database.file)) as connection, connection:
        assert connection.execute(statement).rowcount > 0


def test_the_honest_ladder_is_verified(database: Database) -> None:
    """Each of its runs, with its games played again."""
    for run_id in range(1, DAYS + 1):
        found = verify(database, LADDER, RatingRunId(run_id), is_replayed=True)
        assert found.differences == ()


@pytest.mark.parametrize(("statement", "first"), TAMPERINGS)
def test_a_tampering_is_found(database: Database, statement: str, first: str) -> None:
    """By the first sentence about it."""
    tamper(database, statement)
    found = verify(database, LADDER).differences
    assert found
    assert re.match(first, found[0])


def test_a_clock_may_have_been_stepped(database: Database) -> None:
    """The run seems to be from two hours before its games."""
    when = "strftime('%Y-%m-%d %H:%M:%S.000000', max(end_time), '-2 hours')"
    tamper(database, RUN.format(f"create_time = (SELECT {when} FROM game)"))
    assert verify(database, LADDER).differences == ()


REPLAYED = [
    (GAME.format("result = '0-1'"), 'game 1000001: it ends "white wins by five", and the board'),
]


@pytest.mark.parametrize(("statement", "first"), REPLAYED)
def test_a_replay_finds_the_game(database: Database, statement: str, first: str) -> None:
    """Whose moves give another result than is kept."""
    tamper(database, statement)
    assert re.match(first, verify(database, LADDER, is_replayed=True).differences[0])


def test_an_unknown_algorithm_is_refused(database: Database) -> None:
    tamper(database, RUN.format("algorithm = 'my-own'"))
    with pytest.raises(UnknownAlgorithmError, match="run 4 was computed by my-own"):
        verify(database, LADDER)
