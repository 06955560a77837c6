"""Sessions held by plain threads: what they cost, and how another thread ends a wait."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest
from tests.bots.bridge.conftest import TIME, brain

from meijin.bots.bridge.dialogue import EngineInterruptedError, EngineSilentError, NewGame
from meijin.bots.bridge.probe import Starter
from meijin.bots.bridge.session import EngineSession
from meijin.bots.bridge.settings import WrapSettings
from meijin.game import Variant

pytestmark = pytest.mark.usefixtures("family")


@contextmanager
def session_with(mode: str) -> Iterator[EngineSession]:
    """A session that has begun a game."""
    settings = WrapSettings(command=brain(mode), protocol="gomocup")
    session = Starter(settings).launch()
    try:
        session.hold(session.protocol.new_game(NewGame(Variant(), TIME)))
        yield session
    finally:
        session.close(timedelta(0))


def test_instants_of_a_question_and_its_answer() -> None:
    """They lie within the dialogue, and what comes after the answer doesn't move them."""
    with session_with("Brain") as session:
        before = time.monotonic_ns()
        assert session.hold(session.protocol.choose((), TIME)) == (0, 0)
        after = time.monotonic_ns()
        assert before <= session.asked_ns < session.answered_ns <= after


@pytest.mark.parametrize("mode", ["Hangs", "EndlessFlood", "EndlessLine", "HalfForEver"])
def test_interrupted_wait(mode: str) -> None:
    """Another thread ends the wait for an engine that is silent, or that never comes to an end."""
    with session_with(mode) as session:
        threading.Timer(0.05, session.interrupt).start()
        with pytest.raises(EngineInterruptedError):
            session.hold(session.protocol.choose((), TIME))


@pytest.mark.parametrize("mode", ["Hangs", "EndlessFlood", "EndlessLine", "HalfForEver"])
def test_patience(mode: str) -> None:
    """A wait ends with its patience, however much the engine writes."""
    with session_with(mode) as session, pytest.raises(EngineSilentError):
        session.hold(session.protocol.choose((), TIME), patience_ns=50_000_000)


def test_interrupt_that_came_too_late() -> None:
    """It ends the next wait, unless it is forgotten."""
    with session_with("Brain") as session:
        session.interrupt()
        session.process.forget_interrupts()
        assert session.hold(session.protocol.choose((), TIME)) == (0, 0)
        session.interrupt()
        with pytest.raises(EngineInterruptedError):
            session.hold(session.protocol.choose((0, 1), TIME))
