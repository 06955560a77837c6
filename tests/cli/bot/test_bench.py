import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from meijin.bots.sdk.hardware import found_hardware, read_speed
from meijin.cli.ladder.commands import app as ladder
from meijin.cli.main import app

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "settings"
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    return folder


def bench(*words: str) -> Result:
    return CliRunner().invoke(app, ["bot", "bench", *words])


def test_what_is_measured_is_printed_and_kept() -> None:
    run = bench("--seconds", "0.001", "--json")
    found = json.loads(run.stdout)
    assert found["hardware"] == found_hardware()
    assert found["nodes_per_second"] == read_speed() > 0
    assert (found["rounds"], found["nodes_per_round"] > 10_000) == (1, True)
    assert "forgotten" in bench("--forget").stdout
    assert read_speed() == 0
    assert json.loads(bench("--forget", "--json").stdout) == {"forgotten": False}


def test_a_folder_that_can_not_be_written_is_named(settings: Path) -> None:
    settings.write_text("no folder")
    run = bench("--seconds", "0.001")
    assert run.exit_code != 0
    assert "can't change" in str(run.exception or run.output)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("show --matrix --hardware x", "leave them out with --matrix"),
        ("show --min-nodes-per-second 2 --max-nodes-per-second 1", "is below"),
    ],
)
def test_lines_are_chosen_for_the_standings(words: str, said: str) -> None:
    """And by limits that some line can keep; the message says so before anybody is asked."""
    run = CliRunner().invoke(ladder, words.split())
    assert said in str(run.exception)
