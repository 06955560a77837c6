"""An engine is asked by the commands of its protocol, each by itself."""

from collections.abc import Mapping
from datetime import timedelta

import pytest
from tests.bots.bridge.conftest import brain

from meijin.cli.bot.doctor.wrapped import wrapped_engine
from meijin.game import FREESTYLE, RULES, Board, Variant
from meijin.local.doctor import engine
from meijin.local.doctor.check import Check, CheckFailedError, Status
from meijin.local.doctor.engine import RULE_POSITIONS, EngineExamination

FAIL, WARN, SKIP = Status.FAIL, Status.WARN, Status.SKIP


def asked(mode: str, *options: str) -> Mapping[str, Check]:
    """All checks of one of the tests' brains."""
    settings = wrapped_engine(["meijin", "bot", "wrap", *options, "--", *brain(mode)])
    assert settings is not None
    examination = EngineExamination(settings)
    found = {}
    try:
        for name, make in examination.checks():
            try:
                found[name] = make()
            except CheckFailedError as error:
                found[name] = error.check
    finally:
        examination.close()
    return found


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines that don't answer are not waited for long."""
    monkeypatch.setattr(engine, "PATIENCE", timedelta(seconds=0.5))
    monkeypatch.setattr(engine, "TIME", engine.TIME._replace(turn_ms=200))
    monkeypatch.setattr("meijin.bots.bridge.gomocup.RESTART_PATIENCE", timedelta(seconds=0.5))


GOOD = {"SUGGEST": SKIP, "SWAP2BOARD 0": SKIP, "SWAP2BOARD 3": SKIP, "SWAP2BOARD 5": SKIP}


@pytest.mark.parametrize(
    ("mode", "amiss"),
    [
        ("Brain", {}),
        ("NoRestart", {"RESTART": (WARN, "doesn't know it", "START comes again")}),
        ("SilentRestart", {"RESTART": (WARN, "doesn't know it")}),
        ("PicksOnInfo", {"INFO": (WARN, "complains", "< UNKNOWN command")}),
        ("Suggests", {"SUGGEST": (WARN, "doesn't know PLAY", "answer PLAY")}),
        (
            "Garbage",
            dict.fromkeys(
                ("BEGIN", "TURN", "BOARD", "INFO", "RESTART", "knows freestyle"),
                (FAIL, "doesn't answer", "< banana split"),
            )
            | {"END": (SKIP,)},
        ),
        (
            "Swap2First",
            {"SWAP2BOARD 3": (SKIP, "SWAP2BOARD with ERROR: swap2 is not claimed", "> 8,7")},
        ),
        ("Stubborn", {"END": (WARN, "runs on")}),
    ],
)
def test_commands(mode: str, amiss: dict[str, tuple[object, ...]]) -> None:
    """What is amiss is found where it is, with the dialogue; nothing else is skipped for it."""
    found = asked(mode)
    for name, check in found.items():
        status, *words = amiss.get(name, (GOOD.get(name, Status.PASS),))
        if name == "SWAP2BOARD 0" and mode == "Swap2First":
            status = Status.PASS
        assert check.status is status, (name, check)
        text = "\n".join((check.reason, check.fix, *check.evidence))
        assert all(str(word) in text for word in words), text


def test_engine_off_the_board() -> None:
    """The point is told as the engine has named it."""
    found = asked("OffBoard")
    assert found["BEGIN"].reason == "it plays 15,3, off the 15x15 board"
    assert found["BEGIN"].evidence[-1] == "< 15,3"


def test_gtp() -> None:
    """GTP's own names."""
    names = ("protocol", "boardsize", "genmove", "play", "clear_board", "quit")
    assert {name: check.status for name, check in asked("Gtp").items()} == dict.fromkeys(
        names, Status.PASS
    )


def test_opening_that_is_claimed() -> None:
    """Who claims it fails without it."""
    assert asked("Brain", "--opening-rules=swap2")["SWAP2BOARD 3"].status is FAIL
    assert asked("Swap2")["SWAP2BOARD 5"].reason == "SWAP"


def test_stones_with_their_sides() -> None:
    """An engine that reads them in no other way is told so, once."""
    found = asked("WhoSwap2")
    assert found["SWAP2BOARD 3"].status is WARN
    assert found["SWAP2BOARD 3"].reason == "SWAP, to stones as x,y,who alone"
    assert "< ERROR Color is not a valid value" in found["SWAP2BOARD 3"].evidence
    assert found["SWAP2BOARD 5"].status is Status.PASS


@pytest.mark.parametrize("name", RULES)
def test_rule_positions(name: str) -> None:
    """The point wins under freestyle, and under its own rule alone where that has it so."""
    variant = Variant(RULES[name])
    for position in RULE_POSITIONS[name]:
        moves, (point,) = position.moves(), engine._cells(position.point)
        assert Board.from_moves(moves, variant).side_to_move.name == "BLACK"
        board = Board.from_moves(moves, variant)
        if board.is_legal(point):
            board.play(point)
            assert board.is_over is (name == "freestyle")
        else:
            assert name == "renju"
        if position.block:
            free = Board.from_moves(moves, Variant(FREESTYLE))
            free.play(point)
            assert free.is_over


@pytest.mark.parametrize(("mode", "status"), [("TakesSix", FAIL), ("Brain", Status.PASS)])
def test_rule_that_an_engine_does_not_know(mode: str, status: Status) -> None:
    """It plays what wins under another rule alone."""
    found = asked(mode, "--rules=standard")["knows standard"]
    assert found.status is status
    assert status is not FAIL or "7,7, which wins nothing under standard" in found.reason
