"""Streams of live boards: what a browser is told, and what one costs that reads nothing."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from tests.peer import play_moves
from tests.server_in_test import FIVE, until
from tests.web.browsing import Browsing
from tests.web.conftest import SiteInTest
from tests.web.streaming import Stream, listening

from meijin.web.live import hub as module
from meijin.web.live.topics import Topic
from meijin.web.live.watcher import BEAT
from meijin.web.state import SiteSettings


async def until_stones(
    stream: Stream, count: int, known: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What is told when the only game has this many stones, taken together."""
    known = {"moves": []} | (known or {})
    while len(known["moves"]) < count:
        for game in (await stream.until("games"))["games"]:
            moves = known["moves"][: game.get("ply", len(known["moves"]))]
            known |= game | {"moves": moves + game.get("moves", [])}
    return known


async def test_some_of_the_arena_is_told(site: SiteInTest) -> None:
    """By rule and by bot, as its page has it; what can't be is refused."""
    black, _ = await site.server.pair()
    for topic, count in ((f"bot:{black.name}", 1), ("rule:freestyle", 1), ("rule:renju", 0)):
        async with listening(site.app, f"arena/{topic}") as stream:
            assert len((await stream.until("games"))["games"]) == count
        rule, _, name = topic.partition(":")
        page = (await site.browse().get(f"/live?{rule}={name}")).text
        assert page.count('<article class="live-board" data-game') == count
        assert f'data-live="arena/{topic}"' in page
    for wrong in ("arena/rule:chess", "arena/bot:", "arena/bot:ada/rule:renju"):
        assert (await site.browse().get(f"/events?topics={wrong}")).status == 400


@pytest.mark.parametrize("name", ["Ada_1.x", "~zoe-7"])
def test_games_of_any_name_are_watched(name: str) -> None:
    """Of bots, and of people, whose names begin with a tilde."""
    assert Topic.parse(f"arena/bot:{name}").bot == name


async def test_a_game_is_told_to_its_end(site: SiteInTest) -> None:
    """All of it first, then its moves as they come, and that nothing will follow."""
    players = await site.server.pair()
    await play_moves(players, FIVE[:2])
    async with listening(site.app, "game:1") as stream:
        assert (await stream.event())[0] == "hello"
        assert stream.headers["content-type"].startswith("text/event-stream")
        first = await stream.until("games")
        assert first["whole"]
        (game,) = first["games"]
        assert game["game"]["black"] == players[0].name
        await play_moves(players, FIVE[2:], first=2)
        last = await until_stones(stream, len(FIVE), game)
        assert last["game"]["ended"]
        assert last["game"]["outcome"] == "black wins by five"
        assert await stream.until("over") == {"topic": "game:1"}
        assert (await stream.event())[0] == "end"
    assert site.state.live.is_idle


async def test_all_who_watch_share_one_watch_and_its_frames(site: SiteInTest) -> None:
    """A newcomer is first told all; then everybody gets the very same bytes."""
    players = await site.server.pair()
    async with listening(site.app, "arena") as one, listening(site.app, "arena") as two:
        for stream in (one, two):
            await stream.until("games")
        assert site.server.tasks("WatchArena") == 0  # it is a call of the process itself
        await play_moves(players, FIVE[:1])
        frames = [await stream.frame() for stream in (one, two)]
        assert frames[0] is frames[1]
        assert b'"whole":false' in frames[0]
        async with listening(site.app, "arena") as late:
            assert (await late.until("games"))["whole"]
    await until(lambda: site.state.live.is_idle)


async def test_one_who_reads_nothing_is_cut_off(
    site: SiteInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing waits for it meanwhile, and when it reads again it gets the newest state alone."""
    monkeypatch.setattr(module, "SWEEP_INTERVAL", timedelta(seconds=0.01))
    monkeypatch.setattr(module, "BEAT_INTERVAL", timedelta(seconds=0.1))
    players = await site.server.pair()
    async with listening(site.app, "game:1") as stream, listening(site.app, "game:1") as other:
        await stream.until("games")
        stream.reads.clear()
        await play_moves(players, FIVE[:4])
        await until_stones(other, 4)
        assert stream.frames.qsize() <= 1  # a sign of life
        stream.reads.set()
        assert len((await until_stones(stream, 4))["moves"]) == 4
        stream.reads.clear()
        monkeypatch.setattr(module, "WRITE_TIMEOUT", timedelta(0))
        await until(lambda: stream.cuts)
    assert site.state.live.is_idle


async def test_streams_end_when_the_site_stops(site: SiteInTest) -> None:
    """By an event, and nobody is let in any more."""
    await site.server.pair()
    async with listening(site.app, "game:1") as stream:
        await stream.until("games")
        site.state.closing.set()
        await stream.until("end")
    answer = await site.browse().get("/events?topics=arena")
    assert (answer.status, answer.headers["retry-after"]) == (503, "20")


async def test_signs_of_life(site: SiteInTest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream where nothing happens has comments."""
    monkeypatch.setattr(module, "SWEEP_INTERVAL", timedelta(seconds=0.01))
    monkeypatch.setattr(module, "BEAT_INTERVAL", timedelta(0))
    async with listening(site.app, "arena") as stream:
        while await stream.frame() != BEAT:
            pass


@pytest.mark.parametrize(
    ("limit", "status"),
    [("MAX_STREAMS", 503), ("MAX_STREAMS_OF_HOST", 429), ("MAX_SUBSCRIPTIONS", 503)],
)
async def test_too_many_streams_are_refused(
    site: SiteInTest, monkeypatch: pytest.MonkeyPatch, limit: str, status: int
) -> None:
    """In all, of an address, and of topics; with when to come back."""
    async with listening(site.app, "arena") as stream:
        await stream.until("games")
        monkeypatch.setattr(module, limit, 1)
        async with listening(site.app, "tournament:1") as refused:
            await until(lambda: refused.status)
        assert (refused.status, refused.headers["retry-after"]) == (status, "20")
    async with listening(site.app, "tournament:1") as stream:
        await stream.until("games")


@pytest.mark.parametrize("topics", ["", "game:x", "game:0", "games", "arena,"])
async def test_no_such_topic(site: SiteInTest, topics: str) -> None:
    """In words, and without a stream."""
    assert (await site.browse().get(f"/events?topics={topics}")).status == 400


async def test_too_many_topics(site: SiteInTest) -> None:
    """A page shows one grid, or a few games."""
    names = ",".join(f"game:{number}" for number in range(1, 6))
    answer = await site.browse().get(f"/events?topics={names}")
    assert answer.status == 400
    assert "at most 4" in answer.text


@pytest.mark.settings(registration="closed", reading="token")
async def test_who_may_not_read_is_told(site: SiteInTest, browsing: Browsing) -> None:
    """A stream without a token, where reading needs one, says so once; with one it moves."""
    async with listening(site.app, "arena") as stream:
        assert "token" in (await stream.until("refused"))["why"]
        await stream.until("end")
    await browsing.post("/sign-in", token=site.server.operator_token, next="/")
    ((name, value),) = browsing.cookies.items()
    async with listening(site.app, "arena", cookie=f"{name}={value}") as stream:
        assert (await stream.until("games"))["whole"]


async def test_a_question_for_the_head_alone_ends_at_once(site: SiteInTest) -> None:
    answer = await site.browse().send("HEAD", "/events?topics=arena", b"", {})
    assert answer.status == 200
    assert site.state.live.is_idle


async def test_boards_are_behind_by_the_delay(site: SiteInTest) -> None:
    """Not a stone is told before its time, by a page or by a stream."""
    site.state.settings = SiteSettings(delay=timedelta(hours=1))
    players = await site.server.pair()
    await play_moves(players, FIVE[:1])
    async with listening(site.app, "game:1") as stream:
        await stream.until("hello")
        await players[1].turn()
        (subscription,) = site.state.live._subscriptions.values()
        await asyncio.sleep(0)
        assert subscription.cell.version == 0
        assert stream.frames.empty()
    page = (await site.browse().get("/live")).text
    assert 'data-game="1"' not in page
    assert "1 h 0 min behind" in page
