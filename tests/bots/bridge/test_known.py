"""What is known of engines by their names, and what is read of what they write."""

import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.bots.bridge.conftest import brain, wrapped

from meijin.bots.bridge.answers import USUAL_MESSAGES, read_analysis
from meijin.bots.bridge.dialogue import EngineStartError
from meijin.bots.bridge.gomocup import parse_points, parse_reply
from meijin.bots.bridge.known import known_engine
from meijin.game import Analysis, Variant

SAID = tomllib.loads(Path(__file__).with_name("messages.toml").read_text())["said"]


def cells(text: str) -> tuple[int, ...]:
    return tuple(y * 15 + x for x, y in parse_points(text))


@pytest.mark.parametrize("said", SAID, ids=[said["engine"] for said in SAID])
def test_what_engines_write(said: dict[str, Any]) -> None:
    """Depth, nodes, score and line are read as the engine means them; what it doesn't say is unknown."""
    known = known_engine(said["engine"])
    patterns = known.messages if known is not None else USUAL_MESSAGES
    messages = [parse_reply(line).text for line in said["lines"]]
    (move,) = cells(said["move"])
    found = read_analysis(messages, Variant(), move, patterns)
    assert found is not None
    line = cells(said.get("line", ""))
    expected = Analysis(said.get("score"), said.get("depth"), said.get("nodes"), line)
    assert Analysis(found.score, found.depth, found.nodes, tuple(found.pv)) == expected


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own table, which isn't there yet."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "meijin").mkdir()
    return tmp_path / "meijin" / "engines.toml"


@pytest.mark.usefixtures("table")
def test_names() -> None:
    """The first word counts, of the first name that is known."""
    for names in (("Rapfi 0.43", "x"), ("", "rapfi-avx2"), ("Brain", "pela"), ("WINE",)):
        found = known_engine(*names)
        assert found is not None
    assert known_engine("", "brains") is None


def test_users_table(table: Path) -> None:
    """It adds engines, and goes before what is known otherwise, key by key."""
    table.write_text('[Mine]\ndepth = "D([0-9]+)"\nmax_memory = false\n[rapfi]\npause_ms = 5\n')
    mine, rapfi = known_engine("mine 2"), known_engine("Rapfi")
    assert mine is not None
    assert rapfi is not None
    assert (mine.hears_memory, mine.pause) == (False, None)
    assert read_analysis(["D7"], Variant(), 0, mine.messages) == Analysis(depth=7)
    assert (rapfi.pause, rapfi.numbers_openings) == (timedelta(milliseconds=5), True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[mine", "Expected"),
        ("mine = 1", r"\[mine\] must be a table"),
        ("[mine]\ncolour = 1", 'has no "colour"; there are pause_ms'),
        ("[mine]\npause_ms = true", "pause_ms must be of int, not True"),
        ('[mine]\nline = "("', "unterminated"),
        ('[mine]\nline = "pv"', "line must have one group"),
        ('[mine]\nrows = "left"', "'left' is not a valid Rows"),
        ('[mine]\nswap2 = "yes"', 'swap2 can only be "three numbers"'),
    ],
)
def test_table_that_cannot_be_read(table: Path, text: str, words: str) -> None:
    """The complaint names the file and what is amiss."""
    table.write_text(text)
    with pytest.raises(EngineStartError, match=f"engines.toml: .*{words}"):
        known_engine("mine")


@pytest.mark.usefixtures("family")
def test_known_engine_is_told_at_the_start(table: Path, caplog: pytest.LogCaptureFixture) -> None:
    """In one line; what is known is not found out."""
    table.write_text("[plain]\npause_ms = 20\nrestart = false\n")
    caplog.set_level("INFO")
    bot = wrapped(brain(), pause=None)
    bot.prepare()
    bot.close()
    assert "brains 1.5: known, speaks gomocup" in caplog.text
    assert "waiting 20 ms" in caplog.text
    assert (bot.starter.pause, bot.starter.traits.restarts) == (timedelta(milliseconds=20), False)
