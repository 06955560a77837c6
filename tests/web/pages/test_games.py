"""The list of games."""

from __future__ import annotations

from dataclasses import replace

from tests.web.conftest import OpenSite
from tests.web.games.messages import game_message
from tests.web.pages.test_game import GAMES, HOSTILE, RECORD
from tests.web.prepared import browse

from meijin.testing.peer import play_moves
from meijin.v1 import game_service_pb2 as pb

FIVE = (0, 5, 1, 6, 2, 7, 3, 8, 4)


async def test_games_are_listed_with_their_ends() -> None:
    """Finished and running ones, with links to all that is theirs."""
    games = [game_message(RECORD), game_message(GAMES["running"])]
    games[1].ladder = ""
    answer = await browse(ListGames=pb.ListGamesResponse(games=games)).get("/games")
    for part in ("black wins by five", "<td>running</td>", "unrated", ">cup<", 'href="/bots/ann"'):
        assert part in answer.text
    assert answer.text.count('<th scope="row">') == 2


async def test_no_games_are_told() -> None:
    """A list without a line."""
    answer = await browse(ListGames=pb.ListGamesResponse()).get("/games")
    assert "No game is like that." in answer.text
    assert "<table" not in answer.text


async def test_pages_lead_to_each_other() -> None:
    """With the filters that were set."""
    found = pb.ListGamesResponse(games=[game_message(RECORD)], next_page_token="3")
    browsing = browse(ListGames=found)
    first = (await browsing.get("/games?bot=ann&state=finished")).text
    assert 'href="/games?bot=ann&amp;state=finished&amp;page=3"' in first
    assert ">Newest<" not in first
    assert 'value="finished" selected' in first
    later = (await browsing.get("/games?bot=ann&page=3")).text
    assert '<a href="/games?bot=ann">Newest</a>' in later


async def test_hostile_texts_are_escaped() -> None:
    """Names of others, and what stands in the address."""
    game = game_message(replace(RECORD, black=HOSTILE, white=HOSTILE))
    game.tournament_name = HOSTILE
    browsing = browse(ListGames=pb.ListGamesResponse(games=[game]))
    text = (await browsing.get("/games?bot=%3Cscript%3Ealert(1)%3C/script%3E")).text
    assert "<script>alert" not in text


async def test_a_state_that_there_is_none_of_is_refused() -> None:
    """In one line that names those there are."""
    answer = await browse().get("/games?state=won")
    assert answer.status == 400
    assert "running, finished or void" in answer.text


async def test_filters_are_the_server_s(open_site: OpenSite) -> None:
    """By bot, tournament, ladder and state; what is unknown is told."""
    async with open_site() as site:
        players = await site.server.pair()
        await play_moves(players, FIVE)
        for peer in players:
            await peer.ended()
        browsing = site.browse()
        ladder = "freestyle-5x5-classical"
        for query in ("bot=ada", "tournament=1", f"ladder={ladder}", "state=finished"):
            assert ">1</a>" in (await browsing.get(f"/games?{query}")).text, query
        assert "No game is like that." in (await browsing.get("/games?state=void")).text
        missing = await browsing.get("/games?bot=nobody")
        assert (missing.status, "no bot &#34;nobody&#34;" in missing.text) == (404, True)
