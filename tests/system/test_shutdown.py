"""SIGTERM: the server leaves in order; and there is one of it at a time."""

import resource
from datetime import UTC, datetime
from signal import SIGTERM

import grpc
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)
from sqlalchemy import update
from tests.processes import Processes, eventually, processes_of
from tests.system.server import BOTS, NO_LADDER, Server

from meijin.server.services import SERVICES
from meijin.store import Database
from meijin.store.schema import Game, GameState
from meijin.v1.tournament_service_pb2 import TOURNAMENT_STATE_FINISHED

SERVING, NOT_SERVING = HealthCheckResponse.SERVING, HealthCheckResponse.NOT_SERVING
ONE_PAGE = 4096
"""No file may grow beyond it: the database's log of one page is larger, the server's is smaller."""


@pytest.fixture
def playing(processes: Processes) -> Server:
    """A server that stops in the middle of its games, three bots at it."""
    server = Server(processes, "--open", "--drain=0.2", "--metrics=127.0.0.1:0")
    server.start_bots(*BOTS, delay=0.02)
    return server


def assert_left_in_order(server: Server) -> None:
    assert processes_of(server.data) == set()
    assert "Traceback" not in server.process.words


def test_games_wait_for_the_next_start(playing: Server) -> None:
    """What is running after the drain goes on under the next server, twice over."""
    server = playing
    server.create_tournament(*BOTS, rounds=6)
    for finished in (3, 9):
        eventually(server.books.are_under_way, finished)
        assert server.process.stop() == 0
        assert_left_in_order(server)
        waiting = server.books.running()
        assert waiting
        server.start()
        eventually(lambda games: games.isdisjoint(server.books.running()), waiting)
    server.assert_all_is_played(18)
    for bot in BOTS:
        assert "the server is about to stop" in (server.folder / f"{bot}.log").read_text()


def test_a_stop_does_not_wait_for_a_locked_database(playing: Server) -> None:
    """What can't be stored was told to nobody; the games go on under the next server."""
    server = playing
    server.create_tournament(*BOTS, rounds=2)
    eventually(server.books.are_under_way, 2)
    with Database(server.database_url) as database, database.writer.begin():
        eventually(lambda: server.scrape()["meijin_journal_waiting_seconds"] > 1)  # for an end
        assert server.process.stop() == 0
    assert "the last moves are not stored; nobody was told of them" in server.process.words
    assert_left_in_order(server)
    server.start()
    server.assert_all_is_played(6)


def test_a_draining_server_finishes_its_games_and_starts_no_other(processes: Processes) -> None:
    """Health says NOT_SERVING from the signal on; with games enough to play it ends nonetheless."""
    server = Server(processes, "--open", NO_LADDER, "--drain=30")
    server.start_bots(*BOTS, delay=0.03)
    server.create_tournament(*BOTS, rounds=1000)
    eventually(lambda: len(server.books.running()) == 6)
    with grpc.insecure_channel(server.address) as channel:
        health = HealthStub(channel).Watch(HealthCheckRequest())  # type: ignore[attr-defined]  # its stub omits it
        assert next(health).status == SERVING
        server.process.send(SIGTERM)
        assert next(health).status == NOT_SERVING
        told = datetime.now(UTC)
    assert server.process.wait() == 0
    assert not server.books.running()
    assert server.books.finished() >= 6
    assert max(game.start_time for game in server.books.games()) <= told


def test_health_and_reflection(server: Server) -> None:
    """Operators' tools find every service, and that it is served."""
    with grpc.insecure_channel(server.address) as channel:
        services = ProtoReflectionDescriptorDatabase(channel).get_services()
        assert set(services) == set(SERVICES)
        check = HealthStub(channel).Check  # type: ignore[attr-defined]  # its stub omits it
        for service in ("", *services):
            assert check(HealthCheckRequest(service=service)).status == SERVING


def test_health_tells_of_a_full_disk_before_anybody_needs_it(processes: Processes) -> None:
    """Nothing more is stored: the server says so at rest, and when it stores again."""
    server = Server(processes, "--open")
    pid = server.process.pid
    unlimited = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    with grpc.insecure_channel(server.address) as channel:
        check = HealthStub(channel).Check  # type: ignore[attr-defined]  # its stub omits it

        def says(state: int) -> bool:
            return bool(check(HealthCheckRequest()).status == state)

        assert says(SERVING)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (ONE_PAGE, unlimited[1]))
        eventually(says, NOT_SERVING)
        assert server.process.has_said("the database fails; games wait")
        resource.prlimit(pid, resource.RLIMIT_FSIZE, unlimited)
        eventually(says, SERVING)
    assert server.process.stop() == 0


def test_there_is_one_server_a_port_and_a_folder(processes: Processes) -> None:
    """A second one ends at once, in one line, and the first one does not notice."""
    server = Server(processes, "--open")
    here, there = f"--listen={server.address}", "--listen=127.0.0.1:0"
    database = f"--database={server.database_url}"
    for words, message in (
        (
            (here, "--data=elsewhere"),
            f"can't listen on {server.address}: is another server running",
        ),
        ((there, f"--data={server.data}"), f"another server is running on {server.data}"),
        (
            (there, "--data=nowhere", database),
            f"another server is running on {server.data / 'meijin.db'}",
        ),
    ):
        assert processes.refusal("serve", *words).startswith(message)
    assert server.connected_bots() == set()
    assert server.process.stop() == 0


def test_a_server_whose_games_another_one_ended_says_so(processes: Processes) -> None:
    """It ends with status 1 and a line that says what to do; the next one plays on."""
    server = Server(processes, "--open")
    server.start_bots(*BOTS[:2], delay=0.05)
    key = server.create_tournament(*BOTS[:2], rounds=4)
    end = update(Game).where(Game.state == GameState.RUNNING).values(state=GameState.VOID)
    with Database(server.database_url) as database:

        def another_server_ends_a_game() -> bool:
            with database.writer.begin() as at:
                return bool(at.execute(end).rowcount)

        eventually(another_server_ends_a_game)
    assert server.process.wait() == 1
    last = server.process.words.splitlines()[-1]
    assert last.startswith("meijin: another server has written to this database (only 0 of 1 ended")
    assert "stop one of the two. Games resume at the next start" in last
    assert_left_in_order(server)
    server.start()
    eventually(lambda: server.tournament(key).tournament.state == TOURNAMENT_STATE_FINISHED)
