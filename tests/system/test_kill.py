"""`kill -9` in the middle of a tournament: nothing is lost, nothing counts twice."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import grpc
import pytest
from tests.system.processes import (
    BOTS,
    NO_LADDER,
    CompactingServer,
    Processes,
    Server,
    eventually,
)

if TYPE_CHECKING:
    from tests.system.conftest import Books


@pytest.mark.smoke
def test_a_killed_server_loses_nothing(
    processes: Processes, open_books: "Callable[[str], Books]", any_database_url: str
) -> None:
    """Killed three times, alone and with its worker and Valkey, it plays what was planned."""
    server = Server(processes, "--open", f"--database={any_database_url}")
    books = open_books(any_database_url)
    server.start_bots(*BOTS)
    key = server.create_tournament(*BOTS, rounds=16)
    for finished, with_children in ((5, False), (16, True), (32, True)):
        eventually(partial(books.are_under_way, finished))
        server.process.kill(with_children=with_children)
        assert books.finished() < 48
        verified = processes.run("verify", f"--database={any_database_url}")
        assert verified.stdout.endswith("no acknowledged move is missing\n"), verified.stdout
        server.start()
    eventually(lambda: not books.tournaments_running())
    eventually(server.has_current_ladder)
    books.assert_each_planned_game_was_played_once(48)
    for bot in BOTS:
        books.assert_holds(processes.journal(bot))
    books.assert_ladder_is_what_the_games_give()
    response = server.tournament(key)
    assert response.tournament.finished_games == 48
    assert sum(cell.wins + cell.draws + cell.losses for cell in response.crosstable) == 2 * 48
    assert [count.faults for count in response.faults] == [0, 0, 0]


def test_a_server_that_is_killed_while_it_writes_games_anew_loses_nothing(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """Whichever entries were deleted, and whatever the last one held."""
    server = CompactingServer(processes, "--open", NO_LADDER)
    books = open_books(server.database_url)
    server.start_bots(*BOTS)
    key = server.create_tournament(*BOTS, rounds=8, variant="7x7 swap2")
    for finished in (2, 8, 16):
        eventually(partial(books.are_under_way, finished))
        assert books.was_written_anew()
        server.process.kill()
        assert processes.run("verify", f"--data={server.data}").returncode == 0
        server.start()
    eventually(lambda: not books.tournaments_running())
    books.assert_each_planned_game_was_played_once(24)
    for bot in BOTS:
        books.assert_holds(processes.journal(bot))
    assert [count.faults for count in server.tournament(key).faults] == [0, 0, 0]


def test_a_server_that_is_killed_in_openings_goes_on_in_the_same_phase(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """Stones and choices that were told of stand; the ladder counts the colours of the end."""
    server = Server(processes, "--open", NO_LADDER)
    books = open_books(server.database_url)
    server.start_bots(*BOTS)
    key = server.create_tournament(*BOTS, rounds=4, variant="7x7 swap2")
    for finished in (0, 4):
        eventually(partial(books.finished_at_least, finished))
        eventually(books.openings_under_way)
        server.process.kill()
        server.start()
    eventually(lambda: not books.tournaments_running())
    books.assert_each_planned_game_was_played_once(12)
    for bot in BOTS:
        books.assert_holds(processes.journal(bot))
    response = server.tournament(key)
    points = Counter[str]()
    for game in books.games():
        points[game.black] += {"1-0": 2, "0-1": 0}.get(game.result.value, 1)
        points[game.white] += {"1-0": 0, "0-1": 2}.get(game.result.value, 1)
    assert {row.bot: 2 * row.points for row in response.standings} == points
    assert {game.is_swapped for game in books.games()} == {False, True}


def test_a_server_that_is_killed_while_it_makes_a_tournament_leaves_no_half_of_one(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """The next one drops what is there, and the repeated request makes one that is whole."""
    server = Server(processes, "--open", NO_LADDER)
    books = open_books(server.database_url)
    server.start_bots(*BOTS[:2], delay=0.05)
    create = partial(server.create_tournament, *BOTS[:2], rounds=50_000, request_id="once")
    with ThreadPoolExecutor() as threads:
        cut_off = threads.submit(create)
        eventually(lambda: books.planned() > 0)
        server.process.kill()
        with pytest.raises(grpc.RpcError):
            cut_off.result()
    assert 0 < books.planned() < 50_000
    server.start()
    assert create() == create()
    eventually(lambda: books.planned() == 50_000)
    assert books.tournaments_running() == 1
    eventually(books.running)


def test_a_killed_bot_takes_its_games_up_again(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """Started again within the grace, it plays on in every game that it was playing."""
    server = Server(processes, "--open", NO_LADDER)
    books = open_books(server.database_url)
    victim, *others = server.start_bots(*BOTS)
    journal, left = processes.journal(victim.name), {bot.name for bot in others}
    server.create_tournament(*BOTS, rounds=10)
    for finished in (4, 14):
        eventually(partial(books.are_under_way, finished))
        victim.kill()
        interrupted = books.running()
        eventually(lambda: server.connected_bots() == left)
        known = len(journal.read_text().splitlines())
        (victim,) = server.start_bots(victim.name)
        eventually(partial(books.have_ended, interrupted))
        news = journal.read_text().splitlines()[known:]
        assert {line.split()[1] for line in news} & interrupted
    eventually(lambda: not books.tournaments_running())
    books.assert_each_planned_game_was_played_once(30)
    for bot in BOTS:
        books.assert_holds(processes.journal(bot))
