"""Games as files."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.web.pages.game_messages import game_message
from tests.web.pages.test_game import GAMES, RECORD
from tests.web.pictures.test_game_image import pixels
from tests.web.prepared import browse

from meijin.v1 import game_service_pb2 as pb
from meijin.web.pictures.game_image import CARD, SQUARE
from meijin.web.replay.replay_page import replay_page
from meijin.web.state import SiteSettings
from meijin.wire.records import record_from_proto

GAME = game_message(RECORD)


@pytest.mark.parametrize("suffix", ["sgf", "psq", "txt", "json"])
async def test_records_are_the_server_s(suffix: str) -> None:
    """As it exports them, to be kept under the name of the game."""
    browsing = browse(ExportGame=pb.ExportGameResponse(text="h8i9"))
    answer = await browsing.get(f"/games/17.{suffix}")
    assert (answer.status, answer.text) == (200, "h8i9")
    assert answer.headers["content-disposition"] == f'attachment; filename="game-17.{suffix}"'


async def test_a_page_replays_it_by_itself() -> None:
    """The same that the command line writes; it is kept, since its script is inline."""
    answer = await browse(GetGame=pb.GetGameResponse(game=GAME)).get("/games/17.html")
    assert answer.text == replay_page(record_from_proto(GAME))
    assert answer.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize(
    ("query", "size"),
    [("", (SQUARE, SQUARE)), ("?shape=card", CARD), ("?shape=card&ply=3", CARD)],
)
async def test_it_has_a_picture(query: str, size: tuple[int, int]) -> None:
    """Of the board alone, or with its players."""
    answer = await browse(GetGame=pb.GetGameResponse(game=GAME)).get(f"/games/17.png{query}")
    assert (answer.status, answer.headers["content-type"]) == (200, "image/png")
    assert pixels(answer.body).size == size


async def test_a_picture_shows_its_ply() -> None:
    """As SVG; the last one without."""
    browsing = browse(GetGame=pb.GetGameResponse(game=GAME))
    counts = []
    for query in ("", "?ply=0", "?ply=3", "?ply=99"):
        answer = await browsing.get(f"/games/17.svg{query}")
        assert answer.headers["content-type"] == "image/svg+xml"
        counts.append(answer.text.count('r="11"'))
    assert counts == [9, 0, 3, 9]


@pytest.mark.parametrize(
    ("path", "status", "told"),
    [
        ("17.exe", 404, "there are sgf, psq, txt, json, html, svg, png"),
        ("17.png?shape=round", 400, "write square or card"),
        ("17.png?ply=x", 400, "whole number"),
    ],
)
async def test_what_there_is_not_is_told(path: str, status: int, told: str) -> None:
    answer = await browse(GetGame=pb.GetGameResponse(game=GAME)).get(f"/games/{path}")
    assert (answer.status, told in answer.text) == (status, True)


async def test_a_running_game_is_held_back_where_boards_are_delayed() -> None:
    """Its opening is shown, and no record given; without a delay both are there."""
    running = game_message(GAMES["running"])
    answers = {
        "GetGame": pb.GetGameResponse(game=running),
        "ExportGame": pb.ExportGameResponse(text="h8i9"),
    }
    for delay, stones, status in ((timedelta(0), 4, 200), (timedelta(seconds=9), 2, 400)):
        browsing = browse(SiteSettings(delay=delay), **answers)
        assert (await browsing.get("/games/17.svg")).text.count('r="11"') == stones
        assert (await browsing.get("/games/17.sgf")).status == status
