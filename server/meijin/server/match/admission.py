"""Admission: the bot behind a hello, known by its token, or by its name where anyone may play."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection

from meijin.server.errors import (
    BannedError,
    DisabledError,
    LateSubmissionError,
    MeijinError,
    NotAllowedError,
    UnauthenticatedError,
    invalid_request,
)
from meijin.server.match.live.commands import Hello
from meijin.server.match.live.live_game import SUPPLIER_FAILURES
from meijin.server.match.variants import tell
from meijin.store import bots
from meijin.store.access import classes
from meijin.store.access.arrivals import Arrival, arrival_by_id, arrival_by_name, note_arrival
from meijin.store.access.tokens import Identity
from meijin.store.access.versions import EngineRow, arrive, versions_of
from meijin.store.errors import RowNotFoundError
from meijin.store.faults import fault_times
from meijin.store.schema import Bot, BotId, BotState, BotVersion, BotVersionId, FaultKind
from meijin.wire.contract import check_own_name
from meijin.wire.text import minute_text


class Admitted(NamedTuple):
    """A bot that may come in."""

    bot_id: BotId
    name: str
    version_id: BotVersionId
    siblings: Collection[BotVersionId]
    """The versions of the same program, on any machine."""
    notice: str
    """What its owner is to know of the version; mostly empty."""
    supplier_failures: Sequence[datetime]
    """The last times at which its supplier failed, oldest first."""
    is_hidden: bool
    """It is left out of lists."""
    has_passed: bool
    """Its author has reported that this version has passed the doctor."""


def admit(
    connection: Connection, *, hello: Hello, identity: Identity | None, now: datetime
) -> Admitted:
    """Find the bot and version behind a hello; those that are new are stored.

    Args:
        identity: Of the token that was sent; ``None`` without one.

    Raises:
        InvalidRequestError: the name can't be given to a bot.
        BannedError: an operator has banned the bot.
        DisabledError: its owner or an operator has disabled it.
        LateSubmissionError: its class's deadline is over, and it counts with another version.
        NotAllowedError: the token is another bot's; or the arena itself runs the bots of its class.
        UnauthenticatedError: the bot is registered, and no token was sent; or the token was
            revoked since the stream was opened.
        RowNotFoundError: the bot was forgotten since the token was looked up.
    """
    return _admit(connection, _arrival(connection, hello, identity, now), hello, now)


def let_in(
    connection: Connection, *, hello: Hello, identity: Identity | None, now: datetime
) -> Admitted:
    """Admit a bot whose stream is opened now, and note that it was seen; as `admit`.

    In a class the version that it comes with is handed in by that.
    """
    bot = _arrival(connection, hello, identity, now)
    admitted = _admit(connection, bot, hello, now)
    note_arrival(connection, bot.id, admitted.version_id, now)
    if bot.class_name is not None and bot.counted_id != admitted.version_id:
        classes.keep_submission(connection, bot.id, admitted.version_id)
    return admitted


def _arrival(
    connection: Connection, hello: Hello, identity: Identity | None, now: datetime
) -> Arrival:
    """Who says hello, which a bot may do by its token, or by its name where that is open."""
    if identity is None:
        bot = _named_bot(connection, hello, now)
        if not bot.is_open:
            registered = f'"{bot.name}" is registered'
            raise UnauthenticatedError(f"{registered}: send its token, or take another name")
    else:
        assert identity.bot_id is not None
        bot = _known_bot(connection, identity.bot_id, identity, now)
        if not bot.has_token:
            raise UnauthenticatedError("the bot's token was replaced")
    if hello.bot_name not in {"", bot.name, *bot.former_names}:
        raise NotAllowedError(
            f'this is the token of "{bot.name}", not of "{hello.bot_name}"; show the one that '
            "belongs to the name, or leave the name out"
        )
    return bot


def _admit(connection: Connection, bot: Arrival, hello: Hello, now: datetime) -> Admitted:
    if (error := refusal(bot)) is not None:
        raise error
    engine = hello.engine
    if bot.is_class_hosted and not engine.is_hosted:
        raise NotAllowedError(
            f'the arena runs the bots of {bot.class_name}: upload "{bot.name}" on its page, or by '
            f"meijin bot upload FILE --as {bot.name}"
        )
    counted = _counted(connection, bot, now)
    if bot.is_over(now) and (counted is None or not engine.is_program_of(counted)):
        is_known = bool(versions_of(connection, bot.id, engine.digest))
        raise _late(bot, engine, counted, is_known=is_known)
    arrived = arrive(connection, bot.id, engine, now, only=counted)
    version = arrived.version
    failures: Sequence[datetime] = ()
    if bot.has_failed_supplier:
        failures = fault_times(connection, bot.id, FaultKind.SUPPLIER, limit=SUPPLIER_FAILURES)
    return Admitted(
        bot.id,
        bot.name,
        version.id,
        siblings=[each.id for each in arrived.siblings],
        notice=tell(connection, bot.name, engine, arrived, is_over=bot.is_over(now)),
        supplier_failures=failures,
        is_hidden=bot.is_hidden,
        has_passed=version.doctor_time is not None,
    )


def _counted(connection: Connection, bot: Arrival, now: datetime) -> BotVersion | None:
    """The version that a bot has to be since its class's deadline; ``None`` where there is none."""
    if bot.counted_id is None or not bot.is_over(now):
        return None
    return bots.version_row(connection, bot.counted_id)


def refusal(bot: Bot) -> MeijinError | None:
    """Why a bot may not play; ``None`` if it may."""
    if bot.state is BotState.ACTIVE:
        return None
    error = BannedError if bot.state is BotState.BANNED else DisabledError
    words = f'"{bot.name}" is {bot.state.value}'
    return error(f"{words}: {bot.reason}" if bot.reason else words)


def count_late_attempt(
    connection: Connection, *, hello: Hello, identity: Identity | None, now: datetime
) -> None:
    """Count a hello that was refused for the deadline of its class."""
    bot_id = bots.find_bot(connection, hello.bot_name) if identity is None else identity.bot_id
    if bot_id is not None:
        classes.count_late_attempt(connection, bot_id, now)


SHOWN_DIGITS = 8
"""Of a digest, where two of one bot are told apart."""


def _late(
    bot: Arrival, engine: EngineRow, counted: BotVersion | None, *, is_known: bool
) -> LateSubmissionError:
    """What a version is told that comes too late, in the zone in which the deadline was set."""
    offset, deadline = bot.deadline_offset_minutes, deadline_words(bot)
    if counted is None:
        return LateSubmissionError(
            f'"{bot.name}" is late: {deadline}, and it was not there before; ask your teacher'
        )
    what = "its file or options have changed since the version that counts"
    if is_known:
        what = "this is another version than the one that counts"
    own, other = f'version "{engine.label}"', f'version "{counted.label}"'
    if engine.label == counted.label:
        own, other = (f"digest {each.digest[:SHOWN_DIGITS]}" for each in (engine, counted))
    return LateSubmissionError(
        f'"{bot.name}" is late: {deadline}, and {what} '
        f"({own}; counted: {other} of {minute_text(counted.create_time, offset)}); connect that one"
    )


def deadline_words(bot: Arrival) -> str:
    """When the deadline of a bot's class was, in the zone in which it was set."""
    assert bot.deadline is not None
    time = minute_text(bot.deadline, bot.deadline_offset_minutes)
    return f"the deadline of {bot.class_name} was {time}"


def _named_bot(connection: Connection, hello: Hello, now: datetime) -> Arrival:
    """The bot of a name, which comes by open registration if it is new."""
    name = hello.bot_name
    with invalid_request():
        check_own_name(name)
    bot = arrival_by_name(connection, name, now)
    if bot is None:
        bot_id = bots.add_bot(connection, name, now, is_open=True)
        bot = _known_bot(connection, bot_id, None, now)
    return bot


def _known_bot(
    connection: Connection, bot_id: BotId, identity: Identity | None, now: datetime
) -> Arrival:
    token_id = None if identity is None else identity.token_id
    bot = arrival_by_id(connection, bot_id, token_id=token_id, now=now)
    if bot is None:
        raise RowNotFoundError("you were away for too long, and are forgotten; come in anew")
    return bot
