"""The container files start what there is: no engine runs here, so they are read."""

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer
import yaml
from pydantic import ValidationError
from typer.core import TyperGroup

from meijin.cli.lazy_group import LazyGroup
from meijin.cli.main import app
from meijin.server.settings import Settings

if TYPE_CHECKING:
    from tests.docs.conftest import Page, Terminal

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}
"""The services that run our image."""
BOTS = {"random", "alphabeta", "mcts"}

_VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")


def filled(text: str) -> str:
    """A value of the compose file where no variable is set."""
    return _VARIABLE.sub(lambda found: found[2], text)


def environment(service: Mapping[str, Any]) -> dict[str, str]:
    """What a service's container is started with."""
    given = service.get("environment", {})
    assert all(isinstance(value, str) for value in given.values()), "YAML made one a number"
    return {name: filled(value) for name, value in given.items()}


def parse(arguments: list[str]) -> set[str]:
    """Parse the arguments of `meijin` without running anything; return the variables it knows.

    Raises:
        KeyError: there is no such command.
    """
    group = typer.main.get_command(app)
    assert isinstance(group, LazyGroup)
    name, *words = arguments
    command: Any = group.load(name)
    while isinstance(command, TyperGroup):
        command = command.commands[words.pop(0)]
    command.make_context("meijin", words)
    return {str(found.envvar) for found in command.params if found.envvar}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at settings in a folder without a file of them, and with none in the environment."""
    monkeypatch.chdir(tmp_path)
    for variable in [key for key in os.environ if key.startswith("MEIJIN_")]:
        monkeypatch.delenv(variable)


# the compose file


@pytest.mark.parametrize("name", OURS)
def test_commands_are_ours(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command is one that `meijin` takes, with the options and variables it is given."""
    service = OURS[name]
    for variable, value in environment(service).items():
        monkeypatch.setenv(variable, value)
    arguments = service["command"]
    assert "entrypoint" not in service
    known = parse(arguments)
    if arguments[0] == "serve":
        known |= {f"MEIJIN_{field.upper()}" for field in Settings.model_fields}
        Settings()
    assert set(environment(service)) <= known


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        (["serve", "--opne"], r"No such option"),
        (["bot", "walk", "random"], r"walk"),
        (["bot", "run"], r"(?i)missing"),
        (["worker"], r"(?i)missing"),
    ],
)
def test_a_command_that_is_none_is_found(wrong: list[str], error: str) -> None:
    """The parser that these tests lean on refuses what `meijin` refuses."""
    with pytest.raises(Exception, match=error):
        parse(wrong)


def test_profiles() -> None:
    """`full` has everything, `sqlite` a server and the bots alone, and no service is in both."""
    members: dict[str, set[str]] = {"full": set(), "sqlite": set()}
    for name, service in SERVICES.items():
        (profile,) = service["profiles"]
        members[profile].add(name)
    assert members["full"] == {"redis", "postgres", "server", "worker", *BOTS}
    assert members["sqlite"] == {"sqlite-server", *(f"sqlite-{bot}" for bot in BOTS)}


def test_full_uses_redis_and_postgresql() -> None:
    """Server and worker share the database and the queue, at the services' names."""
    server, worker = environment(OURS["server"]), environment(OURS["worker"])
    assert worker.items() <= server.items()
    assert re.fullmatch(r"postgresql://\w+:\w+@postgres:5432/\w+", server["MEIJIN_DATABASE_URL"])
    assert server["MEIJIN_REDIS_URL"] == "redis://redis:6379/0"
    given = environment(SERVICES["postgres"])
    url = "postgresql://{POSTGRES_USER}:{POSTGRES_PASSWORD}@postgres:5432/{POSTGRES_DB}"
    assert server["MEIJIN_DATABASE_URL"] == url.format(**given)


def test_sqlite_is_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its server has neither a database nor a queue to connect to."""
    for variable, value in environment(OURS["sqlite-server"]).items():
        monkeypatch.setenv(variable, value)
    settings = Settings()
    assert settings.database_url is None
    assert settings.redis_url is None
    assert "depends_on" not in OURS["sqlite-server"]


def test_redis_keeps_what_it_is_given() -> None:
    """It writes an append-only file, and evicts nothing."""
    words = SERVICES["redis"]["command"]
    options = dict(zip(words[1::2], words[2::2], strict=True))
    assert options == {"--appendonly": "yes", "--maxmemory-policy": "noeviction"}


def test_bots_are_at_their_profile_s_server() -> None:
    """Each bot waits for the server of its own profile, and connects to it."""
    for bot in BOTS:
        for name, server in ((bot, "server"), (f"sqlite-{bot}", "sqlite-server")):
            service = OURS[name]
            assert service["command"] == ["bot", "run", bot]
            assert environment(service) == {"MEIJIN_SERVER": f"{server}:7464"}
            assert list(service["depends_on"]) == [server]


def test_dependencies_exist() -> None:
    """What a service waits for is a service of the same profile that has a health check."""
    for service in SERVICES.values():
        for name, wanted in service.get("depends_on", {}).items():
            assert wanted == {"condition": "service_healthy"}
            assert SERVICES[name]["profiles"] == service["profiles"]
            assert SERVICES[name]["healthcheck"]["test"]


def test_images_are_pinned() -> None:
    """Every image has a version, but for ours, which is built from this checkout."""
    for name, service in SERVICES.items():
        if name in OURS:
            assert (service["image"], service["build"]) == ("meijin", ".")
        else:
            assert re.fullmatch(r"[\w/]+:\d+(\.\d+)*(-\w+)?", service["image"])


def test_ports_are_on_loopback() -> None:
    """Nothing is published but a server's two ports, and these on 127.0.0.1."""
    published = ["127.0.0.1:7464:7464", "127.0.0.1:7465:7465"]
    for name, service in SERVICES.items():
        ports = [filled(port) for port in service.get("ports", [])]
        assert ports == (published if name in {"server", "sqlite-server"} else [])


def test_everything_restarts_and_stops_in_time() -> None:
    """Every service comes back, and has a time in which to stop that the server keeps to."""
    for service in SERVICES.values():
        assert service["restart"] == "unless-stopped"
        assert re.fullmatch(r"\d+s", service["stop_grace_period"])
    drain = Settings().drain.total_seconds()
    assert int(OURS["server"]["stop_grace_period"].rstrip("s")) > drain + 20


def test_data_is_in_named_volumes() -> None:
    """What is to outlive a container lies in a volume that the file names."""
    mounts = [mount for service in SERVICES.values() for mount in service.get("volumes", [])]
    assert {mount.partition(":")[0] for mount in mounts} == set(COMPOSE["volumes"])
    for name in ("server", "sqlite-server"):
        (mount,) = OURS[name]["volumes"]
        assert mount.partition(":")[2] == image_environment()["MEIJIN_DATA"]


def test_no_secret_is_in_the_file() -> None:
    """A password has a default for the inside of the network, and is taken from outside."""
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if "PASSWORD" in name:
                assert _VARIABLE.fullmatch(value)


def test_health_check_tells_whether_a_server_serves(
    terminal: "Terminal", pages: "Callable[[str], Page]"
) -> None:
    """The server's health check succeeds with a server there, and fails with none."""
    word, *command = OURS["server"]["healthcheck"]["test"]
    assert word == "CMD"
    assert command[0] == "python"
    serve = next(found for found in pages("README.md").commands if found.text == "meijin serve")
    terminal.type(serve)
    address = terminal.environment()["MEIJIN_SERVER"]
    here = [argument.replace("127.0.0.1:7464", address) for argument in command[1:]]
    assert here != command[1:]
    assert subprocess.run([sys.executable, *here], check=False).returncode == 0
    terminal.close()
    away = subprocess.run([sys.executable, *here], check=False, stderr=subprocess.DEVNULL)
    assert away.returncode != 0


# the image


def instructions() -> Iterator[tuple[str, str]]:
    """The Dockerfile's instructions, continued lines joined."""
    text = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            word, _, rest = line.partition(" ")
            yield word, rest.strip()


def last(word: str) -> str:
    """The argument of the last instruction of its kind."""
    return [rest for found, rest in instructions() if found == word][-1]


def image_environment() -> dict[str, str]:
    """The variables that the image sets."""
    pairs = [pair for word, rest in instructions() if word == "ENV" for pair in shlex.split(rest)]
    return dict(pair.split("=", 1) for pair in pairs)


def test_image_runs_meijin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its entry point is the command, and what it does by default is to serve, with a word on TLS."""
    assert json.loads(last("ENTRYPOINT")) == ["meijin"]
    assert json.loads(last("CMD")) == ["serve"]
    parse(ast.literal_eval(last("CMD")))
    for variable, value in image_environment().items():
        if variable.startswith("MEIJIN_"):
            assert variable.removeprefix("MEIJIN_").lower() in Settings.model_fields
            monkeypatch.setenv(variable, value)
    with pytest.raises(ValidationError, match="without TLS"):
        Settings()
    monkeypatch.setenv("MEIJIN_PLAINTEXT", "true")
    assert [Settings().listen, Settings().web] == [
        f"0.0.0.0:{port}" for port in last("EXPOSE").split()
    ]


def test_image_is_built_from_pinned_parts() -> None:
    """The base has a version, requirements come with hashes, and the project brings no others."""
    bases = [rest.split()[0] for word, rest in instructions() if word == "FROM"]
    assert all(re.fullmatch(r"python:3\.\d+-slim", base) for base in bases)
    installs = [rest for word, rest in instructions() if word == "RUN" and "pip install" in rest]
    assert "--require-hashes -r requirements.lock" in installs[0]
    assert "--no-deps" in installs[1]
    assert (ROOT / "requirements.lock").exists()


def test_image_has_no_privileges() -> None:
    """It runs as a user of its own, to whom the data folder belongs."""
    user = last("USER")
    assert user != "root"
    made = next(rest for word, rest in instructions() if word == "RUN" and "useradd" in rest)
    assert f"--owner={user} --group={user}" in made
    assert image_environment()["MEIJIN_DATA"] in made


def test_image_gets_all_the_code() -> None:
    """What is kept from the build is not what the build needs."""
    lines = (ROOT / ".dockerignore").read_text().split()
    kept = {line.removeprefix("!") for line in lines if line.startswith("!")}
    project = (ROOT / "pyproject.toml").read_text()
    packages = re.findall(r'"(\w+/meijin)"', project)
    assert lines[0] == "*"
    assert {*packages, "pyproject.toml", "requirements.lock", "README.md", "LICENSE"} <= kept
    assert all((ROOT / path).exists() for path in kept)
