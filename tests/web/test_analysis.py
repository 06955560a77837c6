"""Positions that are analysed: the board of an address, and what a bot finds there."""

from __future__ import annotations

import asyncio
import re

import pytest
from tests.peer import Peer
from tests.web.browsing import Answer, Browsing
from tests.web.conftest import SiteInTest
from tests.web.test_play import begin, taker

from meijin.game import encode_moves, parse_opening
from meijin.game.rules.variant import Variant
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb
from meijin.web.pages.play.person import COOKIE

SMALL = Variant.parse("freestyle 9x9")
AFTER = "/analysis?variant=freestyle+9x9&moves=e5e6"


@pytest.fixture
async def rita(site: SiteInTest) -> Peer:
    return await taker(site, "rita", evaluates=True)


async def asked(browsing: Browsing, rita: Peer, **told: int) -> Answer:
    """The page of what is found after two moves, where the bot expects two more."""
    fields = {"variant": "freestyle 9x9", "moves": "e5e6", "bot": "rita"}
    asking = asyncio.create_task(browsing.post("/analysis", **fields))
    wanted = await rita.asked()
    line = parse_opening("d5 d6", SMALL)
    analysis = pb.Analysis(pv=encode_moves(line), **told)
    found = pb.Evaluation(evaluation=wanted.evaluation, cell=line[0], analysis=analysis)
    await rita.evaluate(found)
    return await asking


async def test_what_a_bot_finds(browsing: Browsing, rita: Peer) -> None:
    """Its move, the chance that its score is worth, and its line on the board; a person asks."""
    answer = await asked(browsing, rita, score=100, depth=7, nodes=1234)
    assert answer.status == 200
    assert COOKIE in browsing.cookies
    words = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.text))
    assert "rita would play d5" in words
    assert "Black to win 73 %" in words
    assert "Depth 7" in words
    assert "1,234" in words
    ghosts = re.findall('class="stone pv (black|white)"><circle[^>]* fill="([^"]*)"', answer.text)
    assert ghosts == [("black", "url(#stone-black)"), ("white", "url(#stone-white)")]
    assert 'data-pv="39 30"' in answer.text


@pytest.mark.parametrize(
    ("score", "words"), [(29_995, "Black wins in 3."), (-29_996, "White wins in 2.")]
)
async def test_proven_scores(browsing: Browsing, rita: Peer, score: int, words: str) -> None:
    """Of these the moves to the win are told, and no chance."""
    answer = await asked(browsing, rita, score=score)
    assert words in answer.text
    assert "<meter" not in answer.text


@pytest.mark.usefixtures("rita")
async def test_refusals(browsing: Browsing) -> None:
    """Of the form and of the server are told on the page."""
    for fields, status, words in (
        ({"moves": "e5e5"}, 400, "e5 is occupied"),
        ({"moves": ""}, 400, "no position to look at"),
        ({"moves": "a1a2b1b2c1c2d1d2e1", "bot": "rita"}, 400, "the game is over there"),
        ({"moves": "e5", "bot": "nobody"}, 404, "no bot &#34;nobody&#34;"),
    ):
        answer = await browsing.post("/analysis", **fields)
        assert (answer.status, words in answer.text) == (status, True), (fields, answer.text)
    assert "ply 3 is behind the last one, which is 2" in (await browsing.get(AFTER + "&ply=3")).text
    assert (await browsing.get("/analysis?game=99")).status == 404


async def test_steps_without_scripts(site: SiteInTest, browsing: Browsing, rita: Peer) -> None:
    """Links lead through a game, and to a game from any of its plies."""
    page = (await browsing.get(AFTER + "&ply=1")).text
    steps = re.findall('data-step="([a-z]+)" href="[^"]*ply=([0-9])"', page)
    assert steps == [("first", "0"), ("back", "0"), ("next", "2"), ("last", "2")]
    assert "/play?variant=freestyle+9x9&amp;moves=e5e6&amp;ply=1" in page
    seat = await begin(browsing)
    await seat.state()
    await seat.send("move", cells="e5")
    await rita.play(await rita.turn(), 0)
    await seat.state(2)
    page = (await site.browse().get(f"/analysis?game={seat.game_id}&ply=1")).text
    assert re.findall('data-step="([a-z]+)" href="[^"]*ply=([0-9])"', page) == steps
    assert f"/play?game={seat.game_id}&amp;ply=1" in page


@pytest.mark.usefixtures("rita")
async def test_forbidden_cells_are_known(browsing: Browsing) -> None:
    """Those of renju are crosses on the board, with scripts and without; none when it is over."""
    double_three = "h9a15h10b15g8c15i8d15"
    page = (await browsing.get(f"/analysis?variant=renju+15x15&moves={double_three}")).text
    assert 'data-forbidden="112"' in page
    assert page.count('class="forbidden"') == 1
    over = "a1a2b1b2c1c2d1d2e1"
    assert 'data-forbidden=""' in (await browsing.get(f"/analysis?moves={over}")).text


async def test_nobody_who_analyses(site: SiteInTest, browsing: Browsing) -> None:
    """The page says what is needed: bots that evaluate positions, and take on anybody."""
    await taker(site, "mute")
    await site.server.bot("shy", evaluates=True)
    page = (await browsing.get("/analysis")).text
    assert "--challenges anyone" in page
    assert 'value="mute"' not in page
    assert 'value="shy"' not in page


async def test_chances_are_of_the_bots_own_games(browsing: Browsing, rita: Peer) -> None:
    """What its scores are worth is read from its newest game that has ended."""
    seat = await begin(browsing)
    await seat.state()
    assert "no game of it is known" in (await asked(browsing, rita, score=0)).text
    await seat.send("move", cells="e5")
    analysis = pb.Analysis(score=-50)
    turn = await rita.turn()
    await rita.play(turn, 0, analysis=analysis)
    await seat.state(2)
    await seat.send("resign")
    assert (await rita.ended()).outcome.winner == game_pb2.COLOR_WHITE
    assert "no game of it is known" not in (await asked(browsing, rita, score=0)).text
