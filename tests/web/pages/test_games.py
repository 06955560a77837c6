"""The list of games."""

from __future__ import annotations

from tests.web.pages.game_messages import game_message
from tests.web.pages.test_game import GAMES, RECORD
from tests.web.prepared import browse

from meijin.v1 import game_service_pb2 as pb


async def test_games_are_listed_with_their_ends() -> None:
    """Finished and running ones, with links to all that is theirs."""
    games = [game_message(RECORD), game_message(GAMES["running"])]
    games[1].ladder = ""
    answer = await browse(ListGames=pb.ListGamesResponse(games=games)).get("/games")
    for part in ("black wins by five", "<td>running</td>", "unrated", ">cup<", 'href="/bots/ann"'):
        assert part in answer.text
    assert answer.text.count('<th scope="row">') == 2


async def test_pages_lead_to_each_other() -> None:
    found = pb.ListGamesResponse(games=[game_message(RECORD)], next_page_token="3")
    browsing = browse(ListGames=found)
    first = (await browsing.get("/games?bot=ann&state=finished")).text
    assert 'href="/games?bot=ann&amp;state=finished&amp;page=3"' in first
    assert ">Newest<" not in first
    assert 'value="finished" selected' in first
    later = (await browsing.get("/games?bot=ann&page=3")).text
    assert '<a href="/games?bot=ann">Newest</a>' in later
