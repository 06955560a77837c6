import json
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.bots.bridge.conftest import brain
from typer.testing import CliRunner, Result

from meijin.cli.errors import CommandError
from meijin.cli.game import replaying
from meijin.cli.main import app
from meijin.game import GOMOKU, Color, Ending, GameRecord, Outcome, Party, TimeControl
from meijin.game.records.json import to_json

BOT = """
import threading

from meijin.bots import RESIGN, Analysis, Bot, Choice, Position, SupplierError, Unchecked

class Sane(Bot):
    def choose(self, position):
        print("thinking")
        return Choice(position.legal_cells()[0], Analysis(score=3, depth=2, nodes=9, pv=[2, 3]))

class Player(Bot):
    def choose(self, position):
        return 2

class Quitter(Bot):
    def choose(self, position):
        return RESIGN

class Cheat(Bot):
    def choose(self, position):
        return Unchecked(0)

class Broken(Bot):
    def choose(self, position):
        return position.no_such_thing

class Poor(Bot):
    def choose(self, position):
        raise SupplierError("the host is away")

class Unready(Player):
    def prepare(self):
        raise OSError("no weights")

class Hanging(Bot):
    def choose(self, position):
        threading.Event().wait(60)
        return 2  # else it would be told of as a failure, in whichever test runs by then

class Blocking(Bot):
    async def choose(self, position):
        threading.Event().wait(2)
        return 2
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a game that white has crashed in at ply 3, and with bots."""
    monkeypatch.chdir(tmp_path)
    record = GameRecord(
        GOMOKU,
        "ada",
        "bob",
        (0, 1, 2),
        times=tuple(timedelta(seconds=each) for each in (1, 2, 3)),
        time_control=TimeControl.parse("60+0.5"),
        outcome=Outcome(Ending.CRASH, Color.BLACK, Party.WHITE, "IndexError: pop"),
        game_id="7",
    )
    Path("games.json").write_text(f"{to_json(record)}\n{to_json(record)}\n")
    Path("mine.py").write_text(BOT)
    return tmp_path


def run(*words: str) -> Result:
    return CliRunner().invoke(app, ["game", "replay", "games.json", *words])


def answer(*words: str) -> dict[str, Any]:
    (found,) = json.loads(run("--json", *words).stdout)["answers"]
    assert isinstance(found, dict)
    return found


def test_the_turn_and_the_answer_are_shown() -> None:
    done = run("mine.py:Sane")
    assert done.exit_code == 0
    first, ended, thinking, answer, analysis = done.stdout.splitlines()
    assert first == (
        "game 7, freestyle 15x15, 60+0.5, ply 3: bob is to move with white; clocks 58.500 s, "
        "and 57.000 s of ada"
    )
    assert ended.startswith("the game ended there: ")
    assert thinking == "thinking"
    assert answer.startswith("d15 after 0.")
    assert answer.endswith(" s of 58.500 s")
    assert analysis == "score 3, depth 2, 9 nodes, expects c15 d15"


def test_any_turn_is_asked_again_and_again() -> None:
    _, played, *found = run("--ply", "2", "--times", "3", "mine.py:Player").stdout.splitlines()
    assert played == "it played c15 there"
    assert len(found) == 3
    assert all(line.startswith("c15 after ") for line in found)
    assert all(line.endswith("the move played") for line in found)


def test_json_holds_nothing_that_a_bot_prints() -> None:
    done = run("--json", "mine.py:Sane")
    told = json.loads(done.stdout)
    assert "thinking" in done.stderr
    assert (told["ply"], told["player"], told["color"]) == (3, "bob", "white")
    assert (told["own_clock_ms"], told["opponent_clock_ms"]) == (58_500, 57_000)
    (answer,) = told["answers"]
    assert answer["analysis"] == {"score": 3, "depth": 2, "nodes": 9, "pv": ["c15", "d15"]}
    assert (answer["answer"], answer["legal"], answer["in_time"]) == ("d15", True, True)


def test_an_exception_is_shown_with_its_traceback() -> None:
    done = run("mine.py:Broken")
    assert done.exit_code == 1
    assert "Traceback" in done.stdout
    assert "return position.no_such_thing" in done.stdout
    assert "it failed after 0." in done.stdout
    broken = answer("mine.py:Broken")
    assert "AttributeError" in broken["answer"]
    assert (broken["cause"], "mine.py" in broken["traceback"]) == ("bot", True)
    assert answer("mine.py:Poor")["cause"] == "supplier"


def test_an_illegal_move_and_a_resignation_are_told() -> None:
    cheating, quitting = run("mine.py:Cheat"), run("mine.py:Quitter")
    assert (cheating.exit_code, quitting.exit_code) == (1, 0)
    assert cheating.stdout.rstrip().endswith("illegal")
    assert "resigns after" in quitting.stdout


def test_a_bot_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    done = run("--wait", "0.01", "--times", "5", "mine.py:Hanging")
    assert done.exit_code == 1
    assert done.stdout.count("no answer in 0.0") == 1
    monkeypatch.setattr(replaying, "BLOCKED", timedelta(seconds=0.5))
    done = run("--wait", "0.01", "mine.py:Blocking")
    assert isinstance(done.exception, CommandError)
    assert "blocks its event loop" in str(done.exception)
    for thread in threading.enumerate():
        if thread.name == "replay":
            thread.join(60)


def test_an_engine_is_asked_by_its_command() -> None:
    done = run("--ply", "2", "--", *brain())
    assert done.exit_code == 0, done.output
    assert " s of 59.500 s" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--ply 9 random", "nobody was asked at ply 9; the game has turns from ply 0 to 3"),
        ("random --game 3", "games.json has no game 3"),
        ("random 5", '"5" is one word too many'),
        ("-- ./nothing", "no program ./nothing"),
        ("mine.py:Nobody", "no bot Nobody"),
        ("mine.py:Unready", "the bot can't get ready: no weights"),
        ("mine.py:Unready", 'raise OSError("no weights")'),
    ],
)
def test_what_is_wrong_is_told(words: str, said: str) -> None:
    assert said in str(run(*words.split()).exception)
