"""The pytest plugin, in a pytest of its own."""

import subprocess
import sys
from pathlib import Path

CONFTEST = 'pytest_plugins = ["meijin.testing.plugin"]\n'
PASSING = """
from meijin.bots import RandomBot


def test_random(meijin_server):
    names = [meijin_server.add_bot(RandomBot(seed=1), name=name) for name in ("ada", "bob")]
    games = meijin_server.play(*names)
    assert [game.at_fault for game in games] == [None, None]
"""
FAILING = """
from meijin.bots import Bot, RandomBot


class Clumsy(Bot):
    def choose(self, position):
        return {}["no such key"]


def test_clumsy(meijin_server):
    names = [meijin_server.add_bot(bot) for bot in (Clumsy(), RandomBot(seed=1))]
    (game,) = meijin_server.play(*names, games=1)
    assert game.at_fault is None
"""


def run_pytest(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in `folder` on a program."""
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "test_bot.py").write_text(program)
    command = [sys.executable, "-m", "pytest", "-q", "-W", "error", "--rootdir", str(folder)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_the_fixture_is_a_server(tmp_path: Path) -> None:
    """Bots play on it."""
    done = run_pytest(tmp_path, PASSING)
    assert "1 passed" in done.stdout, done.stdout


def test_a_failure_shows_the_traceback_of_the_bot(tmp_path: Path) -> None:
    """The author sees where the bot has failed."""
    done = run_pytest(tmp_path, FAILING)
    assert "1 failed" in done.stdout, done.stdout
    assert "Captured log call" in done.stdout
    assert 'return {}["no such key"]' in done.stdout.partition("Captured log call")[2]
