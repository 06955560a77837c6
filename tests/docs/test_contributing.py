"""What contributors are handed: a table of rooms, make's targets, workflows that fit the project."""

import re
from typing import Any

import pytest
import typer
import yaml
from tests.docs.pages import ROOT, page

from meijin.cli.lazy_group import LazyGroup
from meijin.cli.main import app

MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = set(re.findall(r"^([\w-]+):", MAKEFILE, re.MULTILINE))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
JOBS: list[dict[str, Any]] = [
    job for path in WORKFLOWS for job in yaml.safe_load(path.read_text())["jobs"].values()
]
STEPS: list[dict[str, Any]] = [step for job in JOBS for step in job["steps"]]
PINNED = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}")
VARIABLE = re.compile(r"\$\{\{ (\S+) \}\}")


def test_rooms_use_what_their_lines_name() -> None:
    """The table of the rooms has all of them, and nothing in one imports another that it lacks."""
    used = {}
    for room, content, uses in page("CONTRIBUTING.md").table("## The house"):
        found = re.match(r"`meijin\.(\w+)`", content)
        used[found[1] if found else room.strip("`/")] = set(re.findall(r"`(\w+)`", uses))
    assert set(used) == {path.parent.name for path in ROOT.glob("*/meijin")} | {"testing"}
    for package in ROOT.glob("*/meijin/*/"):
        room = package.name if package.name in used else package.parents[1].name
        source = "".join(path.read_text() for path in package.rglob("*.py"))
        names = set(re.findall(r"^ *(?:from|import) meijin\.(\w+)", source, re.MULTILINE))
        rooms = {"proto" if name in {"v1", "wire"} else name for name in names}
        assert rooms - {room} <= used[room], package


def test_every_make_target_is_phony() -> None:
    """No file of the same name keeps a target from being made."""
    (phony,) = re.findall(r"^\.PHONY: (.+)$", MAKEFILE, re.MULTILINE)
    assert set(phony.split()) == TARGETS


def test_jobs_are_bounded_and_may_read_alone() -> None:
    """Each has a limit and uses what its matrix has; all three systems are there."""
    for path in WORKFLOWS:
        assert yaml.safe_load(path.read_text())["permissions"] == {"contents": "read"}
    systems = set()
    for job in JOBS:
        assert 0 < job["timeout-minutes"] <= 360
        matrix = job.get("strategy", {}).get("matrix", {})
        assert set(VARIABLE.findall(str(job))) <= {f"matrix.{name}" for name in matrix}
        systems |= {image.partition("-")[0] for image in matrix.get("system", [job["runs-on"]])}
    assert systems == {"ubuntu", "macos", "windows"}


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.get("name", step.get("uses")))
def test_steps_are_pinned_and_exist(step: dict[str, Any]) -> None:
    """What others wrote is named by its commit; what is run is there."""
    group = typer.main.get_group(app)
    assert isinstance(group, LazyGroup)
    commands = {command.name for command in group.lazy_commands}
    assert ("uses" in step) is not ("run" in step)
    match step.get("run", "").split():
        case []:
            assert PINNED.fullmatch(step["uses"])
        case ["make", target, *_]:
            assert {target} <= TARGETS or "{{" in step["run"]
        case ["python", "-m", "meijin", word, *_]:
            assert word in commands | {"--version", "--help"}
        case ["python", "-m", "pip", "install", *_]:
            pass
        case ["python", script, *_] | [script]:
            assert (ROOT / script).is_file()
        case words:
            pytest.fail(f"unknown command {words}")
