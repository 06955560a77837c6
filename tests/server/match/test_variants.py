"""A known program with other options, on other hardware or at another speed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from meijin.store.access import versions
from meijin.store.bots import list_versions
from meijin.store.games import get_game
from meijin.store.schema import BotId, GameId
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb

if TYPE_CHECKING:
    from tests.peer import Peer
    from tests.server_in_test import ServerInTest

ENGINE = pb.Engine(version="1.0", digest="d", configuration=["depth=4"])
SAID = {"hardware": "Ryzen", "threads": 4, "memory_bytes": 2**30, "nodes_per_second": 1_000_000}
ANY = pb.Capabilities(
    rules=game_pb2.Rule.values()[1:], min_board_size=3, max_board_size=22, any_line=True
)


async def come(server: ServerInTest, **said: Any) -> tuple[Peer, str]:
    """A stream of ada's with what her owner is told."""
    peer = await server.peer()
    await peer.hello("ada", **{"engine": ENGINE, "capabilities": ANY, **SAID, **said})
    return peer, (await peer.welcome()).notice


@pytest.mark.parametrize(
    ("said", "kinds", "difference"),
    [
        ({"hardware": "EPYC"}, "hardware", "EPYC instead of Ryzen"),
        ({"threads": 16}, "hardware", "16 instead of 4 threads"),
        ({"memory_bytes": 2**31}, "hardware", "2,048 MB instead of 1,024 MB"),
        ({"nodes_per_second": 2_500_000}, "speed", "2.50M instead of 1.00M nodes/s"),
        (
            {"engine": pb.Engine(version="1.0", digest="d"), "threads": 8},
            "options and hardware",
            "no options instead of depth=4, 8 instead of 4 threads",
        ),
    ],
    ids=lambda value: "" if isinstance(value, dict) else value,
)
async def test_an_owner_is_told_of_another_version(
    server: ServerInTest, said: dict[str, Any], kinds: str, difference: str
) -> None:
    """Once, and not when the bot comes back as either; nor of a first version."""
    assert (await come(server))[1] == ""
    told = f'"ada" plays as version "1.0 #2", rated by itself: other {kinds} than version "1.0" '
    assert (await come(server, **said))[1] == f"{told}({difference})"
    for again in (said, {}, said):
        assert (await come(server, **again))[1] == ""


async def test_a_bot_is_listed_as_what_is_there(server: ServerInTest) -> None:
    """Not as its newest version, when it has come back to another machine."""
    for threads in (4, 16, 4):
        await come(server, threads=threads)
        (bot,) = (await server.ask("BotService/ListBots")).bots
        assert (bot.threads, bot.hardware) == (threads, "Ryzen")


async def test_games_are_of_the_version_that_begins_them(server: ServerInTest) -> None:
    """One that runs goes on with the same program elsewhere; the next one is the new version's."""
    await server.bot("bob")
    laptop, _ = await come(server)
    await server.tournament("ada", "bob")
    await laptop.started()
    for threads in (16, 16, 4):
        peer, _ = await come(server, threads=threads)
        if not server.running:
            await server.tournament("ada", "bob")
        await peer.resign((await peer.started()).game)
        await peer.ended()
    rows = [server.database.read(get_game, GameId(number)) for number in (1, 2, 3)]
    bots = [row.black_id if row.black == "ada" else row.white_id for row in rows]
    ids = {row.threads: row.id for row in server.database.read(list_versions, BotId(2), limit=9)}
    assert bots == [ids[4], ids[16], ids[4]]


async def test_machines_make_few_versions(
    server: ServerInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bot that says another one each time stays a version, which tells what it said last."""
    monkeypatch.setattr(versions, "MAX_VARIANTS_A_DAY", 2)
    notices = [(await come(server, threads=threads))[1] for threads in (1, 2, 3, 99)]
    assert notices[3] == (
        '"ada" still plays as version "1.0 #2" with other hardware (99 instead of 2 threads): '
        "a bot with 2 new versions in a day or 1,000 in all gets none for that"
    )
    listed = (await server.ask("BotService/ListBotVersions", name="ada")).versions
    assert [each.threads for each in listed] == [1, 2]
    assert [each.deviation for each in listed] == ["", "99 instead of 2 threads"]
