"""The files for operators name what there is: the unit, the alarms and their runbooks."""

import re
from collections.abc import Callable
from configparser import ConfigParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from tests.docs.test_compose import parse

from meijin.server.settings import Settings

if TYPE_CHECKING:
    from tests.docs.conftest import Page

ROOT = Path(__file__).resolve().parents[2]
UNIT = (ROOT / "deploy" / "meijin.service").read_text()
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((ROOT / "deploy" / "meijin.rules.yml").read_text())["groups"]
    for rule in group["rules"]
]
NAMES = [rule["alert"] for rule in RULES]
OF_ANY_PROCESS = {"process_open_fds", "process_max_fds"}


@pytest.fixture(scope="module")
def unit() -> ConfigParser:
    """The unit; of a key that is given several times the last one counts here."""
    parser = ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment]  # keys keep their case
    parser.read_string(UNIT)
    return parser


def environment() -> dict[str, str]:
    """What the unit's process is started with."""
    return dict(re.findall(r"^Environment=(\w+)=(\S+)$", UNIT, re.MULTILINE))


def test_the_unit_starts_a_server(
    unit: ConfigParser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its command parses, and the environment holds settings that can be what they are."""
    program, *arguments = unit["Service"]["ExecStart"].split()
    assert program.endswith("/bin/meijin")
    parse(arguments)
    monkeypatch.chdir(tmp_path)
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert settings.data == Path(unit["Service"]["WorkingDirectory"])
    for name in environment():
        assert name.removeprefix("MEIJIN_").lower() in Settings.model_fields
        assert getattr(settings, name.removeprefix("MEIJIN_").lower()) is not None


def test_the_data_folder_is_the_state_directory(unit: ConfigParser) -> None:
    """It is the one place that the server may write to, and nobody else reads it."""
    service = unit["Service"]
    assert service["WorkingDirectory"] == f"/var/lib/{service['StateDirectory']}"
    assert (service["ProtectSystem"], service["StateDirectoryMode"]) == ("strict", "0700")
    assert service["NoNewPrivileges"] == "yes"
    assert service["User"] not in {"", "root"}


def test_the_unit_restarts_what_a_restart_mends(unit: ConfigParser) -> None:
    """A wrong command line ends it; a database that is away is waited for."""
    service = unit["Service"]
    assert service["Restart"] == "on-failure"
    assert service["RestartPreventExitStatus"] == "2"
    assert unit["Unit"]["StartLimitIntervalSec"] == "0"


def test_a_stop_has_the_time_that_it_takes(unit: ConfigParser) -> None:
    """The drain and some 20 s; the server stops its children itself."""
    drain = Settings.model_construct().drain.total_seconds()
    assert float(unit["Service"]["TimeoutStopSec"]) >= drain + 20
    assert unit["Service"]["KillMode"] == "mixed"


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_alarms_look_at_metrics_that_exist(
    rule: dict[str, Any], pages: "Callable[[str], Page]"
) -> None:
    """Those in the table of metrics, and a process's own."""
    known = set(OF_ANY_PROCESS)
    for name, kind, _ in pages("docs/operating.md").table("## Metrics"):
        metric = name.strip("`")
        known |= {f"{metric}_bucket"} if kind == "histogram" else {metric}
    used = set(re.findall(r"\b(?:meijin|process)_\w+", rule["expr"]))
    assert used <= known
    assert used or rule["expr"].startswith("up{")


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_alarms_name_labels_that_exist(rule: dict[str, Any]) -> None:
    """A label that a metric doesn't have would never match."""
    known = {"job", "ending", "party", "code", "reason", "verdict"}
    assert set(re.findall(r"(\w+)=~?\"", rule["expr"])) <= known
    assert rule["labels"]["severity"] in {"page", "warning"}
    assert rule["annotations"]["summary"]


def test_every_alarm_has_its_runbook(pages: "Callable[[str], Page]") -> None:
    """In their order; each says what it means, what to look at and what to do."""
    _, *sections = pages("docs/runbooks.md").text.split("\n## ")
    assert [section.partition("\n")[0] for section in sections] == NAMES
    for section in sections:
        places = [section.index(f"**{word}.**") for word in ("Means", "Look", "Do")]
        assert places == sorted(places), section


def test_runbooks_quote_lines_that_are_logged(pages: "Callable[[str], Page]") -> None:
    """Every event that they send an operator to look for."""
    source = "".join(
        path.read_text()
        for folder in ("server/meijin/server", "ladder/meijin/ladder")
        for path in (ROOT / folder).rglob("*.py")
    )
    text = re.sub(r"\s+", " ", pages("docs/runbooks.md").text)
    quoted = re.findall(r"log lines? `([^`]+)`", text)
    assert len(quoted) >= 6
    for event in quoted:
        assert f'"{event}"' in source, event
