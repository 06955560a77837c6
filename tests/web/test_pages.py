"""Pages that many may see: what they say of a server in some state, as tables of their addresses."""

from __future__ import annotations

import asyncio
import re

import pytest
from tests.ladder.counted import count_openings
from tests.peer import play_moves
from tests.server_in_test import FIVE
from tests.web.browsing import Browsing
from tests.web.conftest import SiteInTest
from tests.web.prepared import browse
from tests.web.telling import Told, assert_told, refused

from meijin.v1.status_service_pb2 import GetActivityResponse
from meijin.web.api.methods import METHODS
from meijin.web.pages.bots import listing

SMALL = "/openings?variant=freestyle+5x5"
LADDER = "freestyle-5x5-classical"
A_NAME = "Ada <script>gnorts"


EMPTY = (
    Told("/", ("three lines begin", "meijin tournament run ada bob")),
    Told("/api", tuple(f"<b>{each.verb}</b> {each.full_path}</code>" for each in METHODS)),
    Told("/api", ("http://127.0.0.1/api/v1/games/17",)),
    Told("/bots", ("No such bot",)),
    Told("/games", ("No game is like that.",), ("<table",)),
    Told("/ladders", ("There is no ladder yet",)),
    Told("/live", ("Nothing is being played right now",)),
    Told("/play", ("No bot that takes on anybody",)),
    *(
        Told(f"/openings?{query}", ("No counted game had this position",))
        for query in (
            "",
            "rule=renju&size=15x15&opening=swap2",
            "variant=caro+9x9",
            "strength=1800-up",
        )
    ),
    refused("/bots/nobody", "no bot &#34;nobody&#34;", status=404),
    refused("/bots?search=" + "a" * 61, "60 characters"),
    refused("/bots/nobody.atom", status=404),
    refused("/faults?kind=x"),
    refused("/faults?page=x"),
    refused("/faults?bot=nobody", status=404),
    refused("/games?state=won", "running, finished, void"),
    refused("/games?bot=nobody", "no bot &#34;nobody&#34;", status=404),
    refused("/games/99", "no game 99", status=404),
    refused("/ladders/nothing.atom", status=404),
    refused("/live?tournament=99", status=404),
    refused("/live?tournament=x"),
    refused("/live?tournament=0"),
    refused("/no/such/page", "the menu leads", status=404),
    refused("/openings?variant=chess", "is no variant"),
    refused("/openings?variant=99x99", "width 99 is out of range"),
    refused("/openings?moves=<script>", "no move of the 15x15 board"),
    refused("/openings?moves=h8h8", "h8"),
    refused(f"/openings?moves={'h8' * 150}", "moves has more than 200 characters"),
    refused("/openings?moves=a1b1c1d1e1f1g1h1i1j1k1l1m1", "openings are counted to 12"),
    refused("/openings?strength=strong", "strong"),
    refused("/openings?rule=renju&size=3x3", "out of range"),
    refused("/tournaments/7", "no tournament 7", status=404),
    refused("/tournaments/7/games.sgf", "no tournament 7", status=404),
    refused("/tournaments/7/crosstable.csv", "no tournament 7", status=404),
    refused("/tournaments/x", "are numbers"),
    refused("/?" + "a" * 3000, status=414),
)

CRASHED = (
    Told("/bots/ada", (">Versions<", ">Most met<", ">By opening<", ">By ending<", ">Last games<")),
    Told("/bots/ada", ('<a href="#faults">1 \u00d7</a>', 'id="faults"')),
    Told("/bots/ada", ("crash", "ValueError: &lt;odd&gt;", 'href="/games/1"', "Rules: ")),
    Told("/bots/ada", ('class="lost"', "Lost to bob, game 1"), ("/play?bot=",)),
    Told("/bots/bob", ('class="won"', "Won against ada, game 1")),
    Told("/faults", ("<strong>1</strong>", ">Times<", "ValueError: &lt;odd&gt;", ">Evidence<")),
    Told(
        "/faults?each=1", ("Newest first.", "ValueError: &lt;odd&gt;", ">Evidence<"), (">Times<",)
    ),
    Told("/faults?game=1", ("Newest first.",)),
    Told("/faults?kind=crash&bot=ada", ("ValueError",)),
    Told("/faults?kind=time", (), ("ValueError",)),
    Told("/faults?bot=bob", (), ("ValueError",)),
    Told(
        "/status",
        ("All is well.", '>2</span> <a class="plain" href="/bots?connected=1"', "freestyle-5x5"),
    ),
    Told("/status", ("none yet", "does not answer")),  # the queue: the test's server has none
)

WON = (
    Told("/games?bot=ada", (">1</a>",)),
    Told("/games?bot=ada&opponent=bob", (">1</a>",)),
    refused("/games?opponent=nobody", "no bot &#34;nobody&#34;", status=404),
    Told("/games?tournament=1", (">1</a>",)),
    Told(f"/games?ladder={LADDER}", (">1</a>",)),
    Told("/games?state=finished", (">1</a>",)),
    Told("/games?state=void", ("No game is like that.",)),
    Told(SMALL, ("Games with this position: 1. Black scored 100.0 %", "freestyle 5x5 (games: 1)")),
    Told(SMALL, tuple(f'"{SMALL}&amp;moves={corner}"' for corner in ("a5", "e5", "a1", "e1"))),
    Told(f"{SMALL}&moves=e5", ("Black has e5. White has no stone.", f'rel="prev" href="{SMALL}"')),
    Told(f"{SMALL}&moves=e5", (f'"{SMALL}&amp;moves=e5e4"', f'"{SMALL}&amp;moves=e5d5"')),
    Told(
        f"{SMALL}&moves=a5a4b5b4c5c4d5d4e5",
        (
            "(the game was over)",
            'href="/games/',
            'href="/bots/ada"',
            'explore a5 a4 b5 b4 c5 c4 d5 d4 e5 --variant "freestyle 5x5"',
        ),
    ),
)

BOARD = ('data-game="1"', "5x5, 3 moves", "One game is being played")
RUNNING = (
    Told("/", ("Friday &amp; &lt;cup&gt;", 'data-live="game:1"', "5x5, 3 moves")),
    Told("/tv?tournament=1", ("Friday &amp; &lt;cup&gt;", 'data-live="game:1"')),
    Told("/games/1", ("ada", "Friday &amp; &lt;cup&gt;")),
    Told("/live", (*BOARD, "Friday &amp; &lt;cup&gt;")),
    Told("/live?tournament=1", (*BOARD, 'data-live="tournament:1"')),
)


async def test_nothing_is_there_yet(site: SiteInTest) -> None:
    """What is missing and what can't be is told in words."""
    await assert_told(site.browse(), EMPTY)


async def test_a_bot_has_crashed(site: SiteInTest) -> None:
    """Its page, the ledger with the evidence, and how the server is doing."""
    black, white = await site.server.pair(rounds=1)
    await black.fail((await black.turn()).game, "ValueError: <odd>")
    await white.ended()
    await assert_told(site.browse(), CRASHED)


async def test_a_server_is_about_to_stop() -> None:
    browsing = browse(GetActivity=GetActivityResponse(draining=True))
    await assert_told(browsing, [Told("/status", ("about to stop",), ("All is well",))])


@pytest.mark.parametrize(
    ("stall", "said"), [(1.0, "<p.*>All is well.</p>"), (1.56, "for 1.56 s.</p>")]
)
async def test_a_long_stall_is_told_first(stall: float, said: str) -> None:
    """All is not simply well beside one of more than a second."""
    activity = GetActivityResponse()
    activity.stalls.longest.FromNanoseconds(int(stall * 1e9))
    assert re.search(said, (await browse(GetActivity=activity).get("/status")).text)


async def test_a_game_was_won(site: SiteInTest) -> None:
    """Listed by every filter, and explored from the empty board to its end."""
    players = await site.server.pair(rounds=1)
    await play_moves(players, FIVE)
    for peer in players:
        await peer.ended()
    await asyncio.to_thread(count_openings, site.server.database)
    await assert_told(site.browse(), WON)


async def test_a_game_is_being_played(site: SiteInTest) -> None:
    """Boards are there without scripts, with players, clocks and stones."""
    players = await site.server.pair(name="Friday & <cup>")
    await play_moves(players, FIVE[:3])
    await players[1].turn()
    browsing = site.browse()
    await assert_told(browsing, RUNNING)
    shown = (await browsing.get("/live")).text
    assert len(re.findall(r'class="clock">(?:10:00|\d:\d\d)<', shown)) == 2
    assert site.state.live.is_idle


async def test_bots_are_searched_and_paged(
    site: SiteInTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By name or display name, those that are there; names of others are shown as they are."""
    monkeypatch.setattr(listing, "LISTED", 2)
    ada, bob, eve = (f'href="/bots/{name}"' for name in ("ada", "bob", "eve"))
    for name, called in (("ada", A_NAME), ("bob", ""), ("eve", "")):
        await site.server.ask("BotService/RegisterBot", name=name, display_name=called)
    pages = (
        Told("/bots", ("Ada &lt;script&gt;gnorts", "page=bob")),
        Told("/bots?page=bob", (eve,), (ada,)),
        Told("/bots?search=GNORTS", (ada,), (bob,)),
        Told("/bots?connected=1", ("No such bot",)),
    )
    await assert_told(site.browse(), pages)


async def test_a_page_is_kept_while_nothing_happens(site: SiteInTest, browsing: Browsing) -> None:
    """A bot that is there was seen just now, which changes nothing that is shown."""
    await site.server.bot("ada")
    first = (await browsing.get("/bots")).headers["etag"]
    site.state.cache._pages.clear()
    assert (await browsing.get("/bots")).headers["etag"] == first
