"""Replaying: a turn is given to a bot in a thread of its own, which it may block."""

import asyncio
import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TextIO, TypeAlias

from meijin.bots import Answer, Bot, BotLoadError
from meijin.bots.sdk.answer import Failure
from meijin.bots.sdk.replay import replay_turn
from meijin.bots.sdk.searcher import SearchThreads, run_hook, searcher_for
from meijin.cli.errors import CommandError
from meijin.game import GameRecord, OpeningAction
from meijin.game.records.recorded_turn import RecordedTurn

BLOCKED = timedelta(seconds=5)
"""Beyond the time to wait: by then a bot has been given up, unless it blocks its event loop."""
CLOSING = timedelta(seconds=10)
"""What a bot may take to close."""

logger = logging.getLogger("meijin.bots")


@dataclass(frozen=True, slots=True)
class Reply:
    """What a bot did at a turn."""

    answer: Answer | OpeningAction | Failure | None
    """``None`` when there was no answer in the time that was waited."""
    taken: timedelta
    traceback: str = ""
    """Of the exception that came instead of an answer."""


_Item: TypeAlias = Reply | BaseException | None
"""What the thread says: a reply, what went wrong, or that the bot is ready."""


class _Tracebacks(logging.StreamHandler[TextIO]):
    """Keeps the traceback of the exception that the SDK logs, and prints what else it says."""

    def __init__(self) -> None:
        super().__init__()
        self.setLevel(logging.WARNING)
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            self.text = "".join(traceback.format_exception(record.exc_info[1])).rstrip()
        else:
            super().emit(record)


def replies(
    bot: Bot, record: GameRecord, turn: RecordedTurn, *, times: int, wait: timedelta
) -> Iterator[Reply]:
    """What a bot answers to a turn, again and again; after none in time it is not asked again."""
    said: SimpleQueue[_Item] = SimpleQueue()

    def run() -> None:
        threads = SearchThreads()
        try:
            bot.prepare()
            said.put(None)
            searcher = searcher_for(bot, threads)
            with asyncio.Runner() as runner:
                for _ in range(times):
                    with _tracebacks() as kept:
                        asked = replay_turn(bot, searcher, record, turn, wait)
                        reply = Reply(*runner.run(asked), kept.text)
                    said.put(reply)
                    if reply.answer is None:
                        break
        except BaseException as error:  # noqa: BLE001 - the command tells of it
            said.put(error)
        finally:
            threads.close()
            run_hook(bot.close)

    thread = Thread(target=run, name="replay", daemon=True)
    thread.start()
    _expect(said.get())
    for _ in range(times):
        try:
            reply = _expect(said.get(timeout=(wait + BLOCKED).total_seconds()))
        except Empty:
            raise CommandError(
                f"no answer within {wait.total_seconds():.1f} s, and the bot blocks its event "
                "loop: an async method must not, a plain one may"
            ) from None
        assert reply is not None
        yield reply
        if reply.answer is None:
            break
    thread.join(CLOSING.total_seconds())


def _expect(item: _Item) -> Reply | None:
    if isinstance(item, BaseException):
        if isinstance(item, BotLoadError) or not isinstance(item, Exception):
            raise item
        text = "".join(traceback.format_exception(item)).rstrip()
        raise CommandError(f"the bot can't get ready: {item}\n{text}") from item
    return item


@contextmanager
def _tracebacks() -> Iterator[_Tracebacks]:
    handler = _Tracebacks()
    logger.addHandler(handler)
    try:
        yield handler
    finally:
        logger.removeHandler(handler)
