"""What owners and operators do to bots, in the transaction of the change."""

from collections.abc import Collection, Iterable
from dataclasses import replace
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
from meijin.server.match.commands import Hello
from meijin.server.settings import Registration
from meijin.store import bots
from meijin.store.access import owners
from meijin.store.access.audit import Facts, actor_name, add_act
from meijin.store.access.owners import OwnerRow
from meijin.store.access.tokens import NewToken, add_token, revoke_tokens_of
from meijin.store.bots import BotRecord, EngineRow, VersionRow
from meijin.store.people import is_person_name
from meijin.store.schema import (
    BotId,
    BotState,
    BotVersionId,
    ChallengePolicy,
    OwnerId,
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


def rotate(
    connection: Connection, *, caller: Caller, name: str, secret: str, now: datetime
) -> BotId:
    """Replace all tokens of a bot by a new one; without it nobody plays as the bot."""
    bot = bot_of(connection, caller, name)
    if is_person_name(bot.name):
        raise InvalidRequestError(f'name: "{bot.name}" is a person; revoke its token instead')
    bots.change_bot(connection, bot.id, is_open=False)
    revoke_tokens_of(connection, bot.id, now)
    add_bot_token(connection, caller, bot.id, secret, now)
    add_act(connection, caller.act("rotate tokens", f"bot {name}", now))
    return bot.id


def add_bot_token(
    connection: Connection, caller: Caller, bot_id: BotId, secret: str, now: datetime
) -> None:
    """Let whoever has a secret play as a bot."""
    creator = str(actor_name(connection, caller.actor.token_id))
    new = NewToken(secret, TokenKind.BOT, bot_id=bot_id, creator=creator)
    add_token(connection, new, now)


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


def disable(
    connection: Connection, *, caller: Caller, name: str, reason: str, now: datetime
) -> BotRecord:
    """Keep a bot away until it is enabled."""
    bot = _unbanned(connection, caller, name)
    values = {"state": BotState.DISABLED, "reason": reason}
    return _change(connection, caller, "disable", bot, now, **values)


def enable(connection: Connection, *, caller: Caller, name: str, now: datetime) -> BotRecord:
    """Let a disabled bot play again."""
    bot = _unbanned(connection, caller, name)
    return _change(connection, caller, "enable", bot, now, state=BotState.ACTIVE, reason="")


def set_hidden(
    connection: Connection, *, caller: Caller, name: str, is_hidden: bool, now: datetime
) -> BotRecord:
    """Leave a bot out of lists and tables, or show it there again."""
    bot = _unbanned(connection, caller, name)
    action = "hide" if is_hidden else "show"
    return _change(connection, caller, action, bot, now, is_hidden=is_hidden)


def set_challenges(
    connection: Connection, *, caller: Caller, name: str, policy: ChallengePolicy, now: datetime
) -> BotRecord:
    """Change whose challenges a bot accepts."""
    bot = bot_of(connection, caller, name)
    if is_person_name(bot.name):
        raise InvalidRequestError(f'name: "{bot.name}" is a person, whom nobody challenges')
    return _change(connection, caller, "set challenges", bot, now, challenges=policy)


def ban(
    connection: Connection, *, caller: Caller, name: str, reason: str, now: datetime
) -> BotRecord:
    """Keep a bot away until an operator lifts it."""
    bot = bot_of(connection, caller, name)
    values = {"state": BotState.BANNED, "reason": reason}
    return _change(connection, caller, "ban", bot, now, **values)


def unban(connection: Connection, *, caller: Caller, name: str, now: datetime) -> BotRecord:
    """Lift a ban.

    Raises:
        WrongStateError: the bot is not banned.
    """
    bot = bot_of(connection, caller, name)
    if bot.state is not BotState.BANNED:
        raise WrongStateError(f'"{name}" is not banned, but {bot.state.value}')
    return _change(connection, caller, "unban", bot, now, state=BotState.ACTIVE, reason="")


def unpause(
    connection: Connection,
    *,
    caller: Caller,
    name: str,
    paused: Iterable[BotVersionId],
    now: datetime,
) -> tuple[BotRecord, Collection[BotVersionId]]:
    """Keep that a bot's pause is lifted, and tell which of the `paused` versions are its own.

    Raises:
        WrongStateError: none is.
    """
    bot = bot_of(connection, caller, name)
    labels = bots.labels_of(connection, bot.id, paused)
    if not labels:
        raise WrongStateError(f'"{name}" is not paused')
    before = {"paused": list(labels.values())}
    add_act(connection, caller.act("unpause", f"bot {name}", now, before=before))
    return bot, labels


def rename(
    connection: Connection, *, caller: Caller, name: str, new_name: str, now: datetime
) -> BotRecord:
    """Give a bot another name; its process may go on introducing itself by the old one.

    Raises:
        IntegrityError: the name is taken.
        WrongStateError: the bot has no token, and is known by its name alone.
    """
    bot = bot_of(connection, caller, name)
    if is_person_name(bot.name):
        raise InvalidRequestError(f'name: "{bot.name}" is a person, and stays to be told from bots')
    if bot.is_open:
        raise WrongStateError(f'"{name}" is known by its name alone; rotate its token first')
    former = [each for each in (*bot.former_names, name) if each != new_name]
    return _change(connection, caller, "rename", bot, now, name=new_name, former_names=former)


def _unbanned(connection: Connection, caller: Caller, name: str) -> BotRecord:
    """A bot that the caller may manage, and that no operator has banned.

    Raises:
        WrongStateError: one has.
    """
    bot = bot_of(connection, caller, name)
    if bot.state is BotState.BANNED:
        raise WrongStateError(f'"{name}" is banned: {bot.reason}')
    return bot


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
