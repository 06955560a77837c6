"""What owners and operators do to bots, in the transaction of the change."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import Connection

from meijin.server.access.caller import Caller
from meijin.server.access.permissions import Policy
from meijin.server.errors import (
    InvalidRequestError,
    NotAllowedError,
    NotFoundError,
    QuotaError,
    RegistrationClosedError,
    WrongStateError,
)
from meijin.server.match.admission import admit
from meijin.server.match.live.commands import Hello
from meijin.server.settings import Registration
from meijin.store import bots
from meijin.store.access import owners
from meijin.store.access.audit import Facts, actor_name, add_act
from meijin.store.access.owners import OwnerRow
from meijin.store.access.tokens import NewToken, add_token
from meijin.store.bots import BotRecord, EngineRow, VersionRow
from meijin.store.people import is_person_name
from meijin.store.schema import (
    BotId,
    BotState,
    BotVersionId,
    ChallengePolicy,
    OwnerId,
    TokenId,
    TokenKind,
)
from meijin.wire import Capabilities


def bot_of(connection: Connection, caller: Caller, name: str) -> BotRecord:
    """A bot that the caller may manage.

    Raises:
        NotFoundError: there is none of that name; for an owner, or it is somebody else's, in
            the same words.
    """
    if caller.owner_id is None:
        return bots.bot_record(connection, bots.get_bot(connection, name))
    bot_id = bots.find_bot(connection, name)
    found = None if bot_id is None else bots.bot_record(connection, bot_id)
    if found is None or found.owner_id != caller.owner_id:
        raise NotFoundError(f'you have no bot "{name}"')
    return found


def register(
    connection: Connection,
    *,
    caller: Caller,
    policy: Policy,
    name: str,
    owner: str,
    secret: str,
    now: datetime,
    display_name: str = "",
) -> str:
    """Register a bot with its token, and return its owner's name, which may be empty.

    An operator may name an owner, who is made when there is none of that name.

    Raises:
        IntegrityError: the name is taken.
        NotAllowedError: an owner named another.
        QuotaError: the owner has as many bots as it may have.
        RegistrationClosedError: owners register none on this server.
    """
    found = _owner(connection, caller, policy, owner, now)
    owner_id = None if found is None else found.id
    bot_id = bots.add_bot(connection, name, now, owner_id=owner_id, display_name=display_name)
    if caller.owner_id is not None and found is not None:
        _check_quota(found, policy)
    add_bot_token(connection, caller, bot_id, secret, now)
    after = {**_facts(bots.bot_record(connection, bot_id)), "owner": found.name if found else ""}
    add_act(connection, caller.act("register", f"bot {name}", now, after=after))
    return found.name if found else ""


def _owner(
    connection: Connection, caller: Caller, policy: Policy, name: str, now: datetime
) -> OwnerRow | None:
    """Whom a new bot is to belong to."""
    if caller.owner_id is not None:
        return _registering_owner(connection, caller.owner_id, policy, name)
    if not name:
        return None
    owner_id = owners.find_owner(connection, name)
    if owner_id is None:
        owner_id = add_owner(connection, caller, name, None, now)
    return owners.get_owner(connection, owner_id)


def _registering_owner(
    connection: Connection, owner_id: OwnerId, policy: Policy, name: str
) -> OwnerRow:
    """An owner who registers a bot."""
    if policy.registration is Registration.CLOSED:
        raise RegistrationClosedError("operators alone register bots on this server; ask one")
    owner = owners.get_owner(connection, owner_id)
    if name not in {"", owner.name}:
        raise NotAllowedError(f'a bot of yours belongs to "{owner.name}", not to "{name}"')
    return owner


def _check_quota(owner: OwnerRow, policy: Policy) -> None:
    """See that an owner may have one bot more than before."""
    quota = policy.owner_quota if owner.quota is None else owner.quota
    if owner.bots >= quota:
        raise QuotaError(
            f"your bots are {owner.bots} of {quota} that you may have; ask an operator"
        )


def add_owner(
    connection: Connection, caller: Caller, name: str, quota: int | None, now: datetime
) -> OwnerId:
    """Keep a new owner.

    Raises:
        IntegrityError: the name is taken.
    """
    owner_id = owners.add_owner(connection, name, now, quota)
    add_act(connection, caller.act("make", f"owner {name}", now, after={"quota": quota}))
    return owner_id


def add_bot_token(
    connection: Connection, caller: Caller, bot_id: BotId, secret: str, now: datetime
) -> TokenId:
    """Let whoever has a secret play as a bot."""
    creator = str(actor_name(connection, caller.actor.token_id))
    new = NewToken(secret, TokenKind.BOT, bot_id=bot_id, creator=creator)
    return add_token(connection, new, now)


def report_doctor(
    connection: Connection,
    *,
    caller: Caller,
    name: str,
    engine: EngineRow,
    has_passed: bool,
    now: datetime,
) -> tuple[BotId, VersionRow]:
    """Keep whether a version of the caller's own bot has passed the doctor.

    Raises:
        MeijinError: the bot may not play.
    """
    engine = replace(engine, hardware=None)  # it was not there to say
    hello = Hello(name, engine, Capabilities(), resume_session_id="")
    bot = admit(connection, hello=hello, identity=caller.identity, now=now)
    before = bots.version_row(connection, bot.version_id)
    bots.set_doctor_time(connection, bot.version_id, now if has_passed else None)
    after = bots.version_row(connection, bot.version_id)
    facts = [
        {"version": row.label, "passed": row.doctor_time is not None} for row in (before, after)
    ]
    act = caller.act("report the doctor", f"bot {bot.name}", now, before=facts[0], after=facts[1])
    add_act(connection, act)
    return bot.bot_id, after


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
        """Operators alone may ask for it."""
        return self.new_name is not None or self.state is BotState.BANNED


def update(
    connection: Connection,
    *,
    caller: Caller,
    name: str,
    change: BotUpdate,
    paused: Iterable[BotVersionId],
    now: datetime,
) -> tuple[BotRecord, Collection[BotVersionId]]:
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
        bot = _change(connection, caller, action, bot, now, **values)
    if change.is_paused is None:
        return bot, ()
    return bot, _unpause(connection, caller, bot, paused, now)


def _changes(
    caller: Caller, bot: BotRecord, change: BotUpdate
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
    caller: Caller, bot: BotRecord, state: BotState, reason: str
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


def _unpause(
    connection: Connection,
    caller: Caller,
    bot: BotRecord,
    paused: Iterable[BotVersionId],
    now: datetime,
) -> Collection[BotVersionId]:
    labels = bots.labels_of(connection, bot.id, paused)
    if not labels:
        raise WrongStateError(f'"{bot.name}" is not paused')
    before = {"paused": list(labels.values())}
    add_act(connection, caller.act("unpause", f"bot {bot.name}", now, before=before))
    return labels


def _check_unbanned(bot: BotRecord) -> None:
    if bot.state is BotState.BANNED:
        raise WrongStateError(f'"{bot.name}" is banned: {bot.reason}')


def _check_no_person(bot: BotRecord, why: str) -> None:
    if is_person_name(bot.name):
        raise InvalidRequestError(f'name: "{bot.name}" is a person, {why}')


def _change(
    connection: Connection,
    caller: Caller,
    action: str,
    bot: BotRecord,
    now: datetime,
    **values: object,
) -> BotRecord:
    bots.change_bot(connection, bot.id, **values)
    changed = bots.bot_record(connection, bot.id)
    act = caller.act(action, f"bot {bot.name}", now, before=_facts(bot), after=_facts(changed))
    add_act(connection, act)
    return changed


def _facts(bot: BotRecord) -> Facts:
    """What a change of a bot is told by."""
    return {
        "name": bot.name,
        "state": bot.state.value,
        "reason": bot.reason,
        "hidden": bot.is_hidden,
        "challenges": bot.challenges.value,
    }
