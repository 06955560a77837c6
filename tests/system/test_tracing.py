"""Traces of real processes, as a collector on loopback gets them."""

import json
import re

import pytest
from tests.collector import serve_collector, values
from tests.processes import Processes, eventually
from tests.system.server import BOTS, Server

from meijin.server.tracing.spans import format_trace_id, game_trace_id, nanoseconds

DEBUG = ("--log-level=debug", "--log-format=json")


def test_a_game_has_one_id_from_log_to_row(processes: Processes) -> None:
    """Its span has the ids that its lines in the log have, and both follow from its row."""
    with serve_collector() as collector:
        server = Server(processes, "--open", *DEBUG, f"--traces={collector.url}")
        server.start_bots(*BOTS)
        server.create_tournament(*BOTS, rounds=2)
        eventually(lambda: server.books.finished() == 6)
        eventually(collector.named, "ladder run")
        assert server.process.stop() == 0
    lines = [json.loads(line) for line in server.process.words.splitlines() if line.startswith("{")]
    spans = {values(span.attributes)["meijin.game"]: span for span in collector.named("game")}
    rows = {row.id: row for row in server.books.games()}
    assert spans.keys() == rows.keys()
    for game_id, row in rows.items():
        span = spans[game_id]
        assert span.trace_id.hex() == format_trace_id(game_trace_id(game_id, row.start_time))
        assert span.end_time_unix_nano == nanoseconds(row.end_time)
        told = [line for line in lines if line.get("game") == game_id]
        assert [line["event"] for line in told] == ["game started", "game ended"]
        assert {line["trace_id"] for line in told} == {span.trace_id.hex()}
    assert {values(span.attributes)["meijin.bot"] for span in collector.named("session")} == {*BOTS}
    assert collector.named("meijin.v1.TournamentService/CreateTournament")
    assert collector.named("commit")
    assert collector.services == {"meijin", "meijin-worker"}


@pytest.mark.parametrize(
    ("name", "url"),
    [("MEIJIN_TRACES", "http://127.0.0.1:9"), ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://a")],
)
def test_traces_need_their_extra(processes: Processes, name: str, url: str) -> None:
    """One line says so, and what to run; it is not that the server goes on without."""
    (processes.folder / "sitecustomize.py").write_text(
        "import sys\nsys.modules['opentelemetry'] = None\n"
    )
    words = ("serve", "--listen=127.0.0.1:0", "--data=data")
    refused = processes.refusal(*words, PYTHONPATH=str(processes.folder), **{name: url})
    assert re.match("opentelemetry.* is not installed", refused)
    assert "pip install 'meijin[tracing]'" in refused
    assert not (processes.folder / "data" / "meijin.db").exists()
