"""People's games in the browser: moves, openings, taking back, hints, and what goes wrong."""

from __future__ import annotations

import asyncio
import json
import re
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from tests.web.browsing import ORIGIN, Answer, Browsing
from tests.web.conftest import OpenSite, SiteInTest

from meijin.game import FREE, SWAP2
from meijin.server.settings import Registration
from meijin.testing.peer import Peer, bearer
from meijin.v1 import bot_service_pb2, game_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.v1.bot_service_pb2_grpc import BotServiceStub
from meijin.web.gateway import Visitor
from meijin.web.pages.person import COOKIE
from meijin.web.play import game_events

JSON = {"accept": "application/json", "origin": ORIGIN}
FORM = "application/x-www-form-urlencoded"


async def taker(site: SiteInTest, name: str = "rita", **more: Any) -> Peer:
    """A connected bot that takes on anybody."""
    bot = await site.server.bot(name, max_games=4, **more)
    request = bot_service_pb2.UpdateBotRequest(
        name=name, challenges=bot_service_pb2.CHALLENGE_POLICY_ANYONE
    )
    service = BotServiceStub(await site.server.channel())
    await service.UpdateBot(request, metadata=bearer(site.server.operator_token))
    return bot


async def begin(browsing: Browsing, **fields: str) -> str:
    """Start a game on a small board; its id."""
    wanted = {"opponent": "rita", "size": "9", "color": "black", **fields}
    answer = await browsing.post("/play", **wanted)
    assert answer.status == 303, answer.text
    return await game_of(browsing, answer)


async def game_of(browsing: Browsing, answer: Answer) -> str:
    """The game that an answer leads to."""
    assert re.fullmatch(r"/play/challenges/\d+", answer.headers["location"])
    led = await browsing.get(answer.headers["location"])
    assert led.status == 303, led.text
    return led.headers["location"].removeprefix("/play/")


async def send(browsing: Browsing, path: str, **fields: str) -> Any:
    """Send a form as the page's script does."""
    body = "&".join(f"{key}={value.replace(' ', '+')}" for key, value in fields.items())
    headers = {**JSON, "content-type": FORM}
    answer = await browsing.send("POST", path, body.encode(), headers)
    return json.loads(answer.text) if answer.body else answer


async def state(browsing: Browsing, game_id: str, ply: int) -> dict[str, Any]:
    """A game as its page has it, once so many stones lie there."""
    async with asyncio.timeout(20):
        while True:
            page = await browsing.get(f"/play/{game_id}")
            assert page.status == 200, page.text
            found = re.search(r'data-state="([^"]*)"', page.text)
            assert found is not None
            told: dict[str, Any] = json.loads(found[1].replace("&#34;", '"'))
            if len(told["moves"]) >= ply and (told["is_turn"] or told["is_over"]):
                return told
            await asyncio.sleep(0.01)


async def test_lobby_shows_who_takes_on_anybody(open_site: OpenSite) -> None:
    """Bots that do not are left out, and people are told how to change that."""
    async with open_site() as site:
        browsing = site.browse()
        assert "No bot that takes on anybody" in (await browsing.get("/play")).text
    async with open_site() as site:
        await taker(site)
        await site.server.bot("shy")
        page = (await site.browse().get("/play")).text
        assert 'value="rita"' in page
        assert 'value="shy"' not in page


async def test_person_wins(open_site: OpenSite) -> None:
    """Five stones in a row, each sent by the page, end the game; it is none of a ladder's."""
    async with open_site(registration=Registration.CLOSED) as site:
        token = await site.server.register("rita")
        bot = await taker(site, token=token)
        browsing = site.browse()
        game_id = await begin(browsing, name="Zo%C3%AB")
        for column in range(5):
            told = await state(browsing, game_id, 2 * column)
            assert told["prompt"] == "Your move, with black."
            told = await send(browsing, f"/play/{game_id}/move", cells="abcde"[column] + "9")
            assert len(told["moves"]) == 2 * column + 1
            if column < 4:
                await bot.play(await bot.turn(), 9 + column)
        told = await state(browsing, game_id, 9)
        assert told["prompt"] == "You have won. A winning line."
        assert told["winning"] == [0, 1, 2, 3, 4]
        ended = await bot.ended()
        assert ended.outcome.winner == game_pb2.COLOR_BLACK
        assert "freestyle" not in (await browsing.get("/")).text.partition("</h2>")[2][:200]


async def test_page_without_scripts(open_site: OpenSite) -> None:
    """Forms lead back to the board, and what can't be played is explained."""
    async with open_site() as site:
        bot = await taker(site)
        browsing = site.browse()
        game_id = await begin(browsing)
        await state(browsing, game_id, 0)
        placed = await browsing.post(f"/play/{game_id}/move", cells="e5")
        assert (placed.status, placed.headers["location"]) == (303, f"/play/{game_id}")
        again = await browsing.post(f"/play/{game_id}/move", cells="d5")
        assert "It is not your turn" in again.text
        await bot.play(await bot.turn(), 0)
        await state(browsing, game_id, 2)
        taken = await browsing.post(f"/play/{game_id}/move", cells="e5")
        assert taken.status == 400
        assert "e5 is occupied" in taken.text
        off = await browsing.post(f"/play/{game_id}/move", cells="z99")
        assert (off.status, "off the 9x9 board" in off.text) == (400, True)


async def test_forbidden_stone_is_refused(open_site: OpenSite) -> None:
    """In renju the page knows where black may not play, and why."""
    async with open_site() as site:
        bot = await taker(site)
        browsing = site.browse()
        game_id = await begin(browsing, rule="renju", size="15")
        double_three = (["h9", "h10", "g8", "i8"], (0, 2, 4, 6))
        for ply, (own, reply) in enumerate(zip(*double_three, strict=True)):
            await state(browsing, game_id, 2 * ply)
            await send(browsing, f"/play/{game_id}/move", cells=own)
            await bot.play(await bot.turn(), reply)
        told = await state(browsing, game_id, 8)
        assert told["forbidden"] == [7 * 15 + 7]
        refused = await send(browsing, f"/play/{game_id}/move", cells="h8")
        assert "double-three" in refused["message"].replace(" ", "-")
        assert (await state(browsing, game_id, 8))["is_turn"]


@pytest.mark.parametrize("way", ["black", "more"])
async def test_swap2_by_the_opponent(open_site: OpenSite, way: str) -> None:
    """The person places three stones; the bot chooses, or places two more and has it choose."""
    async with open_site() as site:
        bot = await taker(site, opening_rules=(FREE, SWAP2))
        browsing = site.browse()
        game_id = await begin(browsing, opening="swap2", size="15")
        told = await state(browsing, game_id, 0)
        assert told["stones"] == 3
        assert "black, white, black" in told["prompt"]
        few = await send(browsing, f"/play/{game_id}/move", cells="h8")
        assert "3" in few["message"]
        await send(browsing, f"/play/{game_id}/move", cells="h8 i9 j8")
        turn = await bot.turn()
        if way == "black":
            await bot.choose(turn, game_pb2.COLOR_BLACK)
            told = await state(browsing, game_id, 3)
            assert (told["color"], told["stones"], told["may_choose"]) == ("white", 1, False)
            return
        await bot.place(turn, 0, 1)
        told = await state(browsing, game_id, 5)
        assert (told["stones"], told["may_choose"]) == (0, True)
        told = await send(browsing, f"/play/{game_id}/choose", color="white")
        assert told["color"] == "white"
        told = await state(browsing, game_id, 5)
        assert told["prompt"] == "Your move, with white."


async def test_swap2_by_the_person(open_site: OpenSite) -> None:
    """After the bot's three stones the person may choose, or place two more."""
    async with open_site() as site:
        bot = await taker(site, opening_rules=(FREE, SWAP2))
        browsing = site.browse()
        game_id = await begin(browsing, opening="swap2", size="15", color="white")
        await bot.place(await bot.turn(), 112, 113, 114)
        told = await state(browsing, game_id, 3)
        assert (told["stones"], told["may_choose"]) == (2, True)
        await send(browsing, f"/play/{game_id}/move", cells="a1 b1")
        await bot.choose(await bot.turn(), game_pb2.COLOR_WHITE)
        await bot.play(await bot.turn(), 0)
        told = await state(browsing, game_id, 6)
        assert (told["color"], told["stones"]) == ("black", 1)


async def test_taking_back(open_site: OpenSite) -> None:
    """The game goes on as another one from before the person's last stone; the old one is void."""
    async with open_site() as site:
        bot = await taker(site)
        browsing = site.browse()
        game_id = await begin(browsing)
        await state(browsing, game_id, 0)
        for own, reply in (("e5", 0), ("e6", 1)):
            await send(browsing, f"/play/{game_id}/move", cells=own)
            await bot.play(await bot.turn(), reply)
            told = await state(browsing, game_id, 2)
        told = await state(browsing, game_id, 4)
        answer = await browsing.post(f"/play/{game_id}/undo")
        other = await game_of(browsing, answer)
        assert other != game_id
        assert (await bot.ended()).outcome.ending == game_pb2.ENDING_VOID
        told = await state(browsing, other, 2)
        assert told["moves"] == [40, 0]
        assert told["color"] == "black"
        assert "does not count" in (await state(browsing, game_id, 4))["prompt"]


async def test_hint(open_site: OpenSite) -> None:
    """The opponent says what it would play; one that evaluates nothing is told of."""
    async with open_site() as site:
        bot = await taker(site, evaluates=True)
        browsing = site.browse()
        game_id = await begin(browsing)
        await state(browsing, game_id, 0)
        asking = asyncio.create_task(send(browsing, f"/play/{game_id}/hint"))
        asked = await bot.asked()
        await bot.evaluate(pb.Evaluation(evaluation=asked.evaluation, cell=40))
        told = await asking
        assert told == {"cell": 40, "message": "rita would play e5."}
        await taker(site, "mute")
        other = await begin(browsing, opponent="mute")
        await state(browsing, other, 0)
        refused = await send(browsing, f"/play/{other}/hint")
        assert "mute" in refused["message"]


async def test_resigning_and_once_more(open_site: OpenSite) -> None:
    """A game that is given up is lost, and the next one has the other colours."""
    async with open_site() as site:
        bot = await taker(site)
        browsing = site.browse()
        game_id = await begin(browsing)
        await state(browsing, game_id, 0)
        early = await browsing.post(f"/play/{game_id}/rematch")
        assert "not over yet" in early.text
        await send(browsing, f"/play/{game_id}/resign")
        told = await state(browsing, game_id, 0)
        assert told["prompt"] == "You have lost. By resignation."
        other = await game_of(browsing, await browsing.post(f"/play/{game_id}/rematch"))
        await bot.play(await bot.turn(), 0)
        assert (await state(browsing, other, 1))["color"] == "white"


async def test_others_only_look(open_site: OpenSite) -> None:
    """Who has no seat at a board is led to the game's own page, and can't move."""
    async with open_site() as site:
        await taker(site)
        browsing = site.browse()
        game_id = await begin(browsing)
        other = site.browse()
        led = await other.get(f"/play/{game_id}")
        assert led.headers["location"] == f"/games/{game_id}"
        assert (await other.post(f"/play/{game_id}/move", cells="e5")).status == 400
        await begin(other)
        assert (await other.post(f"/play/{game_id}/move", cells="e5")).status == 404


async def test_server_of_pages_starts_again(open_site: OpenSite) -> None:
    """The browser's cookie finds the game again, and it goes on."""
    async with open_site() as site:
        bot = await taker(site)
        browsing = site.browse()
        game_id = await begin(browsing)
        await state(browsing, game_id, 0)
        await send(browsing, f"/play/{game_id}/move", cells="e5")
        fresh = site.renewed()
        later = fresh.browse()
        later.cookies.update(browsing.cookies)
        await bot.play(await bot.turn(), 0)
        told = await state(later, game_id, 2)
        assert told["moves"] == [40, 0]
        told = await send(later, f"/play/{game_id}/move", cells="e6")
        assert len(told["moves"]) == 3


async def test_unknown_terms_are_refused(open_site: OpenSite) -> None:
    """A form of nobody's making gets one line."""
    async with open_site() as site:
        await taker(site)
        browsing = site.browse()
        for field, value, words in (
            ("size", "99", "out of range"),
            ("rule", "chess", "no rule"),
            ("color", "red", "no side"),
            ("clock", "soon", "no time control"),
            ("opponent", "nobody", "nobody"),
            ("line", "1e9", "no number"),
        ):
            answer = await browsing.post("/play", **{"opponent": "rita", "size": "9", field: value})
            assert answer.status in {400, 404}, (field, answer.text)
            assert words in answer.text, field


async def test_who_reads_nothing_is_cut_off(
    open_site: OpenSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that does not take a state is given up with its connection."""
    monkeypatch.setattr(game_events, "WRITE_TIMEOUT", timedelta(seconds=0.05))
    transport = Mock()

    async def never(*_: object) -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            await never()

    async with open_site() as site:
        await taker(site)
        browsing = site.browse()
        game_id = await begin(browsing)
        visitor = Visitor(browsing.address, browsing.cookies[COOKIE])
        seat = await site.shell.seats.seat(visitor)
        await game_events.tell_states(
            seat, game_id, site.shell.closing, never, send, transport=transport
        )
        assert seat.watchers == 0
    transport.abort.assert_called_once_with()
