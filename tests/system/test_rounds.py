"""Tournaments in rounds, killed in the middle."""

import json
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from tests.system.processes import NO_LADDER, Processes, Server, eventually

if TYPE_CHECKING:
    from tests.system.conftest import Books

NAMES = ("ada", "bob", "cyd", "dan", "eve")


def _report(found: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    return found["standings"], found["meetings"]


@pytest.mark.parametrize(
    ("options", "least"),
    [
        (("--format=swiss", "--rounds=5"), 20),
        (("--format=knockout", "--set=pairs=3", "--set=seeding=given"), 24),
    ],
)
def test_a_killed_server_goes_on_with_the_round(
    processes: Processes, open_books: "Callable[[str], Books]", options: tuple[str, ...], least: int
) -> None:
    """Every planned game is played once, and the table is the same after one more start."""
    server = Server(processes, "--open", NO_LADDER)
    books = open_books(server.database_url)
    server.start_bots(*NAMES)
    where = f"--server={server.address}"
    terms = ("--variant=7x7", "--time=10+0.2", "--seed=1")
    run = processes.start("run", "tournament", "run", *NAMES, *terms, *options, where)
    for finished in (3, 9):
        eventually(partial(books.are_under_way, finished))
        server.process.kill(with_children=True)
        server.start()
    assert run.wait() == 0, run.words
    assert "points" in run.words
    shown = processes.run("tournament", "show", "1", "--json", where)
    found = json.loads(shown.stdout)
    games = int(found["tournament"]["finished_games"])
    assert games >= least
    books.assert_each_planned_game_was_played_once(games)
    assert all(meeting["over"] for meeting in found["meetings"])
    server.process.kill(with_children=True)
    server.start()
    again = json.loads(processes.run("tournament", "show", "1", "--json", where).stdout)
    assert _report(again) == _report(found)
