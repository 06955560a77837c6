"""The list of games."""

from __future__ import annotations

from tests.web.pages.game_messages import game_message
from tests.web.pages.test_game import GAMES, RECORD
from tests.web.prepared import browse

from meijin.v1 import game_pb2
from meijin.v1 import game_service_pb2 as pb
from meijin.web.wording import text


async def test_games_are_listed_with_their_ends() -> None:
    """Finished and running ones, with links to all that is theirs."""
    games = [game_message(RECORD), game_message(GAMES["running"])]
    games[1].ladder = ""
    answer = await browse(ListGames=pb.ListGamesResponse(games=games)).get("/games")
    for part in (
        f">{text('labels.black_wins')}<",
        ">running<",
        "five",
        "unrated",
        ">cup<",
        'href="/bots/ann"',
    ):
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


async def test_filters_are_asked_for_and_kept() -> None:
    """By rule, result, ending, length and bot; what nobody knows is refused with what there is."""
    found = pb.ListGamesResponse(next_page_token="3")
    address = "/games?bot=ann&opponent=bob&state=white&rule=caro_exact&ending=five&least=20&most=40"
    browsing = browse(ListGames=found)
    page = (await browsing.get(address)).text
    wanted = pb.ListGamesRequest(
        bot="ann",
        opponent="bob",
        state=game_pb2.GAME_STATE_FINISHED,
        winner=game_pb2.COLOR_WHITE,
        rule=game_pb2.RULE_CARO_EXACT,
        ending=game_pb2.ENDING_FIVE,
        min_plies=20,
        max_plies=40,
        page_size=50,
    )
    assert wanted in browsing.app.state.site.gateway.asked
    for part in ('"white" selected', '"caro_exact" selected', '"five" selected', "there are older"):
        assert part in page
    assert 'value="20"' in page
    assert "most=40&amp;page=3" in page
    refused = await browsing.get("/games?rule=chess")
    assert (refused.status, "there are freestyle, standard" in refused.text) == (400, True)
