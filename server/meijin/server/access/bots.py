"""Bots: registered and changed by owners and operators."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Self

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from meijin.server.access.caller import Caller
from meijin.server.errors import (
    InvalidRequestError,
    NameTakenError,
    NotAllowedError,
    NotFoundError,
    QuotaError,
    RegistrationClosedError,
    WrongStateError,
    invalid_request,
)
from meijin.server.match.admission import admit
from meijin.server.match.live.commands import Hello
from meijin.server.settings import Registration, Settings
from meijin.store import bots as store
from meijin.store.access import owners
from meijin.store.access.audit import Facts
from meijin.store.access.owners import OwnerRow
from meijin.store.access.people import is_person_name
from meijin.store.access.tokens import add_token
from meijin.store.access.versions import EngineRow, set_doctor_time
from meijin.store.rows import change_row
from meijin.store.schema import (
    REASON,
    Bot,
    BotId,
    BotState,
    BotVersionId,
    ChallengePolicy,
    OwnerId,
    TokenId,
    TokenKind,
)
from meijin.wire.capabilities import Capabilities
from meijin.wire.contract import check_bot_name
from meijin.wire.text import check_display_name, plain_text


@contextmanager
def new_name(what: str, name: str, kind: str = "name") -> Iterator[None]:
    """Store something under a name that nothing else may have.

    Raises:
        NameTakenError: something has it.
    """
    try:
        yield
    except IntegrityError:
        raise NameTakenError(f'{what} "{name}" exists; take another {kind}') from None


def bot_of(connection: Connection, caller: Caller, name: str) -> Bot:
    """A bot that the caller may manage.

    Raises:
        NotFoundError: there is none of that name; for an owner, or it is somebody else's, in
            the same words.
    """
    if caller.owner_id is None:
        return store.bot_record(connection, store.get_bot(connection, name))
    bot_id = store.find_bot(connection, name)
    found = None if bot_id is None else store.bot_record(connection, bot_id)
    if found is None or found.owner_id != caller.owner_id:
        raise NotFoundError(f'you have no bot "{name}"')
    return found


@dataclass(frozen=True, slots=True)
class NewBot:
    name: str
    owner: str
    """Empty for nobody's, and for the owner who asks."""
    display_name: str

    def checked(self) -> Self:
        """The bot as it is kept.

        Raises:
            InvalidRequestError: it, or its owner, can't be called so.
        """
        with invalid_request():
            check_bot_name(self.name)
            if self.owner:
                check_bot_name(self.owner)
            shown = check_display_name(self.display_name) if self.display_name else ""
        return replace(self, display_name=shown)


def register(
    connection: Connection, caller: Caller, settings: Settings, new: NewBot, secret: str
) -> None:
    """Register a bot with its token.

    An operator may name an owner, who is made when there is none of that name.

    Raises:
        IntegrityError: the name is taken.
        NotAllowedError: an owner named another.
        QuotaError: the owner has as many bots as it may have.
        RegistrationClosedError: owners register none on this server.
    """
    owner = _owner(connection, caller, settings, new.owner)
    owner_id = None if owner is None else owner.id
    bot_id = store.add_bot(
        connection, new.name, caller.time, owner_id=owner_id, display_name=new.display_name
    )
    if caller.owner_id is not None and owner is not None:
        _check_quota(owner, settings)
    add_bot_token(connection, caller, bot_id, secret)
    after = {**_facts(store.bot_record(connection, bot_id)), "owner": owner.name if owner else ""}
    caller.note(connection, "register", f"bot {new.name}", after=after)


def _owner(
    connection: Connection, caller: Caller, settings: Settings, name: str
) -> OwnerRow | None:
    """Whose a new bot is: the owner's who registers it, or whose an operator says."""
    if caller.owner_id is None:
        if not name:
            return None
        owner_id = owners.find_owner(connection, name) or add_owner(connection, caller, name, None)
        return owners.get_owner(connection, owner_id)
    if settings.registration is Registration.CLOSED:
        raise RegistrationClosedError("operators alone register bots on this server; ask one")
    owner = owners.get_owner(connection, caller.owner_id)
    if name not in {"", owner.name}:
        raise NotAllowedError(f'a bot of yours belongs to "{owner.name}", not to "{name}"')
    return owner


def _check_quota(owner: OwnerRow, settings: Settings) -> None:
    """See that an owner may have one bot more than before."""
    quota = settings.owner_quota if owner.quota is None else owner.quota
    if owner.bots >= quota:
        raise QuotaError(
            f"your bots are {owner.bots} of {quota} that you may have; ask an operator"
        )


def add_owner(connection: Connection, caller: Caller, name: str, quota: int | None) -> OwnerId:
    """Keep a new owner.

    Raises:
        IntegrityError: the name is taken.
    """
    owner_id = owners.add_owner(connection, name, caller.time, quota)
    caller.note(connection, "make", f"owner {name}", after={"quota": quota})
    return owner_id


def add_bot_token(connection: Connection, caller: Caller, bot_id: BotId, secret: str) -> TokenId:
    creator = caller.name(connection)
    return add_token(connection, secret, TokenKind.BOT, caller.time, bot_id=bot_id, creator=creator)


def report_doctor(
    connection: Connection, caller: Caller, name: str, engine: EngineRow, *, has_passed: bool
) -> tuple[BotId, store.VersionRow, Sequence[BotVersionId]]:
    """Keep whether a program of the caller's own bot has passed the doctor.

    Raises:
        MeijinError: the bot may not play.
    """
    hello = Hello(name, engine, Capabilities(), resume_session_id="")
    bot = admit(connection, hello=hello, identity=caller.identity, now=caller.time)
    before = store.version_row(connection, bot.version_id)
    time = caller.time if has_passed else None
    versions = set_doctor_time(connection, before, time)
    after = store.version_row(connection, bot.version_id)
    facts = [
        {"version": row.label, "passed": row.doctor_time is not None} for row in (before, after)
    ]
    subject = f"bot {bot.name}"
    caller.note(connection, "report the doctor", subject, before=facts[0], after=facts[1])
    return bot.bot_id, after, versions


@dataclass(frozen=True, slots=True, kw_only=True)
class BotUpdate:
    """What of a bot is to change; ``None`` stays as it is."""

    new_name: str | None = None
    state: BotState | None = None
    reason: str = ""
    """Why it may not play."""
    is_hidden: bool | None = None
    is_paused: bool | None = None
    """A pause can be lifted, not made."""
    challenges: ChallengePolicy | None = None

    @property
    def is_operators(self) -> bool:
        """Whether operators alone may ask for it."""
        return self.new_name is not None or self.state is BotState.BANNED

    def checked(self) -> Self:
        """The change with its reason as it is kept.

        Raises:
            InvalidRequestError: nothing is to change, or a ban has no reason.
        """
        if self == BotUpdate(reason=self.reason):
            raise InvalidRequestError("say what of the bot is to change")
        if self.is_paused:
            raise InvalidRequestError(
                "paused: a pause can be lifted alone; disable the bot instead"
            )
        if self.new_name is not None:
            with invalid_request("new_name"):
                check_bot_name(self.new_name)
        reason = plain_text(self.reason).strip()
        if self.state is BotState.BANNED and not reason:
            raise InvalidRequestError("reason: say in a sentence why the bot is banned: it is told")
        if len(reason) > REASON:
            raise InvalidRequestError(f"reason: it is longer than {REASON} characters")
        return replace(self, reason=reason)


def update(
    connection: Connection,
    caller: Caller,
    name: str,
    change: BotUpdate,
    paused: Iterable[BotVersionId],
) -> tuple[Bot, Collection[BotVersionId]]:
    """Change a bot, each change with an act of its own, and tell which versions are paused no more.

    Args:
        paused: The versions of all bots that are.

    Raises:
        IntegrityError: the new name is taken.
        InvalidRequestError: it is a person.
        WrongStateError: it is banned, not paused, or known by its name alone.
    """
    bot = bot_of(connection, caller, name)
    for action, values in _changes(caller, bot, change):
        before, subject = _facts(bot), f"bot {bot.name}"
        change_row(connection, Bot, bot.id, **values)
        bot = store.bot_record(connection, bot.id)
        caller.note(connection, action, subject, before=before, after=_facts(bot))
    if change.is_paused is None:
        return bot, ()
    lifted = store.labels_of(connection, bot.id, paused)
    if not lifted:
        raise WrongStateError(f'"{bot.name}" is not paused')
    before = {"paused": list(lifted.values())}
    caller.note(connection, "unpause", f"bot {bot.name}", before=before)
    return bot, lifted


def _changes(
    caller: Caller, bot: Bot, change: BotUpdate
) -> Iterator[tuple[str, dict[str, object]]]:
    """The acts of an update, and the columns that each of them sets."""
    if change.state is not None:
        yield _state_change(caller, bot, change.state, change.reason)
    if change.is_hidden is not None:
        if change.state is None:
            _check_unbanned(bot)
        yield "hide" if change.is_hidden else "show", {"is_hidden": change.is_hidden}
    if change.challenges is not None:
        _check_no_person(bot, "whom nobody challenges")
        yield "set challenges", {"challenges": change.challenges}
    if change.new_name is not None:
        _check_no_person(bot, "and stays to be told from bots")
        if bot.is_open:
            raise WrongStateError(
                f'"{bot.name}" is known by its name alone; rotate its token first'
            )
        former = [each for each in (*bot.former_names, bot.name) if each != change.new_name]
        yield "rename", {"name": change.new_name, "former_names": former}


def _state_change(
    caller: Caller, bot: Bot, state: BotState, reason: str
) -> tuple[str, dict[str, object]]:
    if state is BotState.BANNED:
        return "ban", {"state": state, "reason": reason}
    is_operators = caller.owner_id is None
    if state is BotState.ACTIVE and bot.state is BotState.BANNED and is_operators:
        return "unban", {"state": state, "reason": ""}
    _check_unbanned(bot)
    if state is BotState.ACTIVE:
        return "enable", {"state": state, "reason": ""}
    return "disable", {"state": state, "reason": reason}


def _check_unbanned(bot: Bot) -> None:
    if bot.state is BotState.BANNED:
        raise WrongStateError(f'"{bot.name}" is banned: {bot.reason}')


def _check_no_person(bot: Bot, why: str) -> None:
    if is_person_name(bot.name):
        raise InvalidRequestError(f'name: "{bot.name}" is a person, {why}')


def _facts(bot: Bot) -> Facts:
    return {
        "name": bot.name,
        "state": bot.state.value,
        "reason": bot.reason,
        "hidden": bot.is_hidden,
        "challenges": bot.challenges.value,
    }
