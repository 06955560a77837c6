"""The GitHub action: each of its steps is run here, on a bot in two versions."""

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).parents[2] / "examples" / "github-action"
ACTION: dict[str, Any] = yaml.safe_load((FOLDER / "action.yml").read_text())
INSTALL, *STEPS = ACTION["runs"]["steps"]
SPRT = runpy.run_path(str(FOLDER / "sprt.py"))

OLD = """
from meijin.bots import RESIGN, Bot

class MyBot(Bot):
    def choose(self, position):
        return RESIGN
"""
NEW = """
import random
from meijin.bots import Bot

class MyBot(Bot):
    def choose(self, position):
        return random.choice(position.legal_cells())
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose bot gave up at once until its last commit."""
    folder = tmp_path / "repository"
    folder.mkdir()
    git = ("git", "-C", str(folder), "-c", "user.name=ada", "-c", "user.email=ada@example.org")
    subprocess.run([*git, "init", "-q"], check=True)
    for text in (OLD, NEW):
        (folder / "my_bot.py").write_text(text)
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", "Change"], check=True)
    return folder


def run_step(
    step: Mapping[str, Any],
    folder: Path,
    *,
    programs: str = str(Path(sys.executable).parent),
    **given: str,
) -> int:
    """Do what a runner does with a step of the action; return its exit status."""
    inputs = {name: value.get("default") for name, value in ACTION["inputs"].items()} | given

    def value_of(text: str) -> str:
        return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)

    environment = os.environ | {name: value_of(text) for name, text in step["env"].items()}
    environment |= {"PATH": f"{programs}:{os.environ['PATH']}"}
    environment |= {"GITHUB_ACTION_PATH": str(FOLDER)}
    environment |= {"GITHUB_STEP_SUMMARY": str(folder / "summary.md")}
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


def test_a_better_version_passes(repository: Path) -> None:
    """It meets the one of the commit before, and the result is in the summary."""
    given = {"bot": "my_bot.py", "elo": "0,200", "games": "60", "time": "5+0.1"}
    assert run_step(STEPS[1], repository, **given) == 0
    told = (repository / "summary.md").read_text()
    assert "ELO1 is accepted: the new version is good enough" in told


def test_a_bot_that_passes_is_a_passed_step(repository: Path) -> None:
    """Whatever the doctor says is in the summary; here another program says it."""
    stub = repository / "meijin"
    stub.write_text('#!/bin/sh\necho "$@"\n')
    stub.chmod(0o755)
    assert run_step(STEPS[0], repository, bot="my bot.py", programs=str(repository)) == 0
    told = (repository / "summary.md").read_text()
    assert told == "### Doctor\n\n    bot doctor --junit doctor.xml my bot.py\n\n"


def test_a_bot_that_fails_is_a_failed_step(repository: Path) -> None:
    (repository / "my_bot.py").write_text("import no_such_module\n")
    assert run_step(STEPS[0], repository, bot="my_bot.py") == 1
    told = (repository / "summary.md").read_text()
    assert "    FAIL  connects          its process has ended, exit status 1" in told
    assert "    bot has failed: 1 failed, in" in told
    assert "no_such_module" in told
    assert (repository / "doctor.xml").read_text().startswith("<?xml")


def test_a_new_bot_has_nothing_to_play(repository: Path) -> None:
    """There is no earlier version, and no failure."""
    (repository / "other.py").write_text(NEW)
    assert run_step(STEPS[1], repository, bot="other.py") == 0
    assert "no such bot then" in (repository / "summary.md").read_text()


def test_a_worse_version_fails() -> None:
    """When the first hypothesis is accepted, and only then."""
    sprt: dict[str, Any] = {"wins": 1, "draws": 0, "losses": 9, "llr": -2.95}
    sprt |= {"pairs": [4, 1, 0, 0, 0], "openings": 3, "units": 3.2}
    found = {
        decision: {"tournament": {"sprt": sprt | {"decision": decision}}}
        for decision in SPRT["VERDICTS"]
    }
    accepted = {decision for decision, match in found.items() if SPRT["is_accepted"](match)}
    assert accepted == set(found) - {"elo0"}
    told = SPRT["summary"](found["elo0"], "-30,0")
    assert "| -30,0 | 1 | 0 | 9 | 5 on 3 openings = 3 units | -2.95 | ELO0 is accepted" in told


def test_inputs_reach_programs_by_the_environment_alone() -> None:
    """Written into a script, an input would be a program of whoever makes a pull request."""
    assert ACTION["runs"]["using"] == "composite"
    used: set[str] = set()
    for step in (INSTALL, *STEPS):
        assert "${{" not in step["run"]
        assert step["shell"] == "bash"
        used |= set(re.findall(r"inputs\.(\w+)", str(step)))
    assert used == set(ACTION["inputs"])
