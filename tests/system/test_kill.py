"""`kill -9` in the middle of a tournament: nothing is lost, nothing counts twice."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.system.conftest import Books, Processes, Server

BOTS = ("ada", "grace", "edsger")


def test_a_killed_server_loses_nothing(
    serve: "Callable[..., Server]",
    processes: "Processes",
    open_books: "Callable[[str], Books]",
    eventually: Callable[..., None],
    any_database_url: str,
) -> None:
    """Killed three times, alone and with its worker and Valkey, it plays what was planned."""
    server = serve("--open", f"--database={any_database_url}")
    books = open_books(any_database_url)
    for bot in BOTS:
        processes.start_bot(bot, server.address)
    eventually(lambda: server.connected_bots() == set(BOTS))
    rounds, planned = 20, 60
    key = server.create_tournament(*BOTS, rounds=rounds)
    for finished, with_children in ((6, False), (20, True), (40, True)):
        eventually(lambda least=finished: books.finished() >= least and books.running())
        server.process.kill(with_children=with_children)
        assert books.finished() < planned
        server.start()
    eventually(lambda: not books.tournaments_running())
    eventually(server.has_current_ladder)
    books.assert_each_planned_game_was_played_once(planned)
    for bot in BOTS:
        books.assert_holds(processes.journal(bot))
    books.assert_ladder_is_what_the_games_give()
    response = server.tournament(key)
    assert response.tournament.finished_games == planned
    assert sum(cell.wins + cell.draws + cell.losses for cell in response.crosstable) == 2 * planned
    assert [count.faults for count in response.faults] == [0, 0, 0]


def test_a_killed_bot_takes_its_games_up_again(
    serve: "Callable[..., Server]",
    processes: "Processes",
    open_books: "Callable[[str], Books]",
    eventually: Callable[..., None],
) -> None:
    """Started again within the grace, it plays on in every game that it was playing."""
    server = serve("--open")
    books = open_books(f"sqlite:///{server.data}/meijin.db")
    victim, *_ = (processes.start_bot(bot, server.address) for bot in BOTS)
    eventually(lambda: server.connected_bots() == set(BOTS))
    server.create_tournament(*BOTS, rounds=10)
    for finished in (4, 14):
        eventually(lambda least=finished: books.finished() >= least)
        victim.kill()
        interrupted = books.running()
        eventually(lambda: server.connected_bots() == set(BOTS) - {victim.name})
        before = len(processes.journal(victim.name).read_text().splitlines())
        victim = processes.start_bot(victim.name, server.address)
        eventually(lambda games=interrupted: not books.running() & games)
        news = processes.journal(victim.name).read_text().splitlines()[before:]
        assert {line.split()[1] for line in news} & interrupted
    eventually(lambda: not books.tournaments_running())
    books.assert_each_planned_game_was_played_once(30)
    for bot in BOTS:
        books.assert_holds(processes.journal(bot))
