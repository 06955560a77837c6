import hashlib
import io
import json
from collections.abc import Iterator
from importlib.metadata import version
from zipfile import ZipFile

import pytest
from tests.cli.made_games import VOID, WON

from meijin.cli.tournament.archive import write_archive
from meijin.game import TimeControl, Variant, from_sgf
from meijin.game.records.json import from_json
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.records import record_from_proto
from meijin.wire.values import time_control_to_proto, variant_to_proto

FOUND = pb.GetTournamentResponse(
    tournament=pb.Tournament(
        tournament_id="3",
        state=pb.TOURNAMENT_STATE_FINISHED,
        settings=pb.TournamentSettings(
            name="spring cup",
            bots=["ada", 'b"o,b'],
            seed=5,
            rounds=2,
            variant=variant_to_proto(Variant()),
            time_control=time_control_to_proto(TimeControl.parse("60+0.5")),
        ),
    ),
    crosstable=[
        pb.CrosstableCell(bot='b"o,b', opponent="ada", losses=1),
        pb.CrosstableCell(bot="ada", opponent='b"o,b', wins=1),
    ],
    standings=[pb.TournamentStanding(rank=1, bot="ada", points=1, games=1, wins=1)],
)


@pytest.fixture
def opened() -> Iterator[ZipFile]:
    with ZipFile(io.BytesIO(archive())) as opened:
        yield opened


def archive() -> bytes:
    file = io.BytesIO()
    assert write_archive(file, FOUND, iter([VOID, WON])) == 2
    return file.getvalue()


def test_every_game_is_there_twice(opened: ZipFile) -> None:
    for game in (WON, VOID):
        record = record_from_proto(game)
        assert from_sgf(opened.read(f"games/{game.game_id}.sgf").decode()) == record
        assert from_json(opened.read(f"games/{game.game_id}.json").decode()) == record


def test_the_manifest_has_every_file_s_checksum(opened: ZipFile) -> None:
    manifest = json.loads(opened.read("manifest.json"))
    names = set(opened.namelist()) - {"manifest.json"}
    checksums = {name: hashlib.sha256(opened.read(name)).hexdigest() for name in names}
    assert manifest["files"] == checksums
    assert opened.testzip() is None
    assert (manifest["format"], manifest["version"]) == ("meijin-tournament", 1)
    assert manifest["software"] == f"meijin {version('meijin')}"
    assert (manifest["name"], manifest["state"], manifest["games"]) == ("spring cup", "finished", 2)
    assert (manifest["variant"], manifest["time_control"]) == ("freestyle 15x15", "60+0.5")


def test_the_tables_are_there(opened: ZipFile) -> None:
    assert opened.read("crosstable.csv").decode() == (
        'bot,opponent,wins,draws,losses\nada,"b""o,b",1,0,0\n"b""o,b",ada,0,0,1\n'
    )
    assert opened.read("standings.csv").decode() == (
        "rank,bot,points,games,wins,draws,losses\n1,ada,1.0,1,1,0,0\n"
    )


def test_the_same_tournament_gives_the_same_bytes(opened: ZipFile) -> None:
    assert archive() == archive()
    assert {info.date_time for info in opened.infolist()} == {(1980, 1, 1, 0, 0, 0)}
