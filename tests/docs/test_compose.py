"""The container files start what there is: no engine runs here, so they are read."""

import json
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml
from pydantic import ValidationError
from tests.docs.pages import ROOT
from typer.core import TyperGroup

from meijin.cli.lazy_group import LazyGroup
from meijin.cli.main import app
from meijin.server.settings import Settings

SERVICES: dict[str, dict[str, Any]] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())[
    "services"
]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}
"""The services that run our image."""

_VARIABLE = re.compile(r"\$\{(\w+):-([^}]*)\}")


def filled(text: str) -> str:
    """A value of the compose file where no variable is set."""
    return _VARIABLE.sub(lambda found: found[2], text)


def environment(service: Mapping[str, Any]) -> dict[str, str]:
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


@pytest.mark.parametrize("name", OURS)
def test_commands_are_ours(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command is one that `meijin` takes, with the options and variables it is given."""
    service = OURS[name]
    for variable, value in environment(service).items():
        monkeypatch.setenv(variable, value)
    arguments = service["command"]
    known = parse(arguments)
    if arguments[0] == "serve":
        word, program, *check = service["healthcheck"]["test"]
        assert (word, program) == ("CMD", "meijin")
        known |= {f"MEIJIN_{field.upper()}" for field in Settings.model_fields} | parse(check)
        settings = Settings()
        assert (settings.database_url is None) is (name != "server")
        if settings.database_url is None:
            assert settings.backup_every is not None
        drain = settings.drain.total_seconds()
        assert int(service["stop_grace_period"].rstrip("s")) > drain + 20
    assert set(environment(service)) <= known


def test_services_fit_together() -> None:
    """Each waits for healthy ones of its profile, and finds the database and the server there."""
    for service in SERVICES.values():
        for name, wanted in service.get("depends_on", {}).items():
            assert wanted == {"condition": "service_healthy"}
            assert SERVICES[name]["profiles"] == service["profiles"]
            assert SERVICES[name]["healthcheck"]["test"]
        if service.get("command", [""])[0] == "bot":
            where = environment(service)["MEIJIN_SERVER"]
            assert where.removesuffix(":7464") in service["depends_on"]
    server, worker = environment(OURS["server"]), environment(OURS["worker"])
    assert worker.items() <= server.items()
    given = environment(SERVICES["postgres"])
    url = "postgresql://{POSTGRES_USER}:{POSTGRES_PASSWORD}@postgres:5432/{POSTGRES_DB}"
    assert server["MEIJIN_DATABASE_URL"] == url.format(**given)


def test_nothing_is_left_open() -> None:
    """Ports are published on loopback but by TLS, nothing has a password, and images a version."""
    for name, service in SERVICES.items():
        given = environment(service)
        for port in service.get("ports", []):
            assert filled(port).startswith("127.0.0.1:") or "MEIJIN_CERTIFICATE" in given
        assert not any(value for variable, value in given.items() if "PASSWORD" in variable)
        assert name in OURS or re.fullmatch(r"[\w/]+:v?\d+(\.\d+)*(-\w+)?", service["image"])


def test_logs_are_bounded() -> None:
    assert all(int(each["logging"]["options"]["max-file"]) < 10 for each in SERVICES.values())


def test_the_server_for_others_lets_no_stranger_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """It serves by TLS, and its commands know it by the name of its certificate."""
    given = environment(OURS["tls-server"])
    for variable, value in given.items():
        monkeypatch.setenv(variable, value)
    settings = Settings()
    assert not settings.is_open
    assert not settings.plaintext
    assert settings.certificate is not None
    assert given["MEIJIN_SERVER"] == "grpcs://localhost:7464"
    assert "localhost" in map(filled, OURS["tls-server"]["networks"]["default"]["aliases"])


def test_metrics_are_scraped_where_servers_have_them() -> None:
    scraped = yaml.safe_load((ROOT / "deploy" / "prometheus.yml").read_text())
    ((target,),) = [each["targets"] for each in scraped["scrape_configs"][0]["static_configs"]]
    host, port = target.split(":")
    for service in OURS.values():
        if service["command"] == ["serve"]:
            assert host in service["networks"]["default"]["aliases"]
            assert environment(service)["MEIJIN_METRICS"] == f"0.0.0.0:{port}"
    mounted = [each.split(":")[:2] for each in SERVICES["prometheus"]["volumes"][:2]]
    assert all((ROOT / own).is_file() for own, _ in mounted)
    assert scraped["rule_files"] == [mounted[1][1]]


# the image

_LINES = (ROOT / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
INSTRUCTIONS = [line.partition(" ")[::2] for line in _LINES if line and not line.startswith("#")]
"""The Dockerfile's, continued lines joined: the word and the rest."""


def arguments_of(word: str) -> list[str]:
    return [rest.strip() for found, rest in INSTRUCTIONS if found == word]


def test_image_runs_meijin(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it does by default is to serve, with a word on TLS, on the ports that it exposes."""
    assert json.loads(arguments_of("ENTRYPOINT")[-1]) == ["meijin"]
    parse(json.loads(arguments_of("CMD")[-1]))
    pairs = [pair for rest in arguments_of("ENV") for pair in shlex.split(rest)]
    for variable, value in (pair.split("=", 1) for pair in pairs):
        if variable.startswith("MEIJIN_"):
            assert variable.removeprefix("MEIJIN_").lower() in Settings.model_fields
            monkeypatch.setenv(variable, value)
    with pytest.raises(ValidationError, match="without TLS"):
        Settings()
    monkeypatch.setenv("MEIJIN_PLAINTEXT", "true")
    settings, (ports,) = Settings(), arguments_of("EXPOSE")
    assert [settings.listen, settings.web] == [f"0.0.0.0:{port}" for port in ports.split()]
    assert any(f":{settings.data}" in mount for mount in OURS["server"]["volumes"])


def test_image_is_built_from_pinned_parts_without_privileges() -> None:
    """The base has a version, requirements come with hashes, and it runs as a user of its own."""
    bases = [rest.split()[0] for rest in arguments_of("FROM")]
    assert all(re.fullmatch(r"python:3\.\d+-slim", base) for base in bases)
    requirements, project = (run for run in arguments_of("RUN") if "pip install" in run)
    assert "--require-hashes -r requirements.lock" in requirements
    assert "--no-deps" in project
    assert arguments_of("USER")[-1] != "root"


def test_image_gets_all_the_code() -> None:
    """What is kept from the build is not what the build needs."""
    lines = (ROOT / ".dockerignore").read_text().split()
    kept = {line.removeprefix("!") for line in lines if line.startswith("!")}
    packages = re.findall(r'"(\w+/meijin)"', (ROOT / "pyproject.toml").read_text())
    assert lines[0] == "*"
    assert {*packages, "pyproject.toml", "requirements.lock", "README.md", "LICENSE"} <= kept
    assert all((ROOT / path).exists() for path in kept)
