"""Every command and every program of the pages is run, in the order of the page."""

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator

import pytest
import yaml
from tests.docs.pages import GUIDES, ROOT, Command, Page, page
from tests.docs.terminal import Terminal

from meijin.server.process.valkey import EmbeddedValkey
from meijin.v1 import bot_service_pb2, game_service_pb2, play_service_pb2
from meijin.web.api.methods import PREFIX
from meijin.wire.contract import DEFAULT_WEB

GOOD_ENDINGS = {"five", "draw", "resign"}


def check_make(words: list[str]) -> None:
    assert re.search(rf"^{words[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def check_pip(words: list[str]) -> None:
    form = re.fullmatch(r"pip install '?\.(?:\[(\w+)\])?'?", " ".join(words))
    assert form is not None
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert form[1] is None or form[1] in project["optional-dependencies"]


def check_docker(words: list[str]) -> None:
    compose = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    profiles = {name for service in compose["services"].values() for name in service["profiles"]}
    assert words[:3] == ["docker", "compose", "--profile"]
    assert words[3] in profiles


def check_grpcurl(words: list[str]) -> None:
    """The service and its method, if it names one, are in the contract."""
    modules = (bot_service_pb2, game_service_pb2, play_service_pb2)
    services = {
        service.full_name: {method.name for method in service.methods}
        for module in modules
        for service in module.DESCRIPTOR.services_by_name.values()
    } | {"grpc.health.v1.Health": {"Check"}}
    service, _, method = words[-1].partition("/")
    assert service == "list" or service in services
    assert not method or method in services[service]


def check_createdb(words: list[str]) -> None:
    """It makes the database that the pages' URLs name."""
    assert words == ["createdb", "meijin"]


def check_unit(words: list[str]) -> None:
    (name,) = {word for word in words if (ROOT / "deploy" / f"{word}.service").exists()}
    assert name == "meijin"


def check_curl(words: list[str]) -> None:
    """It asks for the metrics, where the unit has them served, or the API."""
    if words[-1].strip("'").startswith(f"http://{DEFAULT_WEB}{PREFIX}/"):
        return  # tests/docs/test_api.py sends these
    unit = (ROOT / "deploy" / "meijin.service").read_text()
    (address,) = re.findall(r"^Environment=MEIJIN_METRICS=(\S+)$", unit, re.MULTILINE)
    assert words[-1] == f"http://{address}/metrics"


NOT_RUN: dict[str, tuple[str, Callable[[list[str]], None]]] = {
    "make": ("they install everything anew, and one of them runs these tests", check_make),
    "pip": ("it would install into the environment that runs these tests", check_pip),
    "docker": ("it needs a container engine", check_docker),
    "grpcurl": ("it is a program of its own, and none of our requirements", check_grpcurl),
    "systemctl": ("no systemd runs the tests", check_unit),
    "journalctl": ("no systemd runs the tests", check_unit),
    "curl": ("it is a program of its own, and none of our requirements", check_curl),
    "createdb": ("the tests' PostgreSQL makes its own databases", check_createdb),
}
"""Commands that are looked at and not run: why, and what is looked at."""

DATABASE = "postgresql://meijin@db.example.org/meijin"
QUEUE = "redis://queue.example.org:6379/0"
"""What the pages call a database and a queue of one's own."""


@pytest.fixture
def queue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with EmbeddedValkey(tmp_path_factory.mktemp("valkey")) as valkey:
        yield valkey.url


@pytest.mark.parametrize("name", GUIDES)
def test_commands_do_what_the_page_says(
    name: str, terminal: Terminal, request: pytest.FixtureRequest
) -> None:
    """Every command succeeds, and every game that is played ends without a fault."""
    (terminal.folder / "examples").symlink_to(ROOT / "examples")
    for program in page(name).programs:
        (terminal.folder / program.title).write_text(program.text)
    for command in _prepared(page(name), terminal, request):
        words = command.text.split()
        if words[0] in NOT_RUN:
            NOT_RUN[words[0]][1](words)
        else:
            terminal.type(command)
    terminal.wait_until_ready()
    assert set(re.findall(r"faults (\d+ and \d+)", terminal.printed)) <= {"0 and 0"}
    if "MEIJIN_SERVER" in terminal.environment():
        _assert_no_faults(terminal)
    terminal.close()


def test_data_folder_holds_what_the_page_says(terminal: Terminal) -> None:
    """A running server has all that the table lists in its folder, and nothing else."""
    operating = page("docs/operating.md")
    terminal.type(operating.command("meijin serve"))
    there = {path.name for path in (terminal.folder / "meijin-data").iterdir()}
    told: list[str] = []
    for cell, *_ in operating.table("## The data folder"):
        first, *others = re.findall(r"`([^`/]+)/?`", cell)
        told += [first, *(f"{first}{name}" if name[0] == "-" else name for name in others)]
    assert there == set(told)


def _prepared(page: Page, terminal: Terminal, request: pytest.FixtureRequest) -> list[Command]:
    """The commands to type, with a database and a queue behind the names in the page.

    Those that need PostgreSQL are left out where there is none to start.
    """
    commands = list(page.commands())
    text = " ".join(command.text for command in commands)
    if QUEUE in text:
        terminal.substitutes[QUEUE] = request.getfixturevalue("queue")
    if DATABASE in text:
        if shutil.which("initdb") is None or shutil.which("pg_dump") is None:
            return [command for command in commands if DATABASE not in command.text]
        url: str = request.getfixturevalue("postgresql").new_database()
        terminal.substitutes[DATABASE] = url.replace("+psycopg", "")
    return commands


def _assert_no_faults(terminal: Terminal) -> None:
    listed = subprocess.check_output(
        ["bash", "-c", "meijin game list --json --limit 1000"], env=terminal.environment()
    )
    for game in json.loads(listed)["games"]:
        outcome = game["outcome"]
        is_stopped = outcome["ending"] == "void" and outcome["at_fault"] is None
        assert outcome["ending"] in GOOD_ENDINGS or is_stopped, game


@pytest.mark.parametrize("name", GUIDES)
def test_programs_are_used(name: str) -> None:
    """Every program with a file's name is run by a command of its page; other Python runs as it is."""
    typed = " ".join(command.text for command in page(name).commands())
    assert [each.place for each in page(name).programs if each.title not in typed] == []
    for fence in page(name).fences:
        if fence.language == "python" and not fence.title:
            done = subprocess.run(
                [sys.executable, "-c", fence.text], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{fence.place}: {done.stderr}"


def test_every_exception_is_needed() -> None:
    """No command is excepted from being run without some page using it."""
    programs = {command.text.split()[0] for name in GUIDES for command in page(name).commands()}
    assert set(NOT_RUN) <= programs
