"""Pages for browsers, served by real processes: `meijin serve`, `meijin web` and `meijin demo`."""

import re
import signal
import socket
from contextlib import closing

import pytest
import urllib3
from tests.system.processes import Process, Processes, Server, eventually, free_port

PAGES = re.compile(r"pages for browsers are at (\S+)")
HTTP = urllib3.PoolManager(retries=False, timeout=10)


def pages_of(process: Process) -> str:
    """Where a process has its pages."""
    eventually(lambda: PAGES.search(process.words) is not None or not process.is_running)
    found = PAGES.search(process.words)
    assert found is not None, process.words
    return found[1]


def look(url: str) -> str:
    """A page's text."""
    answer = HTTP.request("GET", url)
    assert answer.status == 200, answer.data
    return answer.data.decode()


@pytest.mark.smoke
def test_server_has_pages_and_stops_once(processes: Processes) -> None:
    """They are there with the server, and SIGTERM ends both though browsers are connected."""
    server = Server(processes, "--open", "--web=127.0.0.1:0")
    url = pages_of(server.process)
    assert "the arena for Gomoku bots" in look(url)
    host, _, port = url.removeprefix("http://").partition(":")
    with closing(socket.create_connection((host, int(port)))):  # says nothing, and stays
        assert server.process.stop() == 0
    assert server.process.words.count('"event": "stopping"') == 1
    assert "Traceback" not in server.process.words


def test_taken_port_is_one_line(processes: Processes) -> None:
    """Games go on without pages where somebody else has their port."""
    with closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = Server(processes, "--open", f"--web=127.0.0.1:{port}")
        eventually(lambda: server.process.has_said("no pages for browsers"))
        assert server.process.has_said("Address already in use")
        assert server.connected_bots() == set()
        assert server.process.stop() == 0


def test_pages_by_a_process_apart(processes: Processes) -> None:
    """It asks the server by gRPC, says when it is away, and needs the port for itself."""
    server = Server(processes, "--open")
    listen = f"--listen=127.0.0.1:{free_port()}"
    web = processes.start("web", "web", f"--server={server.address}", listen)
    url = pages_of(web)
    assert "No tournament was made yet" in look(url)
    second = processes.run("web", f"--server={server.address}", listen)
    assert second.returncode == 1
    assert second.stderr.startswith("meijin: can't listen on ")
    assert second.stderr.count("\n") == 1
    server.process.stop()
    eventually(lambda: HTTP.request("GET", url).status == 503)
    assert web.stop() == 0
    assert "Traceback" not in web.words


def test_demo_says_where_to_look_and_stays(processes: Processes) -> None:
    """Its pages are there while it plays, and after that until Ctrl-C."""
    options = ("--time=0.05/move", "--rounds=1", "--stay", "--web=127.0.0.1:0")
    demo = processes.start("demo", "demo", *options)
    eventually(lambda: demo.has_said("Ctrl-C stops it") or not demo.is_running)
    found = re.search(r"look at (\S+) meanwhile", demo.words)
    assert found is not None, demo.words
    assert "alphabeta" in look(found[1])
    assert demo.stop(signal.SIGINT) == 0
    assert "What to try next:" in demo.words
