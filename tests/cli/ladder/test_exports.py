import csv
import json
from datetime import UTC, datetime

import pytest

from meijin.cli.ladder.exports import citation, manifest, pairs_csv, pgn, player_names
from meijin.v1 import ladder_service_pb2 as pb


def version(key: int, bot: str, label: str = "") -> pb.RatedVersion:
    return pb.RatedVersion(version_id=str(key), bot=bot, version=label)


ADA, BOB = version(1, "ada", "1.0"), version(2, 'b"o\\b')
OLD, NEW = version(3, "cyd", "x"), version(4, "cyd", "x")
COUNTS = [
    pb.PairCount(black=ADA, white=BOB, score=pb.Score(wins=2, draws=1)),
    pb.PairCount(black=OLD, white=NEW, score=pb.Score(losses=1)),
]


@pytest.fixture
def table() -> pb.GetStandingsResponse:
    run = pb.RatingRun(
        run_id="7",
        games=30,
        repeats=2,
        checksum="ab" * 32,
        algorithm="rao-kupper",
        parameters='{"advantage": 20.5}',
        cutoff=32,
    )
    run.create_time.FromDatetime(datetime(2026, 3, 4, 12, tzinfo=UTC))
    rows = [pb.Standing(rank=1, bot="ada", version="1.0", version_id="1"), pb.Standing(bot="bob")]
    return pb.GetStandingsResponse(ladder=pb.Ladder(name="caro"), run=run, standings=rows)


def test_no_two_versions_are_called_the_same() -> None:
    """An only version has its bot's name; labels that are shared or empty are not enough."""
    versions = [ADA, BOB, OLD, NEW, version(5, "cyd"), version(6, "cyd", "y"), version(7, "")]
    names = ["ada", 'b"o\\b', "cyd x #3", "cyd x #4", "cyd #5", "cyd y", "#7"]
    assert player_names([*versions, ADA]) == dict(zip("1234567", names, strict=True))


def test_pairs_are_counted_by_colours() -> None:
    rows = list(csv.DictReader(pairs_csv(COUNTS).splitlines()))
    assert rows[0]["white"] == 'b"o\\b'
    assert [(row["black"], row["wins"], row["draws"], row["losses"]) for row in rows] == [
        ("ada", "2", "1", "0"),
        ("cyd x #3", "0", "0", "1"),
    ]
    assert [(row["black_id"], row["white_id"]) for row in rows] == [("1", "2"), ("3", "4")]


def test_games_in_portable_game_notation() -> None:
    """Each game has its players, whoever moved first as White, and its result twice."""
    games = "".join(pgn(COUNTS)).split("\n\n")
    heads, results = games[:-1:2], games[1::2]
    assert results == ["1-0", "1-0", "1/2-1/2", "0-1"]
    assert heads[0] == '[White "ada"]\n[Black "b\\"o\\\\b"]\n[Result "1-0"]'
    assert heads[3] == '[White "cyd x #3"]\n[Black "cyd x #4"]\n[Result "0-1"]'


def test_a_manifest_says_what_a_run_is(table: pb.GetStandingsResponse) -> None:
    made = json.loads(json.dumps(manifest(table)))
    assert made["verify"] == "meijin ladder verify caro --run 7"
    assert (made["checksum"], made["cutoff"]) == ("ab" * 32, 32)
    assert made["create_time"] == "2026-03-04T12:00:00+00:00"
    assert made["parameters"] == {"advantage": 20.5}
    assert made["versions"][0] == {"id": "1", "bot": "ada", "version": "1.0", "rank": 1}


def test_a_citation_names_run_and_checksum(table: pb.GetStandingsResponse) -> None:
    sentence, check, _, *entry = citation(table).splitlines()
    assert sentence.startswith("Gomoku ladder caro, run 7, 2026-03-04 (UTC): 30 rated games")
    assert "ab" * 32 in sentence
    assert check == "Check: meijin ladder verify caro --run 7"
    assert entry[0] == "@misc{meijin-caro-7,"
    assert entry[-1] == "}"
    assert "  year = {2026}," in entry
