"""`kill -9` in the middle of a tournament: nothing is lost, nothing counts twice."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import grpc
import pytest
from tests.processes import Processes, eventually
from tests.system.server import BOTS, Server

NAMES = ("ada", "bob", "cyd", "dan", "eve")
LINE_BOT = Path(__file__).parent / "line_bot.py"


@pytest.mark.smoke
def test_a_killed_server_loses_nothing(processes: Processes, any_database_url: str) -> None:
    """Killed three times, alone and with its worker and Valkey, it plays what was planned."""
    server = Server(processes, "--open", f"--database={any_database_url}")
    server.start_bots(*BOTS)
    key = server.create_tournament(*BOTS, rounds=16)
    for finished, with_children in ((5, False), (16, True), (32, True)):
        eventually(server.books.are_under_way, finished)
        server.process.kill(with_children=with_children)
        assert server.books.finished() < 48
        verified = processes.tell("verify", f"--database={any_database_url}")
        assert verified.endswith("no acknowledged move is missing\n")
        server.start()
    server.assert_all_is_played(48)
    eventually(server.has_current_ladder)
    server.books.assert_ladder_is_what_the_games_give()
    response = server.tournament(key)
    assert response.tournament.finished_games == 48
    assert sum(cell.wins + cell.draws + cell.losses for cell in response.crosstable) == 2 * 48
    assert [count.faults for count in response.faults] == [0, 0, 0]


def test_a_server_that_is_killed_while_it_makes_a_tournament_leaves_no_half_of_one(
    server: Server,
) -> None:
    """The next one drops what is there, and the repeated request makes one that is whole."""
    server.start_bots(*BOTS[:2], delay=0.05)
    create = partial(server.create_tournament, *BOTS[:2], rounds=50_000, request_id="once")
    with ThreadPoolExecutor() as threads:
        cut_off = threads.submit(create)
        eventually(server.books.planned)
        server.process.kill()
        with pytest.raises(grpc.RpcError):
            cut_off.result()
    assert 0 < server.books.planned() < 50_000
    server.start()
    assert create() == create()
    eventually(lambda: server.books.planned() == 50_000)
    assert server.books.tournaments_running() == 1
    eventually(server.books.running)


@pytest.mark.parametrize(
    ("options", "least"),
    [
        (("--format=swiss", "--rounds=5"), 20),
        (("--format=knockout", "--set=pairs=3", "--set=seeding=given"), 24),
    ],
)
def test_a_killed_server_goes_on_with_the_round(
    server: Server, options: tuple[str, ...], least: int
) -> None:
    """Every planned game is played once, and the table is the same after one more start."""
    server.start_bots(*NAMES)
    terms = ("--variant=7x7", "--time=10+0.2", "--seed=1", f"--server={server.address}")
    run = server.processes.start("run", "tournament", "run", *NAMES, *terms, *options)
    for finished in (3, 9):
        eventually(server.books.are_under_way, finished)
        server.process.kill(with_children=True)
        server.start()
    assert run.wait() == 0, run.words
    assert "points" in run.words
    found = server.ask("tournament", "show", "1")
    games = int(found["tournament"]["finished_games"])
    assert games >= least
    server.assert_all_is_played(games)
    assert all(meeting["over"] for meeting in found["meetings"])
    server.process.kill(with_children=True)
    server.start()
    again = server.ask("tournament", "show", "1")
    assert [again[part] for part in ("standings", "meetings")] == [
        found[part] for part in ("standings", "meetings")
    ]


def test_a_settled_ladder_ends_with_a_final_run_that_verifies(processes: Processes) -> None:
    """Over a crash; Ada's line beats chance, and chance whoever makes no line."""
    server = Server(processes, "--open")
    server.run_bots(ada=f"{LINE_BOT}:Line", bob="random", cyd=f"{LINE_BOT}:Dots")
    terms = ("--variant=7x7", "--time=20/move", f"--server={server.address}")
    rule = ("--until=0.8", "--within=50")
    settling = processes.start("settle", "ladder", "settle", *rule, *terms)
    eventually(server.books.are_under_way, 6)
    server.process.kill(with_children=True)
    server.start()
    assert settling.wait() == 0, settling.words
    words = " ".join(settling.words.split())
    assert " games were enough; the order is sure to " in words
    assert " % but for differences below 50 Elo; least sure: " in words
    assert "final run of tournament 1" in words
    command = settling.words.splitlines()[-1].split()
    assert command[:4] == ["meijin", "ladder", "verify", "freestyle-7x7-classical"]
    assert "byte for byte" in server.tell(*command[1:])
    assert server.ask("ladder", "show", "--run", command[-1])["run"]["final_of"] == "1"
