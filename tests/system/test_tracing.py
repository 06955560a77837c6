"""Traces of real processes, as a collector on loopback gets them."""

import json
import re
import time
from collections.abc import Callable, Iterator
from signal import SIGKILL, SIGTERM
from typing import TYPE_CHECKING, Any

import pytest
from tests.collector import Collector, serve_collector, values
from tests.system.processes import BOTS, NO_LADDER, Processes, Server, eventually, free_port

from meijin.server.tracing.spans import format_trace_id, game_trace_id, nanoseconds

if TYPE_CHECKING:
    from tests.system.conftest import Books

DEBUG = ("--log-level=debug", "--log-format=json")


@pytest.fixture(name="collector")
def _collector() -> Iterator[Collector]:
    with serve_collector() as collector:
        yield collector


def lines_of(server: Server) -> list[dict[str, Any]]:
    """The log, a record a line."""
    lines = server.process.words.splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def test_a_game_has_one_id_from_log_to_row(
    processes: Processes, open_books: "Callable[[str], Books]", collector: Collector
) -> None:
    """Its span has the ids that its lines in the log have, and both follow from its row."""
    server = Server(processes, "--open", *DEBUG, f"--traces={collector.url}")
    books = open_books(server.database_url)
    server.start_bots(*BOTS)
    server.create_tournament(*BOTS, rounds=2)
    eventually(lambda: books.finished() == 6)
    eventually(lambda: collector.named("ladder run"))
    assert server.process.stop(SIGTERM) == 0
    spans = {values(span.attributes)["meijin.game"]: span for span in collector.named("game")}
    rows = {row.id: row for row in books.games()}
    assert spans.keys() == rows.keys()
    for game_id, row in rows.items():
        span = spans[game_id]
        assert span.trace_id.hex() == format_trace_id(game_trace_id(game_id, row.start_time))
        assert span.end_time_unix_nano == nanoseconds(row.end_time)
        told = [line for line in lines_of(server) if line.get("game") == game_id]
        assert [line["event"] for line in told] == ["game started", "game ended"]
        assert {line["trace_id"] for line in told} == {span.trace_id.hex()}
    assert {values(span.attributes)["meijin.bot"] for span in collector.named("session")} == {*BOTS}
    assert collector.named("meijin.v1.TournamentService/CreateTournament")
    assert collector.named("commit")
    assert collector.services == {"meijin", "meijin-worker"}


def test_a_game_keeps_its_trace_when_the_server_is_killed(
    processes: Processes, open_books: "Callable[[str], Books]", collector: Collector
) -> None:
    """The server that ends it sends its whole span, from the first start on."""
    server = Server(processes, "--open", NO_LADDER, f"--traces={collector.url}")
    books = open_books(server.database_url)
    server.start_bots(*BOTS[:2], delay=0.2)
    server.create_tournament(*BOTS[:2], rounds=1)
    eventually(books.running)
    running = books.running()
    server.process.send(SIGKILL)
    server.process.wait()
    restart_ns = time.time_ns()
    server.start()
    eventually(lambda: books.have_ended(running))
    assert server.process.stop(SIGTERM) == 0
    spans = {str(values(span.attributes)["meijin.game"]): span for span in collector.named("game")}
    for game_id in running:
        assert spans[game_id].start_time_unix_nano < restart_ns
        assert spans[game_id].end_time_unix_nano > restart_ns


def test_a_collector_that_hangs_holds_nothing_up(
    processes: Processes, open_books: "Callable[[str], Books]", collector: Collector
) -> None:
    """Games are played and the server stops while no span is ever taken."""
    collector.is_open.clear()
    server = Server(processes, "--open", NO_LADDER, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    books = open_books(server.database_url)
    server.start_bots(*BOTS)
    server.create_tournament(*BOTS, rounds=2)
    eventually(lambda: books.finished() == 6)
    assert collector.asked.wait(60)
    assert server.process.stop(SIGTERM) == 0
    assert "the stop hangs" not in server.process.words
    assert "Traceback" not in server.process.words


def test_traces_need_their_extra(processes: Processes) -> None:
    """One line says so, and what to run; it is not that the server goes on without."""
    (processes.folder / "sitecustomize.py").write_text(
        "import sys\nsys.modules['opentelemetry'] = None\n"
    )
    words = ("serve", f"--listen=127.0.0.1:{free_port()}", "--data=data")
    path = str(processes.folder)
    for env in (
        {"MEIJIN_TRACES": "http://127.0.0.1:9"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a"},
    ):
        done = processes.run(*words, PYTHONPATH=path, **env)
        assert done.returncode == 1
        (line,) = done.stderr.splitlines()
        assert re.match("meijin: opentelemetry.* is not installed", line)
        assert "pip install 'meijin[tracing]'" in line
        assert not (processes.folder / "data" / "meijin.db").exists()
