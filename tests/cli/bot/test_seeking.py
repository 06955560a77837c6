"""A bot that seeks challenges, at a server in the test's own process."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.processes import PATIENCE, eventually

from meijin.bots import Bot, Capabilities, Position, RandomBot
from meijin.bots.sdk.runner import BotThread
from meijin.cli.bot.seeking import NO_SEEK, Seeker, SeekOptions, candidates, rating_range
from meijin.cli.errors import CommandError
from meijin.cli.options import control_proto
from meijin.local.connection import Connection, Server, connect, list_bots
from meijin.testing import RunningServer, run_server
from meijin.v1 import bot_service_pb2 as bot_pb
from meijin.v1 import challenge_service_pb2 as pb
from meijin.v1.tournament_service_pb2 import TOURNAMENT_STATE_CANCELLED, TOURNAMENT_STATE_FINISHED

OWNERS, NONE = bot_pb.CHALLENGE_POLICY_OWNERS, bot_pb.CHALLENGE_POLICY_NONE


def wishes_for(**options: Any) -> Any:
    found = SeekOptions(seek="1/move", **options).wishes()
    assert found is not None
    return found


@pytest.fixture(scope="module")
def server() -> Iterator[RunningServer]:
    with run_server() as server:
        yield server


@pytest.fixture
def connection(server: RunningServer) -> Iterator[Connection]:
    with connect(Server(server.address), "") as connection:
        yield connection


def challenges(connection: Connection) -> list[pb.Challenge]:
    request = pb.ListChallengesRequest()
    return list(connection.ask(connection.challenges.ListChallenges, request).challenges)


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("", float("-inf"), float("inf")),
        ("1400..1700", 1400, 1700),
        ("1400..", 1400, float("inf")),
        ("..1700", float("-inf"), 1700),
    ],
)
def test_a_range_of_ratings(text: str, least: float, most: float) -> None:
    assert rating_range(text) == (least, most)


@pytest.mark.parametrize("text", ["1400", "1400-1700", "1700..1400", "a..b", "nan.."])
def test_what_is_no_range(text: str) -> None:
    with pytest.raises(CommandError, match=r"is no range of ratings; write it as 1400\.\.1700"):
        rating_range(text)


def test_what_can_not_be_sought() -> None:
    """Options without --seek, what is no duration, and what is too short."""
    assert NO_SEEK.wishes() is None
    with pytest.raises(CommandError, match="are of --seek"):
        SeekOptions(opponents="1400..").wishes()
    for every in ("often", "59s"):
        with pytest.raises(CommandError, match="--every"):
            wishes_for(every=every)
    assert wishes_for(every="1.5m").every == timedelta(seconds=90)


def test_who_was_met_longest_ago_comes_first() -> None:
    """After those who were never met; neither itself, nor who refuses, is paused or a person."""
    bots = [bot_pb.Bot(name=name, challenges=OWNERS) for name in ("me", "old", "new", "late")]
    bots.append(bot_pb.Bot(name="shut", challenges=NONE))
    bots.append(bot_pb.Bot(name="paused", challenges=OWNERS, paused=True))
    bots.append(bot_pb.Bot(name="~ada", is_person=True))
    past = [
        pb.Challenge(challenger="old", opponent="new"),
        pb.Challenge(challenger="me", opponent="late"),
        pb.Challenge(challenger="old", opponent="me"),
    ]
    found = candidates(bots, past, "me", wishes_for())
    assert [each.name for each in found] == ["new", "old", "late"]


def test_opponents_are_of_the_range() -> None:
    """Without one, those without a rating too."""
    ratings = {"a": 1399.0, "b": 1400.0, "c": 1700.0, "d": 1701.0, "none": None}
    bots = [bot_pb.Bot(name=name, challenges=OWNERS, rating=at) for name, at in ratings.items()]
    found = candidates(bots, [], "me", wishes_for(opponents="1400..1700"))
    assert {each.name for each in found} == {"b", "c"}
    assert len(candidates(bots, [], "me", wishes_for())) == len(ratings)


def test_one_challenge_after_another(server: RunningServer, connection: Connection) -> None:
    """Each of the others in turn; one that can't play this is passed over."""

    class Small(RandomBot):
        capabilities = Capabilities(min_size=3, max_size=14)

    for name in ("seeker", "ada", "eve"):
        server.add_bot(RandomBot(), name=name)
    server.add_bot(Small(), name="small")
    eventually(lambda: len(list_bots(connection, connected=True)) == 4)
    seeker = Seeker("seeker", wishes_for())
    for number in (1, 2):
        assert seeker.seek(connection).startswith(f"challenge {number}: 2 games of 1/move with ")
        eventually(lambda: challenges(connection)[0].state == TOURNAMENT_STATE_FINISHED)
    played = challenges(connection)
    assert {each.opponent for each in played} == {"ada", "eve"}
    assert [each.finished_games for each in played] == [2, 2]


def test_a_challenge_that_waits_is_taken_back(
    server: RunningServer, connection: Connection
) -> None:
    """At the second look; and one that goes on is left alone, until its bot leaves."""
    gate = threading.Event()

    class Silent(Bot):
        def choose(self, position: Position) -> int:
            gate.wait(PATIENCE)
            return position.legal_cells()[0]

    request = bot_pb.RegisterBotRequest(name="silent")
    token = connection.ask(connection.bots.RegisterBot, request).token
    silent = BotThread(Silent(), server=server.address, name="silent", token=token)
    silent.start()
    server.add_bot(RandomBot(), name="me")
    names = {"me", "silent"}
    eventually(lambda: {each.name for each in list_bots(connection, connected=True)} >= names)
    wishes = wishes_for()
    wishes.settings.time_control.CopyFrom(control_proto("1h"))
    seeker = Seeker("me", wishes)
    try:
        while "with silent" not in seeker.seek(connection):
            eventually(lambda: challenges(connection)[0].state == TOURNAMENT_STATE_FINISHED)
        assert seeker.seek(connection).endswith(" goes on")
        (last, *_) = challenges(connection)
        silent.stop()
        eventually(lambda: challenges(connection)[0].waiting_for)
        assert "goes on: silent" in seeker.seek(connection)
        assert seeker.seek(connection).startswith("challenge ")
        state = {each.challenge_id: each.state for each in challenges(connection)}
        assert state[last.challenge_id] == TOURNAMENT_STATE_CANCELLED
    finally:
        gate.set()
        silent.stop()
