"""Pages for browsers, served by real processes: `meijin serve` and `meijin web`."""

import html
import os
import re
import socket
import sys
from contextlib import closing
from pathlib import Path

import pytest
import urllib3
from tests.processes import Process, Processes, eventually, free_port
from tests.system.server import Server

HTTP = urllib3.PoolManager(retries=False, timeout=10)


def pages_of(process: Process) -> str:
    process.wait_for("pages for browsers are at ")
    (found,) = re.findall(r"pages for browsers are at (\S+)", process.words)
    return str(found)


def look(url: str) -> str:
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
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        server = Server(processes, "--open", f"--web=127.0.0.1:{taken.getsockname()[1]}")
        server.process.wait_for("no pages for browsers")
        assert server.process.has_said("Address already in use")
        assert server.connected_bots() == set()
        assert server.process.stop() == 0


def test_pages_by_a_process_apart(server: Server) -> None:
    """It asks the server by gRPC, says when it is away, and needs the port for itself."""
    words = ("web", f"--server={server.address}", f"--listen=127.0.0.1:{free_port()}")
    web = server.processes.start("web", *words)
    url = pages_of(web)
    assert "three lines begin" in look(url)
    assert server.refusal(*words).startswith("can't listen on ")
    server.process.stop()
    eventually(lambda: HTTP.request("GET", url).status == 503)
    assert web.stop() == 0
    assert "Traceback" not in web.words


def test_the_lines_of_an_empty_front_page_begin(processes: Processes) -> None:
    """Copied in the server's folder they play, and the page has a board then."""
    data = processes.folder / "meijin-data"
    address = f"127.0.0.1:{free_port()}"
    server = processes.start(
        "server", "serve", f"--listen={address}", f"--data={data}", "--web=127.0.0.1:0"
    )
    url = pages_of(server)
    (lines,) = re.findall(r"<pre[^>]*><code>(.*?)</code>", look(url), re.DOTALL)
    *bots, tournament = html.unescape(lines).splitlines()
    commands = Path(sys.executable).parent
    env = {"MEIJIN_SERVER": address, "PATH": f"{commands}:{os.environ['PATH']}"}
    for number, line in enumerate(bots):
        bot = processes.start_command(f"line {number}", "bash", "-c", line, **env)
        bot.wait_for("connected as")
    processes.start_command("tournament", "bash", "-c", tournament, **env)
    eventually(lambda: 'class="live-board"' in look(url))
