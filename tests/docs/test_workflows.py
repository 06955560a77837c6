"""The workflows of continuous integration: what can be checked of them without their runners."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from meijin.cli.lazy_group import LazyGroup
from meijin.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
JOB_KEYS = {"runs-on", "timeout-minutes", "strategy", "env", "steps", "permissions", "needs", "if"}
STEP_KEYS = {"name", "uses", "run", "with", "env", "if"}
SYSTEMS = {"ubuntu", "macos", "windows"}
PINNED = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40}")
VARIABLE = re.compile(r"\$\{\{ (\S+) \}\}")


def jobs(workflow: Path) -> dict[str, dict[str, Any]]:
    """The jobs of a workflow by their names."""
    found: dict[str, dict[str, Any]] = yaml.safe_load(workflow.read_text())["jobs"]
    return found


def steps(workflow: Path) -> list[dict[str, Any]]:
    """The steps of all its jobs."""
    return [step for job in jobs(workflow).values() for step in job["steps"]]


def runners(job: dict[str, Any]) -> list[str]:
    """The images that a job runs on."""
    systems = job.get("strategy", {}).get("matrix", {}).get("system", [])
    return systems if job["runs-on"] == "${{ matrix.system }}" else [job["runs-on"]]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_jobs_are_bounded_and_may_read_alone(workflow: Path) -> None:
    """Each names an image and a limit, uses known keys, and what its matrix has."""
    text = workflow.read_text()
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    for job in jobs(workflow).values():
        assert set(job) <= JOB_KEYS
        assert 0 < job["timeout-minutes"] <= 360
        assert all(image.partition("-")[0] in SYSTEMS for image in runners(job))
        known = {f"matrix.{name}" for name in job.get("strategy", {}).get("matrix", {})}
        assert set(VARIABLE.findall(str(job))) <= known


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_steps_are_pinned_and_exist(workflow: Path) -> None:
    """What others wrote is named by its commit; what is run is there."""
    group = typer.main.get_group(app)
    assert isinstance(group, LazyGroup)
    commands = {command.name for command in group.lazy_commands}
    for step in steps(workflow):
        assert set(step) <= STEP_KEYS
        assert ("uses" in step) is not ("run" in step)
        if "uses" in step:
            assert PINNED.fullmatch(step["uses"]), step
            continue
        match step["run"].split():
            case ["make", target, *_]:
                targets = [target] if "{{" not in step["run"] else ["test", "test-long"]
                makefile = (ROOT / "Makefile").read_text()
                assert all(re.search(rf"^{name}:", makefile, re.MULTILINE) for name in targets)
            case [".ci/install"]:
                assert (ROOT / ".ci" / "install").is_file()
            case ["python", "-m", "meijin", word, *_]:
                assert word in commands | {"--version", "--help"}
            case ["python", "-m", "pip", "install", *_]:
                pass
            case ["python", script, *_]:
                assert (ROOT / script).is_file()
            case words:
                pytest.fail(f"unknown command {words}")


def test_all_three_systems_are_there() -> None:
    """Bots and commands are run on each."""
    images = [image for path in WORKFLOWS for job in jobs(path).values() for image in runners(job)]
    assert {image.partition("-")[0] for image in images} == SYSTEMS


@pytest.mark.parametrize(("status", "words"), [(0, "installed: "), (100, "not installed: ")])
def test_missing_packages_are_installed_where_they_may_be(
    tmp_path: Path, status: int, words: str
) -> None:
    """A line tells of each, and a distribution that has none of them is no failure."""
    stubs = {"apt-get": status, "mkdir": 0, "tee": 0, "id": "echo 0"}
    for name, does in stubs.items():
        stub = tmp_path / name
        stub.write_text(f"#!/bin/bash\n{does if isinstance(does, str) else f'exit {does}'}\n")
        stub.chmod(0o755)
    for name in ("env", "timeout", "bash"):
        (tmp_path / name).symlink_to(shutil.which(name) or "")
    done = subprocess.run(
        [shutil.which("bash") or "bash", ROOT / ".ci" / "install"],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    first, *others = done.stdout.splitlines()
    assert first.startswith(f"{words}chromium")
    assert all(line.startswith(f"{words}postgresql") for line in others)
    assert done.stderr == ""
