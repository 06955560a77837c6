"""The newest state of a topic."""

from __future__ import annotations

import json
from typing import Any

import pytest

from meijin.game import encode_moves
from meijin.v1 import game_pb2
from meijin.v1.game_service_pb2 import Clocks, GameEvaluation, GameUpdate, WatchArenaResponse
from meijin.web.live.cell import Cell
from meijin.web.live.topics import GRID_GAMES

BLACK = game_pb2.COLOR_BLACK
VARIANT = game_pb2.Variant(width=5, height=5, line=5)


def game(**fields: Any) -> game_pb2.Game:
    running = game_pb2.GAME_STATE_RUNNING
    plain: dict[str, Any] = {"black": "ada", "white": "bob", "variant": VARIANT, "state": running}
    return game_pb2.Game(**(plain | fields))


def ended() -> game_pb2.Game:
    outcome = game_pb2.Outcome(winner=BLACK, ending=game_pb2.ENDING_FIVE)
    return game(state=game_pb2.GAME_STATE_FINISHED, outcome=outcome)


def look(*updates: GameUpdate) -> list[WatchArenaResponse]:
    return [WatchArenaResponse(games=updates)]


def told(cell: Cell, version: int) -> Any:
    frame = cell.since(version)
    assert frame is not None
    kind, data = frame.decode().removesuffix("\n\n").split("\n")
    assert kind == "event: games"
    return json.loads(data.removeprefix("data: "))


def update(cells: tuple[int, ...] = (), ply: int = 0, **fields: Any) -> GameUpdate:
    return GameUpdate(game_id="1", ply=ply, moves=encode_moves(cells), variant=VARIANT, **fields)


def test_players_are_told_with_what_people_call_them() -> None:
    cell = Cell("arena", {"ada": "The Countess", "bob": "Bob\u202e"}.__getitem__)
    cell.take(look(update(game=game())), 5, is_first=True)
    (told_game,) = told(cell, 0)["games"]
    assert (told_game["game"]["black"], told_game["game"]["white"]) == ("ada", "bob")
    assert told_game["game"]["names"] == {"black": "The Countess", "white": "Bob"}


def test_one_who_has_all_is_told_what_changes() -> None:
    """By the very same bytes as all others."""
    cell = Cell("arena", str)
    assert cell.since(0) is None
    cell.take(look(update((3, 4), game=game())), 5, is_first=True)
    assert told(cell, 0)["games"][0]["moves"] == ["d5", "e5"]
    clocks = Clocks(black_ms=900, white_ms=800, running=BLACK)
    cell.take(look(update((7,), ply=2, clocks=clocks)), 9, is_first=False)
    assert cell.since(1) is cell.since(1)
    frame = told(cell, 1)
    (change,) = frame["games"]
    assert not frame["whole"]
    assert (change["id"], change["ply"], change["moves"]) == ("1", 2, ["c4"])
    assert change["clocks"] == {"black_ms": 900, "white_ms": 800, "running": "black", "at_ms": 9}
    assert "game" not in change
    assert cell.since(2) is None


def test_one_who_has_missed_something_is_told_all() -> None:
    """The newest state, whatever was in between."""
    cell = Cell("game:1", str)
    cell.take(look(update((3,), game=game())), 1, is_first=True)
    said = GameEvaluation(ply=1, analysis=game_pb2.MoveAnalysis(score=-3, pv=encode_moves((4, 5))))
    cell.take(look(update((4,), ply=1, white_evaluation=said)), 2, is_first=False)
    cell.take(look(update((5,), ply=2)), 3, is_first=False)
    frame = told(cell, 1)
    (whole,) = frame["games"]
    assert frame["whole"]
    assert (whole["ply"], whole["moves"]) == (0, ["d5", "e5", "a4"])
    assert (whole["white"]["score"], whole["white"]["pv"]) == (-3, ["e5", "a4"])
    assert cell.since(0) is cell.since(1)


def test_a_choice_of_sides_changes_the_names_alone() -> None:
    cell = Cell("game:1", str)
    cell.take(look(update((3, 4, 5), game=game())), 1, is_first=True)
    cell.take(look(update(ply=3, game=game(black="bob", white="ada"))), 2, is_first=False)
    (whole,) = told(cell, 0)["games"]
    assert (whole["game"]["black"], whole["moves"]) == ("bob", ["d5", "e5", "a4"])


def test_after_a_gap_everybody_is_told_all() -> None:
    """What was known before the server was away is no more."""
    cell = Cell("arena", str)
    cell.take(look(update((3,), game=game())), 1, is_first=True)
    cell.take(look(GameUpdate(game_id="2", game=game())), 2, is_first=True)
    frame = told(cell, 1)
    assert frame["whole"]
    assert [each["id"] for each in frame["games"]] == ["2"]


def test_a_game_that_has_ended_leaves_the_grid_after_a_while() -> None:
    """And says who won until then; a board on a page of its own stays."""
    grid, page = Cell("arena", str), Cell("game:1", str)
    for cell in (grid, page):
        cell.take(look(update(game=game())), 0, is_first=True)
        cell.take(look(update((3,), game=ended())), 1000, is_first=False)
        (whole,) = told(cell, 0)["games"]
        assert whole["game"]["outcome"] == "black wins by five"
        assert whole["game"]["won"]
        assert told(cell, 1)["gone"] == []
        cell.take(look(), 60_000, is_first=False)
    assert told(grid, 2)["gone"] == ["1"]
    assert told(grid, 0)["games"] == []
    assert len(told(page, 0)["games"]) == 1


def test_games_that_end_by_the_hundred_do_not_pile_up() -> None:
    """The grid has this many boards and no more."""
    cell = Cell("arena", str)
    cell.take(look(), 0, is_first=True)
    for number in range(500):
        cell.take(look(GameUpdate(game_id=str(number), game=ended())), 1, is_first=False)
    assert len(told(cell, 0)["games"]) <= GRID_GAMES


def test_thoughts_about_a_game_that_is_gone_are_passed_over() -> None:
    """They come later where boards are behind."""
    cell = Cell("arena", str)
    cell.take(look(), 0, is_first=True)
    cell.take(look(update(black_evaluation=GameEvaluation(ply=1))), 1, is_first=False)
    assert told(cell, 0)["games"] == []


@pytest.mark.parametrize("name", ["<script>", "a\u202eb", 'a"b\n\ndata: x', "\u8c46"])
def test_names_break_no_frame(name: str) -> None:
    """Whatever a bot is called; what turns the direction of writing is left out."""
    cell = Cell("arena", str)
    cell.take(look(update(game=game(black=name))), 0, is_first=True)
    found = told(cell, 0)["games"][0]["game"]["black"]
    assert found == name.replace("\u202e", "")


def test_an_ending_of_a_later_release_is_told_by_its_detail() -> None:
    """The pages may be older than the server."""
    later = game(state=game_pb2.GAME_STATE_FINISHED)
    later.outcome.ending = 77  # type: ignore[assignment]
    later.outcome.detail = "by a coin"
    cell = Cell("arena", str)
    cell.take(look(update(game=later)), 0, is_first=True)
    assert told(cell, 0)["games"][0]["game"]["outcome"] == "by a coin"
