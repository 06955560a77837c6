"""What goes wrong between a bot and the arena."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import grpc
import pytest

from meijin.bots import ArenaError, GameFailedError, RefusedError, SupplierError
from meijin.bots.sdk.answer import Failure
from meijin.bots.sdk.errors import MAX_FAILURE_BYTES, failure_of, refusal, with_place
from meijin.game import Board
from meijin.wire.contract import MAX_TRACEBACK

FATAL = {"UNAUTHENTICATED", "PERMISSION_DENIED", "FAILED_PRECONDITION", "INVALID_ARGUMENT"} | {
    "ABORTED",
    "UNIMPLEMENTED",
}


@pytest.mark.parametrize("code", grpc.StatusCode)
def test_fatal_codes(code: grpc.StatusCode) -> None:
    """Six codes can't be helped by trying again; all but one, whose words the server has, advise."""
    error = refusal(code, "")
    assert (error is not None) == (code.name in FATAL)
    if error is not None:
        assert isinstance(error, RefusedError)
        assert isinstance(error, ArenaError)
        assert str(error) == f"{code.name}: {error.advice}".removesuffix(": ")
        assert bool(error.advice) == (code is not grpc.StatusCode.PERMISSION_DENIED)


PROGRAM = """
import json


def choose(text):
    return deeper(text)


def deeper(text):
    return json.loads(text)


def endless(depth):
    return odd(depth + 1)


def odd(depth):
    return endless(depth + 1)
"""


@pytest.fixture
def program(tmp_path: Path) -> dict[str, Callable[..., object]]:
    path = tmp_path / "author.py"
    path.write_text(PROGRAM)
    names: dict[str, Callable[..., object]] = {}
    exec(compile(PROGRAM, str(path), "exec"), names | {"__name__": "author"}, names)
    for function in names.values():
        getattr(function, "__globals__", {}).update(names)
    return names


def failure(call: Callable[[], object]) -> Failure:
    """What is told of the exception that a call raises."""
    try:
        call()
    except Exception as error:  # noqa: BLE001 - it is what is told of
        return failure_of(error)
    raise AssertionError("nothing was raised")


def test_the_place_is_the_authors_own(program: dict[str, Callable[..., object]]) -> None:
    """Of a failure in a library the line that called it; the frames of both are told."""
    found = failure(lambda: program["choose"]("{"))
    assert found.message.startswith("JSONDecodeError: Expecting property name")
    assert found.message.endswith(" (author.py, line 10)")
    lines = found.traceback.splitlines()
    assert '  File "author.py", line 6, in choose' in lines
    assert "    return json.loads(text)" in lines
    assert lines[-1].startswith("json.decoder.JSONDecodeError")
    assert str(Path(json.__file__).parent) not in found.traceback


def test_what_the_arenas_own_code_raises_is_the_callers_line() -> None:
    """A stone on an occupied cell, by a board of ours."""
    board = Board.from_moves([112])
    found = failure(lambda: board.play(112))
    assert found.message.startswith("IllegalMoveError: h8 is occupied (test_errors.py, line ")


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ValueError("no"), Failure("ValueError: no")),
        (AssertionError(), Failure("AssertionError")),
        (GameFailedError("out of ideas"), Failure("out of ideas")),
        (SupplierError("the host"), Failure("SupplierError: the host", is_suppliers=True)),
    ],
)
def test_a_failure_without_a_frame_of_the_bot_has_no_place(error: Exception, told: Failure) -> None:
    """An exception that nobody has raised; without words it is called by its name."""
    assert failure_of(error) == told


def test_a_long_message_keeps_its_place() -> None:
    """The words are cut, within the bytes that the server keeps."""

    def fail() -> None:
        raise ValueError("ü" * 10_000)

    message = failure(fail).message
    assert message.rpartition(" (")[2].startswith("test_errors.py, line ")
    assert len(message.encode()) in {MAX_FAILURE_BYTES - 1, MAX_FAILURE_BYTES}


def test_a_long_traceback_is_cut_in_its_middle(program: dict[str, Callable[..., object]]) -> None:
    """How it began and the last frames stay."""
    found = failure(lambda: program["endless"](0))
    assert found.message.startswith("RecursionError: ")
    assert len(found.traceback) == MAX_TRACEBACK
    lines = found.traceback.splitlines()
    assert lines[0].startswith('  File "test_errors.py"')
    assert "  ..." in lines
    assert lines[-1].startswith("RecursionError: ")


def test_an_error_that_can_say_nothing_is_told() -> None:
    """Its own method fails; the game must end all the same."""

    class MuteError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("mute")

    def fail() -> None:
        raise MuteError

    assert failure(fail).message.startswith("MuteError: <no words: its __str__ failed> (test_")


def test_an_impossible_answer_names_the_method_that_gave_it() -> None:
    """Where it begins; nothing for what is no Python function."""

    def choose() -> None:
        pass

    told = Failure("choose returned None")
    line = choose.__code__.co_firstlineno
    message = f"choose returned None (test_errors.py, line {line})"
    assert with_place(told, choose) == Failure(message)
    assert with_place(told, len) == with_place(told, None) == told
