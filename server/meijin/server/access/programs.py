"""Programs: handed over, taken back, suspended and rolled back by those whose they are."""

import re
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Self

from sqlalchemy import Connection

from meijin.programs.kinds import MAX_NAME, ProgramKind
from meijin.server.access.bots import bot_of
from meijin.server.access.caller import Caller
from meijin.server.errors import (
    InvalidRequestError,
    LateSubmissionError,
    NotFoundError,
    QuotaError,
    WrongStateError,
    invalid_request,
)
from meijin.server.match.admission import deadline_words, refusal
from meijin.server.settings import Settings
from meijin.store.access.arrivals import arrival_by_id
from meijin.store.access.audit import Facts
from meijin.store.access.owners import get_owner
from meijin.store.access.people import is_person_name
from meijin.store.bots import bot_record
from meijin.store.programs import programs
from meijin.store.programs.programs import NewProgram, ProgramRow
from meijin.store.schema import (
    PROGRAM_LABEL,
    REASON,
    Bot,
    OwnerId,
    ProgramId,
    ProgramState,
)
from meijin.wire.text import check_text, plain_text

_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class UploadRequest:
    """What an uploader says of the bytes to come."""

    bot: str
    """May be empty with the token of a bot."""
    digest: str
    size: int
    file_name: str
    kind: ProgramKind | None
    """``None`` for what the bytes show."""
    label: str

    def checked(self, settings: Settings) -> Self:
        """The request, if there may be such a program.

        Raises:
            InvalidRequestError: there may not.
        """
        if not _DIGEST.fullmatch(self.digest):
            raise InvalidRequestError("digest: it must be SHA-256 in 64 hexadecimal digits")
        most = settings.max_program_bytes
        if not 0 < self.size <= most:
            raise InvalidRequestError(
                f"size: {self.size} bytes; a program has 1 to {most} on this server"
            )
        with invalid_request("file_name"):
            check_text(self.file_name)
            if not 0 < len(self.file_name) <= MAX_NAME or "/" in self.file_name:
                raise ValueError(f"it must be 1 to {MAX_NAME} characters, without folders")
        with invalid_request("label"):
            label = check_text(self.label).strip()
            if len(label) > PROGRAM_LABEL:
                raise ValueError(f"it is longer than {PROGRAM_LABEL} characters")
        return replace(self, label=label)


def begin_upload(
    connection: Connection, caller: Caller, settings: Settings, request: UploadRequest
) -> tuple[Bot, ProgramRow | None]:
    """The bot that a program is for, and the program if the bot has it already.

    Raises:
        BannedError: the bot is; or `DisabledError`.
        LateSubmissionError: the deadline of its class is over.
        NotFoundError: the caller has no such bot.
        QuotaError: its owner has as many programs, or bytes of them, as it may have.
    """
    bot = managed_bot(connection, caller, request.bot)
    if (error := refusal(bot)) is not None:
        raise error
    found = programs.find_program(connection, bot.id, request.digest)
    if found is not None and found.state is not ProgramState.RETIRED:
        return bot, found
    check_in_time(connection, caller, bot)
    _check_quota(connection, settings, bot, request.size)
    return bot, None


def end_upload(
    connection: Connection,
    caller: Caller,
    settings: Settings,
    request: UploadRequest,
    kind: ProgramKind,
) -> tuple[ProgramRow, bool]:
    """Keep a program all of whose bytes are there; as `begin_upload`.

    Returns:
        The program, and whether the bot had it already.
    """
    bot, found = begin_upload(connection, caller, settings, request)
    if found is not None:
        return found, True
    new = NewProgram(
        bot_id=bot.id,
        digest=request.digest,
        kind=kind,
        size=request.size,
        file_name=request.file_name,
        label=request.label,
        uploader=caller.name(connection),
    )
    row, was_there = programs.add_program(connection, new, caller.time)
    caller.note(connection, "upload", f"program {row.id}", after=_facts(row))
    return row, was_there


def managed_bot(connection: Connection, caller: Caller, name: str) -> Bot:
    """The bot of a name whose programs the caller may manage; a bot's own without one."""
    if caller.bot_id is not None:
        own = bot_record(connection, caller.bot_id)
        if name not in {"", own.name}:
            raise NotFoundError(f'your token is of "{own.name}", not of "{name}"')
        return own
    if not name:
        raise InvalidRequestError("bot: say which one the program is for")
    bot = bot_of(connection, caller, name)
    if is_person_name(bot.name):
        raise InvalidRequestError(f'bot: "{bot.name}" is a person, who has no programs')
    return bot


def check_in_time(connection: Connection, caller: Caller, bot: Bot) -> None:
    """See that what a bot plays with may still change.

    Raises:
        LateSubmissionError: the deadline of its class is over.
    """
    arrival = arrival_by_id(connection, bot.id, token_id=None, now=caller.time)
    if arrival is not None and arrival.is_over(caller.time):
        raise LateSubmissionError(
            f'"{bot.name}" is late: {deadline_words(arrival)}; the program counts that was '
            "there before"
        )


def _check_quota(connection: Connection, settings: Settings, bot: Bot, size: int) -> None:
    """See that a bot's owner may have one program more."""
    quota = quota_of(connection, settings, bot.owner_id)
    held = programs.holdings(connection, bot_id=bot.id, owner_id=bot.owner_id)
    fix = "retire some that you need no more, or ask an operator"
    if held.programs >= quota.programs:
        raise QuotaError(
            f"there are {held.programs} programs of {quota.programs} that may be kept; {fix}"
        )
    if held.size + size > quota.size:
        raise QuotaError(
            f"with {size} bytes more the programs take {held.size + size} of {quota.size} bytes "
            f"that they may take; {fix}"
        )


@dataclass(frozen=True, slots=True)
class ProgramQuota:
    """The most that an owner's programs may take."""

    programs: int
    size: int
    cpu: timedelta
    """Processor time of a day."""


def quota_of(connection: Connection, settings: Settings, owner_id: OwnerId | None) -> ProgramQuota:
    """The quota of an owner, and of each bot that has none."""
    usual = ProgramQuota(
        settings.owner_programs, settings.owner_program_bytes, settings.owner_program_cpu
    )
    if owner_id is None:
        return usual
    owner = get_owner(connection, owner_id)
    cpu = owner.program_cpu_quota
    return ProgramQuota(
        usual.programs if owner.program_quota is None else owner.program_quota,
        usual.size if owner.program_bytes_quota is None else owner.program_bytes_quota,
        usual.cpu if cpu is None else timedelta(seconds=cpu),
    )


def program_of(connection: Connection, caller: Caller, program_id: ProgramId) -> ProgramRow:
    """A program that the caller may see and manage.

    Raises:
        NotFoundError: there is none, or it is somebody else's, in the same words.
    """
    row = programs.get_program(connection, program_id)
    is_foreign = caller.owner_id is not None and row.owner_id != caller.owner_id
    is_another = caller.bot_id is not None and row.bot_id != caller.bot_id
    if is_foreign or is_another:
        raise NotFoundError(f"no program {program_id}; list the programs to see their ids")
    return row


@dataclass(frozen=True, slots=True)
class ProgramUpdate:
    """What of a program is to change."""

    state: ProgramState | None = None
    reason: str = ""
    is_current: bool = False
    """Its bot is to play with it."""

    @property
    def is_operators(self) -> bool:
        """Whether operators alone may ask for it."""
        return self.state not in {None, ProgramState.RETIRED}

    def checked(self) -> Self:
        """The change with its reason as it is kept.

        Raises:
            InvalidRequestError: nothing is to change, or not to this, or the reason is missing.
        """
        if self.state is None and not self.is_current:
            raise InvalidRequestError("say what of the program is to change")
        if self.state in {ProgramState.CHECKING, ProgramState.REFUSED}:
            raise InvalidRequestError("state: admissions alone check and refuse programs")
        if self.is_current and self.state not in {None, ProgramState.ADMITTED}:
            raise InvalidRequestError("current: a bot plays with no program in that state")
        reason = plain_text(self.reason).strip()
        if self.state is ProgramState.SUSPENDED and not reason:
            raise InvalidRequestError("reason: say why it is suspended in a sentence: it is told")
        if len(reason) > REASON:
            raise InvalidRequestError(f"reason: it is longer than {REASON} characters")
        return replace(self, reason=reason)


def update(
    connection: Connection, caller: Caller, program_id: ProgramId, change: ProgramUpdate
) -> ProgramRow:
    """Change a program, each change with an act of its own.

    Raises:
        LateSubmissionError: its bot may not play with another one after the deadline.
        WrongStateError: its state rules that out.
    """
    row = program_of(connection, caller, program_id)
    if change.state is not None:
        row = _set_state(connection, caller, row, change.state, change.reason)
    if change.is_current:
        row = _roll_back(connection, caller, row)
    return row


def _set_state(
    connection: Connection, caller: Caller, row: ProgramRow, state: ProgramState, reason: str
) -> ProgramRow:
    if row.state not in _BEFORE[state]:
        raise WrongStateError(f"program {row.id} is {row.state.value}, and can't be {state.value}")
    if state is ProgramState.ADMITTED and row.hello is None:
        raise WrongStateError(f"program {row.id} was never admitted; have it examined: uploaded")
    if state is ProgramState.RETIRED:
        if row.is_current and not caller.is_operator:
            check_in_time(connection, caller, bot_record(connection, row.bot_id))
        is_changed = programs.retire(connection, row, caller.time)
    else:
        is_changed = programs.set_state(connection, row, state, caller.time, reason)
    if not is_changed:
        raise WrongStateError(f"program {row.id} has changed meanwhile; look at it again")
    after = programs.get_program(connection, row.id)
    facts = {"before": _facts(row), "after": _facts(after)}
    caller.note(connection, _ACTIONS[state], f"program {row.id}", **facts)
    return after


_BEFORE = {
    ProgramState.RETIRED: frozenset(ProgramState) - {ProgramState.RETIRED},
    ProgramState.SUSPENDED: frozenset(
        {ProgramState.UPLOADED, ProgramState.CHECKING, ProgramState.ADMITTED}
    ),
    ProgramState.ADMITTED: frozenset({ProgramState.SUSPENDED}),
    ProgramState.UPLOADED: frozenset(
        {ProgramState.ADMITTED, ProgramState.REFUSED, ProgramState.SUSPENDED}
    ),
}
"""The states from which each may be asked for."""

_ACTIONS = {
    ProgramState.RETIRED: "retire",
    ProgramState.SUSPENDED: "suspend",
    ProgramState.ADMITTED: "admit again",
    ProgramState.UPLOADED: "examine again",
}


def _roll_back(connection: Connection, caller: Caller, row: ProgramRow) -> ProgramRow:
    if row.state is not ProgramState.ADMITTED:
        raise WrongStateError(
            f"program {row.id} is {row.state.value}; a bot plays with an admitted one alone"
        )
    check_in_time(connection, caller, bot_record(connection, row.bot_id))
    programs.make_current(connection, row)
    facts = {"after": _facts(row)}
    caller.note(connection, "play with", f"program {row.id}", **facts)
    return programs.get_program(connection, row.id)


def _facts(row: ProgramRow) -> Facts:
    return {
        "bot": row.bot,
        "digest": row.digest,
        "size": row.size,
        "label": row.label,
        "state": row.state.value,
        "reason": row.reason,
    }
