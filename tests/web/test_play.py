"""People's games in the browser: moves, openings, taking back, hints, and what goes wrong."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from unittest.mock import Mock
from urllib.parse import urlencode

import pytest
from tests.peer import Peer
from tests.web.browsing import ORIGIN, Answer, Browsing
from tests.web.conftest import SiteInTest

from meijin.game import FREE, SWAP2
from meijin.v1 import bot_service_pb2, game_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.web.gateway import Services, Visitor
from meijin.web.pages.play import queue
from meijin.web.pages.play.person import COOKIE, PlayingPerson
from meijin.web.play import game_events
from meijin.web.play import stream as play_stream

JSON = {
    "accept": "application/json",
    "origin": ORIGIN,
    "content-type": "application/x-www-form-urlencoded",
}


async def taker(site: SiteInTest, name: str, **more: Any) -> Peer:
    """A bot that takes on anybody."""
    bot = await site.server.bot(name, **{"max_games": 4, **more})
    policy = bot_service_pb2.CHALLENGE_POLICY_ANYONE
    await site.server.ask("BotService/UpdateBot", name=name, challenges=policy)
    return bot


@pytest.fixture
async def rita(site: SiteInTest) -> Peer:
    """One of these, which plays any opening and evaluates positions."""
    return await taker(site, "rita", opening_rules=(FREE, SWAP2), evaluates=True)


@dataclass(frozen=True, slots=True)
class Seat:
    """A person at the board of a game."""

    browsing: Browsing
    game_id: str

    async def state(self, ply: int = 0) -> dict[str, Any]:
        """The game as its page has it, once this many stones lie there."""
        async with asyncio.timeout(20):
            while True:
                page = await self.browsing.get(f"/play/{self.game_id}")
                assert page.status == 200, page.text
                found = re.search(r'data-state="([^"]*)"', page.text)
                assert found is not None
                told: dict[str, Any] = json.loads(found[1].replace("&#34;", '"'))
                if len(told["moves"]) >= ply and (told["is_turn"] or told["is_over"]):
                    return told
                await asyncio.sleep(0.01)

    async def post(self, action: str, **fields: str) -> Answer:
        return await self.browsing.post(f"/play/{self.game_id}/{action}", **fields)

    async def send(self, action: str, **fields: str) -> Any:
        """What the page's script is told."""
        path, body = f"/play/{self.game_id}/{action}", urlencode(fields).encode()
        return json.loads((await self.browsing.send("POST", path, body, JSON)).text)


async def begin(browsing: Browsing, **fields: str) -> Seat:
    wanted = {"opponent": "rita", "size": "9", "color": "black", **fields}
    answer = await browsing.post("/play", **wanted)
    assert answer.status == 303, answer.text
    return await led_to(browsing, answer)


async def led_to(browsing: Browsing, answer: Answer) -> Seat:
    assert re.fullmatch(r"/play/challenges/\d+", answer.headers["location"])
    led = await browsing.get(answer.headers["location"])
    assert led.status == 303, led.text
    return Seat(browsing, led.headers["location"].removeprefix("/play/"))


@pytest.mark.usefixtures("rita")
async def test_lobby_shows_who_takes_on_anybody(site: SiteInTest, browsing: Browsing) -> None:
    """Bots that do not are left out, and people are told how to change that."""
    await site.server.bot("shy")
    page = (await browsing.get("/play")).text
    assert 'value="rita"' in page
    assert 'value="shy"' not in page


LINK = (
    "/play?bot=rita&rule=renju&size=15&line=5&opening_rule=swap2&color=white&bot_time=2"
    "&clock=5m%2B5s"
)


@pytest.mark.usefixtures("rita")
async def test_link_sets_all_terms(browsing: Browsing) -> None:
    """What an address asks for is chosen in the form, whose own link says it again."""
    page = (await browsing.get(LINK)).text
    for value in ("rita", "renju", "15", "swap2", "white", "2", "5m+5s"):
        assert f'<option value="{value}" selected>' in page
    assert ORIGIN + LINK.replace("&", "&amp;") in page
    assert "message wrong" not in page


@pytest.mark.usefixtures("rita")
async def test_link_is_shown_for_what_is_chosen(browsing: Browsing) -> None:
    """By a button that leaves the terms unfolded, with the link in sight."""
    page = (await browsing.get(LINK)).text
    assert 'formmethod="get" formnovalidate name="terms"' in page
    assert '<details class="card terms">' in page
    page = (await browsing.get(f"{LINK}&terms=1")).text
    assert '<details class="card terms" open>' in page
    assert ORIGIN + LINK.replace("&", "&amp;") + "<" in page


@pytest.mark.usefixtures("rita")
async def test_link_to_what_cannot_be(browsing: Browsing) -> None:
    """What is refused is told above the form with the usual terms; a bot may be away."""
    for query, status, words in (
        ("rule=chess", 400, "no rule &#34;chess&#34;"),
        ("size=99", 400, "size must be a whole number"),
        ("color=red", 400, "is no side"),
        ("clock=5m%2B", 400, "no time control"),
        ("bot=gone", 200, "gone is not connected now"),
        ("game=99", 404, "99"),
        ("moves=h8h8", 400, "h8 is occupied"),
    ):
        answer = await browsing.get(f"/play?{query}")
        assert (answer.status, words in answer.text) == (status, True), (query, answer.text)
        if status != 404:
            assert '<option value="freestyle" selected>' in answer.text


async def test_what_a_bot_cannot_play(site: SiteInTest, browsing: Browsing) -> None:
    """Its card says why; a form that asks for it all the same is shown again as it was filled."""
    await taker(site, "plain")
    assert (
        "It does not play swap2 openings." in (await browsing.get("/play?opening_rule=swap2")).text
    )
    answer = await browsing.post(
        "/play", bot="plain", opponent="", opening_rule="swap2", clock="5m+5s"
    )
    assert (answer.status, "does not play swap2" in answer.text) == (400, True)
    assert '<option value="5m+5s" selected>' in answer.text


async def test_playing_on_from_a_game(rita: Peer, browsing: Browsing) -> None:
    """From any of its plies but those where it is over, with the side that is to move."""
    seat = await begin(browsing, opening_rule="swap2", size="15")
    await seat.state()
    await seat.send("move", cells="h8 i9 j8")
    await rita.choose(await rita.turn(), game_pb2.COLOR_WHITE)
    await rita.play(await rita.turn(), 0)
    await seat.state(4)
    where = {"game": seat.game_id, "ply": "3"}
    page = (await browsing.get("/play?" + urlencode(where))).text
    assert "At ply 3 of" in page
    assert '<option value="white" selected>' in page
    wanted = {"bot": "", "opponent": "rita", "color": "white", **where}
    on = await led_to(browsing, await browsing.post("/play", **wanted))
    assert (await on.state(3))["moves"] == (await seat.state(4))["moves"][:3]
    assert (await on.state(3))["color"] == "white"
    refused = await browsing.get("/play?" + urlencode(where | {"ply": "5"}))
    assert "ply 5 is behind the last one, which is 4" in refused.text
    over = urlencode({"variant": "freestyle 15x15", "moves": "a1a2b1b2c1c2d1d2e1"})
    assert "over in that position" in (await browsing.get(f"/play?{over}")).text


@pytest.mark.settings(registration="closed")
async def test_person_wins(site: SiteInTest, browsing: Browsing) -> None:
    """Five stones in a row, each sent by the page, end the game; it is none of a ladder's."""
    bot = await taker(site, "rita", token=await site.server.register("rita"))
    seat = await begin(browsing, name="Zoë")
    for column in range(5):
        assert (await seat.state(2 * column))["prompt"] == "Your move, with black."
        told = await seat.send("move", cells="abcde"[column] + "9")
        assert len(told["moves"]) == 2 * column + 1
        if column < 4:
            await bot.play(await bot.turn(), 9 + column)
    told = await seat.state(9)
    assert told["prompt"] == "You have won. A winning line."
    assert told["winning"] == [[0, 1, 2, 3, 4]]
    assert (await bot.ended()).outcome.winner == game_pb2.COLOR_BLACK
    assert "freestyle" not in (await browsing.get("/")).text.partition('id="ladder"')[2][:200]


async def test_page_without_scripts(rita: Peer, browsing: Browsing) -> None:
    """Forms lead back to the board, and what can't be played is explained."""
    seat = await begin(browsing)
    await seat.state()
    placed = await seat.post("move", cells="e5")
    assert (placed.status, placed.headers["location"]) == (303, f"/play/{seat.game_id}")
    assert "It is not your turn" in (await seat.post("move", cells="d5")).text
    await rita.play(await rita.turn(), 0)
    await seat.state(2)
    for cells, words in (("e5", "e5 is occupied"), ("z99", "off the 9x9 board")):
        refused = await seat.post("move", cells=cells)
        assert (refused.status, words in refused.text) == (400, True)


async def test_forbidden_stone_is_refused(rita: Peer, browsing: Browsing) -> None:
    """In renju the page knows where black may not play, and why."""
    seat = await begin(browsing, rule="renju", size="15")
    double_three = (["h9", "h10", "g8", "i8"], (0, 2, 4, 6))
    for ply, (own, reply) in enumerate(zip(*double_three, strict=True)):
        await seat.state(2 * ply)
        await seat.send("move", cells=own)
        await rita.play(await rita.turn(), reply)
    assert (await seat.state(8))["forbidden"] == [7 * 15 + 7]
    refused = await seat.send("move", cells="h8")
    assert "double-three" in refused["message"].replace(" ", "-")
    assert (await seat.state(8))["is_turn"]


@pytest.mark.parametrize("way", ["black", "more"])
async def test_swap2_by_the_opponent(rita: Peer, browsing: Browsing, way: str) -> None:
    """The person places three stones; the bot chooses, or places two more and has it choose."""
    seat = await begin(browsing, opening_rule="swap2", size="15")
    told = await seat.state()
    assert told["stones"] == 3
    assert "black, white, black" in told["prompt"]
    assert "3" in (await seat.send("move", cells="h8"))["message"]
    await seat.send("move", cells="h8 i9 j8")
    turn = await rita.turn()
    if way == "black":
        await rita.choose(turn, game_pb2.COLOR_BLACK)
        told = await seat.state(3)
        assert (told["color"], told["stones"], told["may_choose"]) == ("white", 1, False)
        return
    await rita.place(turn, 0, 1)
    told = await seat.state(5)
    assert (told["stones"], told["may_choose"]) == (0, True)
    assert (await seat.send("choose", color="white"))["color"] == "white"
    assert (await seat.state(5))["prompt"] == "Your move, with white."


async def test_swap2_by_the_person(rita: Peer, browsing: Browsing) -> None:
    """After the bot's three stones the person may choose, or place two more."""
    seat = await begin(browsing, opening_rule="swap2", size="15", color="white")
    await rita.place(await rita.turn(), 112, 113, 114)
    told = await seat.state(3)
    assert (told["stones"], told["may_choose"]) == (2, True)
    await seat.send("move", cells="a1 b1")
    await rita.choose(await rita.turn(), game_pb2.COLOR_WHITE)
    await rita.play(await rita.turn(), 0)
    told = await seat.state(6)
    assert (told["color"], told["stones"]) == ("black", 1)


async def test_taking_back(rita: Peer, browsing: Browsing) -> None:
    """The game goes on as another one from before the person's last stone; the old one is void."""
    seat = await begin(browsing)
    for ply, own in enumerate(("e5", "e6")):
        await seat.state(2 * ply)
        await seat.send("move", cells=own)
        await rita.play(await rita.turn(), ply)
    await seat.state(4)
    other = await led_to(browsing, await seat.post("undo"))
    assert other != seat
    assert (await rita.ended()).outcome.ending == game_pb2.ENDING_VOID
    told = await other.state(2)
    assert (told["moves"], told["color"]) == ([40, 0], "black")
    assert "does not count" in (await seat.state(4))["prompt"]


async def test_hint(site: SiteInTest, rita: Peer, browsing: Browsing) -> None:
    """The opponent says what it would play; one that evaluates nothing is told of."""
    seat = await begin(browsing)
    await seat.state()
    asking = asyncio.create_task(seat.send("hint"))
    asked = await rita.asked()
    await rita.evaluate(pb.Evaluation(evaluation=asked.evaluation, cell=40))
    assert await asking == {"cell": 40, "message": "rita would play e5."}
    await taker(site, "mute")
    seat = await begin(browsing, opponent="mute")
    await seat.state()
    assert "mute" in (await seat.send("hint"))["message"]


async def test_resigning_and_once_more(rita: Peer, browsing: Browsing) -> None:
    """A game that is given up is lost, and the next one has the other colours."""
    seat = await begin(browsing)
    await seat.state()
    assert "not over yet" in (await seat.post("rematch")).text
    await seat.send("resign")
    assert (await seat.state())["prompt"] == "You have lost. By resignation."
    other = await led_to(browsing, await seat.post("rematch"))
    await rita.play(await rita.turn(), 0)
    assert (await other.state(1))["color"] == "white"


@pytest.mark.usefixtures("rita")
async def test_others_only_look(site: SiteInTest, browsing: Browsing) -> None:
    """Who does not play at a board is led to the game's own page, and can't move."""
    seat = await begin(browsing)
    looking = replace(seat, browsing=site.browse())
    led = await looking.browsing.get(f"/play/{seat.game_id}")
    assert led.headers["location"] == f"/games/{seat.game_id}"
    assert (await looking.post("move", cells="e5")).status == 400
    await begin(looking.browsing)
    assert (await looking.post("move", cells="e5")).status == 404


async def test_server_of_pages_starts_again(
    site: SiteInTest, rita: Peer, browsing: Browsing
) -> None:
    """The browser's cookie finds the game again, and it goes on."""
    seat = await begin(browsing)
    await seat.state()
    await seat.send("move", cells="e5")
    later = replace(seat, browsing=replace(browsing, app=site.renewed().app))
    await rita.play(await rita.turn(), 0)
    assert (await later.state(2))["moves"] == [40, 0]
    assert len((await later.send("move", cells="e6"))["moves"]) == 3


@pytest.mark.usefixtures("rita")
async def test_unknown_terms_are_refused(browsing: Browsing) -> None:
    """A form of nobody's making gets one line."""
    for field, value, words in (
        ("size", "99", "size must be a whole number"),
        ("rule", "chess", "no rule"),
        ("color", "red", "no side"),
        ("clock", "soon", "no time control"),
        ("opponent", "nobody", "nobody"),
        ("opponent", "", "choose a bot"),
        ("line", "1e9", "line must be a whole number"),
    ):
        answer = await browsing.post("/play", **{"opponent": "rita", "size": "9", field: value})
        assert answer.status in {400, 404}, (field, answer.text)
        assert words in answer.text, field


@pytest.mark.usefixtures("rita")
async def test_who_reads_nothing_is_cut_off(
    site: SiteInTest, browsing: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that does not take a state is given up with its connection."""
    monkeypatch.setattr(game_events, "WRITE_TIMEOUT", timedelta(seconds=0.05))
    transport = Mock()

    async def never(*_: object) -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            await never()

    seat = await begin(browsing)
    visitor = Visitor(browsing.address, browsing.cookies[COOKIE])
    stream = await site.state.people.stream(visitor)
    await game_events.tell_states(
        stream, seat.game_id, site.state.closing, never, send, transport=transport
    )
    assert stream.watchers == 0
    transport.abort.assert_called_once_with()


async def waiting(browsing: Browsing, **fields: str) -> tuple[str, str]:
    """Where somebody waits who asks for a game, and what is told there."""
    wanted = {"opponent": "solo", "size": "9", "color": "black", **fields}
    where = (await browsing.post("/play", **wanted)).headers["location"]
    return where, (await browsing.get(where)).text


@pytest.mark.usefixtures("rita")
async def test_people_wait_for_a_bot(site: SiteInTest, browsing: Browsing) -> None:
    """Each is told its place, why, and who is free; one leaves, and one plays another bot."""
    solo = await taker(site, "solo", max_games=2)
    await begin(browsing, opponent="solo")
    await solo.started()
    second, third = site.browse(), site.browse()
    left, page = await waiting(second)
    assert "You are next." in page
    assert "solo plays one person at a time; 1 before you." in page
    where, page = await waiting(third)
    assert "You are number 2 in the queue." in page
    assert "2 before you." in page
    assert (await second.post(f"{left}/leave")).status == 303
    page = (await third.get(where)).text
    assert "You are next." in page
    assert re.findall('name="opponent" value="([^"]*)"', page) == ["rita"]
    seat = await led_to(third, await third.post(f"{where}/against", opponent="rita"))
    assert (await seat.state())["color"] == "black"
    assert "Your place was given up" in (await third.get(where)).text


@pytest.mark.usefixtures("rita")
async def test_page_that_waits_is_told_what_changes(
    site: SiteInTest, browsing: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same mark at each look, free bots with it, until something has changed."""
    monkeypatch.setattr(queue, "QUEUE_INTERVAL", timedelta(milliseconds=1))
    solo = await taker(site, "solo", max_games=1)
    await begin(browsing, opponent="solo")
    game = (await solo.started()).game
    other = site.browse()
    where, _ = await waiting(other)
    visitor = Visitor(other.address, other.cookies[COOKIE])
    stream = await site.state.people.stream(visitor)
    services = Services(site.state.gateway.channel(visitor))
    person = PlayingPerson(visitor.token, stream, services)
    marks = queue._marks(person, where.rpartition("/")[2])
    told = {await anext(marks) for _ in range(2 * queue.LOOKS_FOR_FREE_BOTS)}
    assert len(told) == 1
    assert b"rita" in told.pop()
    await solo.resign(game)
    *_, last = [mark async for mark in marks]
    assert last.startswith(b'data: ["2"')


async def test_place_is_nobody_elses(site: SiteInTest, browsing: Browsing) -> None:
    """Another is led to where challenges are, holds no place, and gives none up."""
    await taker(site, "solo", max_games=1)
    await begin(browsing, opponent="solo")
    where, _ = await waiting(site.browse())
    assert (await browsing.get(where)).headers["location"].startswith("/tournaments/")
    assert (await browsing.get(f"{where}/events")).status == 404
    assert (await browsing.get("/play/challenges/99/events")).status == 404
    assert (await browsing.post(f"{where}/leave")).status == 403


async def test_class_plays_by_its_link(site: SiteInTest, browsing: Browsing) -> None:
    """The browser keeps by which class it came, for what is played after."""
    await taker(site, "rita")
    await site.server.ask("ClassService/CreateClass", name="CS101")
    made = await site.server.ask("ClassService/UpdateClass", name="CS101", people=2)
    key = made.school_class.play_key
    assert f'name="class" value="{key}"' in (await browsing.get(f"/play?class={key}")).text
    await begin(browsing, **{"class": key})
    await begin(browsing)
    answer = await site.browse().post("/play", opponent="rita", size="9", **{"class": key})
    assert "2 people are playing from CS101, the most" in answer.text


async def test_place_is_kept_for_who_looks(
    site: SiteInTest, browsing: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of who has not looked for a while it is given up; one may queue again."""
    await taker(site, "solo", max_games=1)
    await begin(browsing, opponent="solo")
    other = site.browse()
    where, _ = await waiting(other)
    stream = await site.state.people.stream(Visitor(other.address, other.cookies[COOKIE]))
    await stream.give_up_places()
    assert "You are next." in (await other.get(where)).text
    monkeypatch.setattr(play_stream, "PLACE_HELD", timedelta(seconds=-1))
    await stream.give_up_places()
    assert "Your place was given up" in (await other.get(where)).text
    again = await other.post(f"{where}/against", opponent="solo")
    assert "You are next." in (await other.get(again.headers["location"])).text
