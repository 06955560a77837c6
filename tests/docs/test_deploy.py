"""The files for operators name what there is: the unit, the alarms and their runbooks."""

import re
from configparser import ConfigParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.docs.pages import ROOT, page
from tests.docs.test_compose import parse

from meijin.server.settings import Settings
from meijin.wire.contract import SERVER_VARIABLE

UNIT = (ROOT / "deploy" / "meijin.service").read_text()
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((ROOT / "deploy" / "meijin.rules.yml").read_text())["groups"]
    for rule in group["rules"]
]
NAMES = [rule["alert"] for rule in RULES]
OF_ANY_PROCESS = {"process_open_fds", "process_max_fds"}


def test_the_unit_starts_a_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its command parses, its environment holds settings, and its folder is the one it may write."""
    parser = ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment]  # keys keep their case
    parser.read_string(UNIT)
    service = parser["Service"]
    program, *arguments = service["ExecStart"].split()
    assert program.endswith("/bin/meijin")
    parse(arguments)
    monkeypatch.chdir(tmp_path)
    variables = dict(re.findall(r"^Environment=(\w+)=(\S+)$", UNIT, re.MULTILINE))
    assert {name.removeprefix("MEIJIN_").lower() for name in variables} <= set(
        Settings.model_fields
    )
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    settings = Settings()
    assert settings.data == Path(service["WorkingDirectory"])
    assert service["WorkingDirectory"] == f"/var/lib/{service['StateDirectory']}"
    assert (service["ProtectSystem"], service["StateDirectoryMode"]) == ("strict", "0700")
    assert service["NoNewPrivileges"] == "yes"
    assert service["User"] not in {"", "root"}
    # the drain and some 20 s; the server stops its children itself
    assert float(service["TimeoutStopSec"]) >= settings.drain.total_seconds() + 20
    assert service["KillMode"] == "mixed"


def test_the_unit_of_a_host_may_make_cgroups() -> None:
    """Its command parses, knows the variables that the unit tells of, and keeps its folder there."""
    text = (ROOT / "deploy" / "meijin-host.service").read_text()
    parser = ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment]  # keys keep their case
    parser.read_string(text)
    service = parser["Service"]
    assert (service["Delegate"], service["ProtectSystem"]) == ("yes", "strict")
    program, *arguments = service["ExecStart"].split()
    assert program.endswith("/bin/meijin")
    folder = f"/var/lib/{service['StateDirectory']}"
    assert arguments[-2:] == ["--folder", folder]
    known = parse([*arguments, "--token=secret"]) | {SERVER_VARIABLE}
    assert set(re.findall(r"\bMEIJIN_[A-Z_]+", text)) <= known


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_alarms_look_at_metrics_and_labels_that_exist(rule: dict[str, Any]) -> None:
    """Those in the table of metrics, and a process's own; another label would never match."""
    known = set(OF_ANY_PROCESS)
    for name, kind, _ in page("docs/monitoring.md").table("## Metrics"):
        metric = name.strip("`")
        known |= {f"{metric}_bucket"} if kind == "histogram" else {metric}
    used = set(re.findall(r"\b(?:meijin|process)_\w+", rule["expr"]))
    assert used <= known
    assert used or rule["expr"].startswith("up{")
    labels = {"job", "ending", "party", "code", "reason", "verdict"}
    assert set(re.findall(r"(\w+)=~?\"", rule["expr"])) <= labels
    assert rule["labels"]["severity"] in {"page", "warning"}
    assert rule["annotations"]["summary"]


def test_every_alarm_has_its_runbook() -> None:
    """In their order; each says what it means, what to look at and what to do."""
    _, *sections = page("docs/runbooks.md").text.split("\n## ")
    assert [section.partition("\n")[0] for section in sections] == NAMES
    for section in sections:
        places = [section.index(f"**{word}.**") for word in ("Means", "Look", "Do")]
        assert places == sorted(places), section
