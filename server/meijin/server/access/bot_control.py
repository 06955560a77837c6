"""Control of bots: what is decided about them is stored, and takes effect on open streams."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import NamedTuple

from sqlalchemy.exc import IntegrityError

from meijin.server.access import bots
from meijin.server.access.bots import BotUpdate
from meijin.server.access.caller import Caller
from meijin.server.access.permissions import Permission, Policy
from meijin.server.errors import (
    InvalidRequestError,
    NameTakenError,
    invalid_request,
)
from meijin.server.match.admission import refusal
from meijin.server.match.lobby import Lobby
from meijin.server.storage import Storage
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store.access.tokens import new_secret
from meijin.store.bots import BotRecord, EngineRow, VersionRow
from meijin.store.schema import REASON, BotState, TokenKind
from meijin.wire.contract import check_bot_name
from meijin.wire.display_name import check_display_name
from meijin.wire.text import plain_text


class Registered(NamedTuple):
    """A new bot's facts that the server has decided."""

    owner: str
    """May be empty."""
    token: str
    time: datetime
    display_name: str
    """As it is kept; may be empty."""


class BotControl:
    """Bots, registered and changed."""

    def __init__(
        self, storage: Storage, lobby: Lobby, scheduler: Scheduler, policy: Policy
    ) -> None:
        self._storage = storage
        self._lobby = lobby
        self._scheduler = scheduler
        self._policy = policy

    async def register(
        self, caller: Caller, name: str, owner: str, display_name: str = ""
    ) -> Registered:
        """Register a bot."""
        with invalid_request():
            check_bot_name(name)
            if owner:
                check_bot_name(owner)
            if display_name:
                display_name = check_display_name(display_name)
        secret, now = new_secret(TokenKind.BOT.value), datetime.now(UTC)
        try:
            kept = await self._storage.write(
                bots.register,
                caller=caller,
                policy=self._policy,
                name=name,
                owner=owner,
                secret=secret,
                now=now,
                display_name=display_name,
            )
        except IntegrityError:
            raise _name_taken(name) from None
        return Registered(kept, secret, now, display_name)

    async def report_doctor(
        self, caller: Caller, name: str, engine: EngineRow, *, has_passed: bool
    ) -> VersionRow:
        """Keep whether a version of the caller's own bot has passed the doctor."""
        bot_id, version = await self._storage.write(
            bots.report_doctor,
            caller=caller,
            name=name,
            engine=engine,
            has_passed=has_passed,
            now=datetime.now(UTC),
        )
        self._lobby.set_passed(bot_id, version.id, has_passed=has_passed)
        self._scheduler.bot_changed(bot_id)
        return version

    async def update(self, caller: Caller, name: str, change: BotUpdate) -> BotRecord:
        """Change a bot; the open stream of one that may not play is ended.

        Raises:
            InvalidRequestError: nothing is to change, or a ban has no reason.
            NotAllowedError: operators alone may ask for it.
            NameTakenError: another bot has the new name.
        """
        if change.is_operators:
            self._policy.check(Permission.OPERATOR, caller.identity)
        _check(change)
        change = replace(change, reason=_reason(change.reason))
        paused = [pause.version_id for pause in self._scheduler.pauses.in_force()]
        try:
            bot, lifted = await self._storage.write(
                bots.update,
                caller=caller,
                name=name,
                change=change,
                paused=paused,
                now=datetime.now(UTC),
            )
        except IntegrityError:
            raise _name_taken(change.new_name or name) from None
        self._take_effect(bot, change)
        if lifted:
            self._scheduler.lift_pauses(bot.id, lifted)
        return bot

    def _take_effect(self, bot: BotRecord, change: BotUpdate) -> None:
        if change.state is not None and (error := refusal(bot)) is not None:
            self._lobby.expel(bot.id, error)
        if change.is_hidden is not None:
            self._lobby.set_hidden(bot.id, is_hidden=bot.is_hidden)
        if change.new_name is not None:
            self._lobby.rename(bot.id, bot.name)


def _check(change: BotUpdate) -> None:
    if change == BotUpdate(reason=change.reason):
        raise InvalidRequestError("say what of the bot is to change")
    if change.is_paused:
        raise InvalidRequestError("paused: a pause can be lifted alone; disable the bot instead")
    if change.new_name is not None:
        with invalid_request("new_name"):
            check_bot_name(change.new_name)
    if change.state is BotState.BANNED and not plain_text(change.reason).strip():
        raise InvalidRequestError("reason: say in a sentence why the bot is banned: it is told")


def _reason(text: str) -> str:
    """A reason as it is kept.

    Raises:
        InvalidRequestError: it is too long.
    """
    reason = plain_text(text).strip()
    with invalid_request("reason"):
        if len(reason) > REASON:
            raise ValueError(f"it is longer than {REASON} characters")
    return reason


def _name_taken(name: str) -> NameTakenError:
    return NameTakenError(f'a bot "{name}" exists; take another name')
