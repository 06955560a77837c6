"""The pytest plugin, in a pytest of its own."""

import subprocess
import sys

import pytest

CONFTEST = 'pytest_plugins = ["meijin.testing.plugin"]\n'
PROGRAM = """
from meijin.bots import Bot, RandomBot


class Clumsy(Bot):
    def choose(self, position):
        return {}["no such key"]


def test_random(meijin_server):
    names = [meijin_server.add_bot(RandomBot(seed=1), name=name) for name in ("ada", "bob")]
    games = meijin_server.play(*names)
    assert [game.at_fault for game in games] == [None, None]


def test_clumsy(meijin_server):
    names = [meijin_server.add_bot(bot) for bot in (Clumsy(), RandomBot(seed=1))]
    (game,) = meijin_server.play(*names, games=1)
    assert game.at_fault is None
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What pytest says of an author's tests, of which one fails."""
    folder = tmp_path_factory.mktemp("author")
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_bot.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "pytest", "-v", "-W", "error", "--rootdir", str(folder)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def test_the_fixture_is_a_server(report: str) -> None:
    assert "test_bot.py::test_random PASSED" in report, report


def test_a_failure_shows_the_traceback_of_the_bot(report: str) -> None:
    assert "test_bot.py::test_clumsy FAILED" in report, report
    assert "1 failed, 1 passed" in report
    assert "Captured log call" in report
    assert 'return {}["no such key"]' in report.partition("Captured log call")[2]
