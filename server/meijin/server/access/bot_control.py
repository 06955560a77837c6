"""Control of bots: what is decided about them is stored, and takes effect on open streams."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

from sqlalchemy.exc import IntegrityError

from meijin.server.access import bots
from meijin.server.access.caller import Caller
from meijin.server.access.permissions import Policy
from meijin.server.errors import NameTakenError, UnauthenticatedError, invalid_request
from meijin.server.match.admission import refusal
from meijin.server.match.lobby import Lobby
from meijin.server.storage import Storage
from meijin.server.tournaments.scheduler import Scheduler
from meijin.store.access.tokens import new_secret
from meijin.store.bots import BotRecord, EngineRow, VersionRow
from meijin.store.schema import REASON, ChallengePolicy, TokenKind
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
        work = partial(
            bots.register,
            caller=caller,
            policy=self._policy,
            name=name,
            owner=owner,
            secret=secret,
            now=now,
            display_name=display_name,
        )
        try:
            return Registered(await self._storage.write(work), secret, now, display_name)
        except IntegrityError:
            raise _name_taken(name) from None

    async def rotate(self, caller: Caller, name: str) -> str:
        """Replace a bot's tokens by a new one, which is returned."""
        secret = new_secret(TokenKind.BOT.value)
        now = datetime.now(UTC)
        work = partial(bots.rotate, caller=caller, name=name, secret=secret, now=now)
        bot_id = await self._storage.write(work)
        self._lobby.expel(bot_id, UnauthenticatedError("the bot's token was replaced"))
        return secret

    async def report_doctor(
        self, caller: Caller, name: str, engine: EngineRow, *, has_passed: bool
    ) -> VersionRow:
        """Keep whether a version of the caller's own bot has passed the doctor."""
        work = partial(
            bots.report_doctor,
            caller=caller,
            name=name,
            engine=engine,
            has_passed=has_passed,
            now=datetime.now(UTC),
        )
        bot_id, version = await self._storage.write(work)
        self._lobby.set_passed(bot_id, version.id, has_passed=has_passed)
        self._scheduler.bot_changed(bot_id)
        return version

    async def disable(self, caller: Caller, name: str, reason: str) -> BotRecord:
        """Keep a bot away; its open stream is ended."""
        work = partial(bots.disable, caller=caller, name=name, reason=_reason(reason))
        return await self._keep_away(work)

    async def ban(self, caller: Caller, name: str, reason: str) -> BotRecord:
        """Ban a bot; its open stream is ended.

        Raises:
            InvalidRequestError: no reason is given.
        """
        with invalid_request("reason"):
            if not (told := _reason(reason)):
                raise ValueError("say in a sentence why the bot is banned: it is told")
        return await self._keep_away(partial(bots.ban, caller=caller, name=name, reason=told))

    async def _keep_away(self, work: Callable[..., BotRecord]) -> BotRecord:
        bot = await self._storage.write(partial(work, now=datetime.now(UTC)))
        error = refusal(bot)
        assert error is not None
        self._lobby.expel(bot.id, error)
        return bot

    async def enable(self, caller: Caller, name: str) -> BotRecord:
        """Let a disabled bot play again."""
        return await self._write(partial(bots.enable, caller=caller, name=name))

    async def unban(self, caller: Caller, name: str) -> BotRecord:
        """Lift a ban."""
        return await self._write(partial(bots.unban, caller=caller, name=name))

    async def unpause(self, caller: Caller, name: str) -> BotRecord:
        """Lift the pause of a bot that forfeited game after game."""
        paused = [pause.version_id for pause in self._scheduler.pauses.in_force()]
        work = partial(bots.unpause, caller=caller, name=name, paused=paused)
        bot, versions = await self._storage.write(partial(work, now=datetime.now(UTC)))
        self._scheduler.lift_pauses(bot.id, versions)
        return bot

    async def set_hidden(self, caller: Caller, name: str, *, is_hidden: bool) -> BotRecord:
        """Leave a bot out of lists and tables, or show it there again."""
        work = partial(bots.set_hidden, caller=caller, name=name, is_hidden=is_hidden)
        bot = await self._write(work)
        self._lobby.set_hidden(bot.id, is_hidden=bot.is_hidden)
        return bot

    async def set_challenges(
        self, caller: Caller, name: str, policy: ChallengePolicy
    ) -> ChallengePolicy:
        """Change whose challenges a bot accepts; those that run go on."""
        work = partial(bots.set_challenges, caller=caller, name=name, policy=policy)
        return (await self._write(work)).challenges

    async def rename(self, caller: Caller, name: str, new_name: str) -> BotRecord:
        """Give a bot another name; its games go on."""
        with invalid_request("new_name"):
            check_bot_name(new_name)
        try:
            work = partial(bots.rename, caller=caller, name=name, new_name=new_name)
            bot = await self._write(work)
        except IntegrityError:
            raise _name_taken(new_name) from None
        self._lobby.rename(bot.id, bot.name)
        return bot

    async def _write(self, work: Callable[..., BotRecord]) -> BotRecord:
        return await self._storage.write(partial(work, now=datetime.now(UTC)))


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
