"""What commands show on screens of several widths, and in a pipe."""

from collections.abc import Iterator

import pytest
from tests.processes import Processes, eventually
from tests.system.screen import terminal
from tests.system.server import Server

WIDTHS = (120, 80, 40)
MATCH = ("match", "ada", "grace", "--games=4", "--time=5/move", "--rated")
TABLES = (("ladder",), ("tournament", "show", "1"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server with two bots, a match that was played and a ladder."""
    processes = Processes(tmp_path_factory.mktemp("arena"))
    server = Server(processes, "--open")
    server.run_bots(ada="random", grace="random")
    server.tell(*MATCH)
    eventually(server.has_current_ladder)
    yield server
    processes.kill_all()


@pytest.mark.parametrize("width", WIDTHS)
def test_a_match_fits_its_screen(server: Server, width: int) -> None:
    """The result is there, and nothing of the line that was shown meanwhile."""
    with terminal(server, width, *MATCH) as opened:
        assert opened.wait() == 0
        shown = " ".join(opened.screen.lines)
        assert "ada against grace:" in shown
        assert "games/s" in shown
        assert "4/4" not in shown
        assert all(len(line) <= width for line in opened.screen.lines)


@pytest.mark.parametrize("words", TABLES, ids=["ladder", "show"])
@pytest.mark.parametrize("width", WIDTHS)
def test_tables_fit_their_screen(server: Server, words: tuple[str, ...], width: int) -> None:
    """Names and numbers stay readable, each bot in a line of its own."""
    with terminal(server, width, *words) as opened:
        assert opened.wait() == 0
        rows = [line for line in opened.screen.lines if line.split()[1:2] in (["ada"], ["grace"])]
        assert len(rows) == 2, "\n".join(opened.screen.lines)
        assert not any("…" in line for line in rows)


def test_nothing_is_folded_in_a_pipe(server: Server) -> None:
    """Whatever the environment says of columns: a line a game, and every column of a table."""
    played = server.run(*MATCH, COLUMNS="20")
    games = [line for line in played.stderr.splitlines() if line.startswith("game ")]
    assert len(games) == 4
    assert all(line.endswith("plies") for line in games)
    assert len(played.stdout.splitlines()) == 3
    table = server.tell("ladder", COLUMNS="20")
    (columns,) = (line for line in table.splitlines() if "bot" in line and "Elo" in line)
    for column in ("games", "opponents", "draws", "black"):
        assert column in columns


def test_an_interrupted_match_leaves_no_live_line(server: Server) -> None:
    """Not even where the terminal has written its own sign behind it."""
    with terminal(server, 40, "match", "ada", "grace", "--games=2000", "--time=5/move") as opened:
        opened.wait_for("/2000")
        opened.type("\x03")
        assert opened.wait() == 1
        assert not opened.screen.shows("/2000")
        assert "goes on at the server" in "".join(opened.screen.lines)


def test_a_local_match_says_that_it_starts(processes: Processes) -> None:
    """Before there is a game to show, and on a screen alone."""
    words = ("match", "random", "reference", "--local", "--games=2", "--variant=9x9")
    with terminal(processes, 80, *words) as opened:
        assert opened.wait() == 0
        assert opened.screen.shows("starting a server and the sides ...")
    assert "starting" not in processes.run(*words).stderr
