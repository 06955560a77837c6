"""SIGTERM: the server leaves in order; and there is one of it at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from signal import SIGTERM
from typing import TYPE_CHECKING

import grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)
from sqlalchemy import update
from tests.system.processes import (
    BOTS,
    NO_LADDER,
    Process,
    Processes,
    Server,
    eventually,
    processes_of,
)

from meijin.server.services import SERVICES
from meijin.store import Database
from meijin.store.schema import Game, GameState
from meijin.v1.tournament_service_pb2 import TOURNAMENT_STATE_FINISHED

if TYPE_CHECKING:
    from tests.system.conftest import Books

SERVING, NOT_SERVING = HealthCheckResponse.SERVING, HealthCheckResponse.NOT_SERVING


@contextmanager
def open_channel(server: Server) -> Iterator[grpc.Channel]:
    """Talk to the services that are not Meijin's own."""
    with grpc.insecure_channel(server.address) as channel:
        yield channel


def test_games_wait_for_the_next_start(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """What is running after the drain goes on under the next server, twice over."""
    server = Server(processes, "--open", "--drain=0.2")
    books = open_books(server.database_url)
    bots = server.start_bots(*BOTS, delay=0.02)
    server.create_tournament(*BOTS, rounds=6)
    for finished in (3, 9):
        eventually(partial(books.are_under_way, finished))
        assert server.process.stop(SIGTERM) == 0
        assert processes_of(server.data) == set()
        assert "Traceback" not in server.process.words
        waiting = books.running()
        assert waiting
        server.start()
        eventually(partial(books.have_ended, waiting))
    eventually(lambda: not books.tournaments_running())
    books.assert_each_planned_game_was_played_once(18)
    for bot in bots:
        books.assert_holds(processes.journal(bot.name))
        assert "the server is about to stop" in bot.words


def test_a_stop_does_not_wait_for_a_locked_database(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """What can't be stored was told to nobody; the games go on under the next server."""
    server = Server(processes, "--open", "--drain=0.2", "--metrics=127.0.0.1:0")
    books = open_books(server.database_url)
    bots = server.start_bots(*BOTS, delay=0.02)
    server.create_tournament(*BOTS, rounds=2)
    eventually(partial(books.are_under_way, 2))
    with Database(server.database_url) as database, database.writer.begin():
        eventually(lambda: server.scrape()["meijin_journal_waiting_seconds"] > 1)  # for an end
        assert server.process.stop(SIGTERM) == 0
    assert "the last moves are not stored; nobody was told of them" in server.process.words
    assert "Traceback" not in server.process.words
    assert processes_of(server.data) == set()
    server.start()
    eventually(lambda: not books.tournaments_running())
    books.assert_each_planned_game_was_played_once(6)
    for bot in bots:
        books.assert_holds(processes.journal(bot.name))


def test_a_draining_server_finishes_its_games_and_starts_no_other(
    processes: Processes, open_books: "Callable[[str], Books]"
) -> None:
    """Health says NOT_SERVING from the signal on; with games enough to play it ends nonetheless."""
    server = Server(processes, "--open", NO_LADDER, "--drain=30")
    books = open_books(server.database_url)
    server.start_bots(*BOTS, delay=0.03)
    server.create_tournament(*BOTS, rounds=1000)
    eventually(lambda: len(books.running()) == 6)
    with open_channel(server) as channel:
        health = HealthStub(channel).Watch(HealthCheckRequest())  # type: ignore[attr-defined]  # its stub omits it
        assert next(health).status == SERVING
        server.process.send(SIGTERM)
        assert next(health).status == NOT_SERVING
        told = datetime.now(UTC)
    assert server.process.wait() == 0
    assert not books.running()
    assert books.finished() >= 6
    assert max(game.start_time for game in books.games()) <= told


def test_health_and_reflection(processes: Processes) -> None:
    """Operators' tools find every service, and that it is served."""
    server = Server(processes, NO_LADDER)
    with open_channel(server) as channel:
        services = ProtoReflectionDescriptorDatabase(channel).get_services()
        assert set(services) == set(SERVICES)
        assert {service for service in services if service.startswith("meijin.v1.")} == {
            f"meijin.v1.{noun}Service"
            for noun in (
                *("Play", "Bot", "Tournament", "Game", "Ladder", "Status"),
                *("Fault", "Owner", "Token", "Admin", "Class", "Analysis", "Challenge", "Opening"),
                "Webhook",
            )
        }
        check = HealthStub(channel).Check  # type: ignore[attr-defined]  # its stub omits it
        for service in ("", *services):
            response = check(HealthCheckRequest(service=service))
            assert response.status == SERVING


def test_there_is_one_server_a_port_and_a_folder(processes: Processes) -> None:
    """A second one ends at once, in one line, and the first one does not notice."""
    server = Server(processes, "--open")
    here, there = f"--listen={server.address}", "--listen=127.0.0.1:0"
    database = f"--database={server.database_url}"
    same_port = processes.start("same-port", "serve", here, "--data=elsewhere")
    same_data = processes.start("same-data", "serve", there, f"--data={server.data}")
    same_base = processes.start("same-base", "serve", there, "--data=nowhere", database)
    assert_refused(same_port, f"can't listen on {server.address}: is another server running there?")
    assert_refused(same_data, f"another server is running on {server.data}")
    assert_refused(same_base, f"another server is running on {server.data / 'meijin.db'}")
    assert server.connected_bots() == set()
    assert server.process.stop(SIGTERM) == 0


def assert_refused(process: Process, message: str) -> None:
    """It ended with one sentence, after what the log and gRPC itself had to say."""
    assert process.wait() == 1
    assert process.words.splitlines()[-1].startswith(f"meijin: {message}")
    assert "Traceback" not in process.words


def test_a_server_whose_games_another_one_ended_says_so(processes: Processes) -> None:
    """It ends with status 1 and a line that says what to do; the next one plays on."""
    server = Server(processes, "--open")
    server.start_bots(*BOTS[:2], delay=0.05)
    key = server.create_tournament(*BOTS[:2], rounds=4)
    end = update(Game).where(Game.state == GameState.RUNNING).values(state=GameState.VOID)
    with Database(server.database_url) as database:

        def another_server_ends_a_game() -> bool:
            with database.writer.begin() as sql:
                return bool(sql.execute(end).rowcount)

        eventually(another_server_ends_a_game)
    assert server.process.wait() == 1
    assert "Traceback" not in server.process.words
    last = server.process.words.splitlines()[-1]
    assert last.startswith("meijin: another server has written to this database (only 0 of 1 ended")
    assert "stop one of the two. Games resume at the next start" in last
    assert processes_of(server.data) == set()
    server.start()
    eventually(lambda: server.tournament(key).tournament.state == TOURNAMENT_STATE_FINISHED)
