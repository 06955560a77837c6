"""Webhooks: made, enabled, given new secrets, tested and deleted by those whose they are."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Protocol, TypeVar

from sqlalchemy import Connection

from meijin.server.access.bots import bot_of
from meijin.server.access.caller import Caller
from meijin.server.errors import (
    BusyError,
    InvalidRequestError,
    QuotaError,
    WrongStateError,
    invalid_request,
)
from meijin.server.storage import Storage
from meijin.server.webhooks.dispatch import MAX_WAITING, sources_of
from meijin.server.webhooks.lookups import Lookups
from meijin.server.webhooks.signature import new_message_id, new_secret
from meijin.server.webhooks.targets import Reach, parse_url
from meijin.store.access.audit import Facts, add_act
from meijin.store.ladders.ladders import get_ladder
from meijin.store.schema import (
    WEBHOOK_URL,
    DeliveryId,
    OwnerId,
    TournamentId,
    WebhookEvent,
    WebhookFormat,
    WebhookId,
)
from meijin.store.tournaments import get_tournament
from meijin.store.webhooks import deliveries, hooks
from meijin.store.webhooks.cursors import begin_now
from meijin.store.webhooks.deliveries import DeliveryRow, NewDelivery
from meijin.store.webhooks.events import SOURCES
from meijin.store.webhooks.hooks import NewWebhook, WebhookRow

MAX_WEBHOOKS = 200
"""Of a server."""

MAX_WEBHOOKS_OF_OWNER = 10

OLD_SECRET_TIME = timedelta(days=1)
"""How long deliveries are signed with a secret that was replaced, too."""


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """A webhook that is asked for."""

    url: str
    format: WebhookFormat
    events: Sequence[WebhookEvent]
    """All that there may be when empty."""
    bot: str = ""
    """Empty for no such bound; so the two below."""
    tournament_id: TournamentId | None = None
    ladder: str = ""


T_co = TypeVar("T_co", covariant=True)


class _Work(Protocol[T_co]):
    """A change at some time."""

    def __call__(self, connection: Connection, *, now: datetime) -> T_co:
        """What is there after it."""


class WebhookControl:
    """Webhooks, made and changed.

    Args:
        reach: Where those of the operators may send; ``None`` on a server that sends none.
        wake: Has what waits be looked at.
    """

    def __init__(self, storage: Storage, reach: Reach | None, wake: Callable[[], None]) -> None:
        self._storage = storage
        self._own_reach = reach
        self._wake = wake
        self._lookups = Lookups()

    async def create(self, caller: Caller, request: WebhookRequest) -> tuple[WebhookRow, str]:
        """Make a webhook, and return it with its secret.

        Raises:
            InvalidRequestError: nothing may be sent there, or the events don't go with the bounds.
            NotFoundError: there is no such bot, tournament or ladder, or the bot is another's.
            QuotaError: there are as many webhooks as may be.
            BusyError: too many are being made.
        """
        _check_events(request)
        await self._check_url(caller, request.url)
        secret = new_secret()
        work = partial(_create, caller=caller, request=request, secret=secret)
        return await self._write(work), secret

    async def delete(self, caller: Caller, webhook_id: WebhookId) -> WebhookRow:
        """Delete a webhook with its deliveries."""
        return await self._write(partial(_delete, caller=caller, webhook_id=webhook_id))

    async def enable(self, caller: Caller, webhook_id: WebhookId) -> WebhookRow:
        """Have a disabled webhook send again, of what happens from now on and what waited."""
        return await self._write(partial(_enable, caller=caller, webhook_id=webhook_id))

    async def rotate(self, caller: Caller, webhook_id: WebhookId) -> tuple[WebhookRow, str]:
        """Replace the secret of a webhook, and return it with the new one."""
        secret = new_secret()
        work = partial(_rotate, caller=caller, webhook_id=webhook_id, secret=secret)
        return await self._write(work), secret

    async def test(self, caller: Caller, webhook_id: WebhookId) -> DeliveryRow:
        """Send a test, and return it as it waits."""
        return await self._write(partial(_test, caller=caller, webhook_id=webhook_id))

    async def redeliver(self, caller: Caller, delivery_id: DeliveryId) -> DeliveryRow:
        """Send a delivery again, and return it as it waits."""
        return await self._write(partial(_redeliver, caller=caller, delivery_id=delivery_id))

    async def _write(self, work: _Work[T_co]) -> T_co:
        """Run work at the present time, if webhooks are sent at all."""
        self._reach()
        result = await self._storage.write(work, now=datetime.now(UTC))
        self._wake()
        return result

    def _reach(self) -> Reach:
        """Where the operators' may send, once it is known that webhooks are sent at all."""
        if self._own_reach is None:
            raise WrongStateError(
                "this server sends no webhooks; its operator may set MEIJIN_WEBHOOKS=true"
            )
        return self._own_reach

    async def _check_url(self, caller: Caller, text: str) -> None:
        """Accept where a webhook is to send; it is looked at again at every try."""
        reach = self._reach()
        if caller.owner_id is not None:
            reach = Reach()
        with invalid_request("url"):
            if len(text) > WEBHOOK_URL:
                raise ValueError(f"it is longer than {WEBHOOK_URL} characters")
            url = parse_url(text)
            reach.check(url)
            if url.literal is None:
                await self._lookups.check(reach, url)


def _check_events(request: WebhookRequest) -> None:
    for event in request.events:
        if event not in SOURCES:
            raise InvalidRequestError(f"no webhook can be told of {event.value} alone")
    if request.bot and WebhookEvent.LADDER_PUBLISHED in request.events:
        raise InvalidRequestError(
            "ladder.published is about no bot; leave out either that event or the bot"
        )


def _create(
    connection: Connection,
    *,
    caller: Caller,
    request: WebhookRequest,
    secret: str,
    now: datetime,
) -> WebhookRow:
    _check_quota(connection, caller.owner_id)
    events = [event.value for event in request.events or _all_events(request)]
    tournament_id, ladder = request.tournament_id, request.ladder
    new = NewWebhook(
        request.url,
        request.format,
        events,
        secret,
        owner_id=caller.owner_id,
        bot_id=bot_of(connection, caller, request.bot).id if request.bot else None,
        tournament_id=get_tournament(connection, tournament_id).id if tournament_id else None,
        ladder_id=get_ladder(connection, ladder) if ladder else None,
    )
    webhook_id = hooks.add_webhook(connection, new, now)
    begin_now(connection, webhook_id, sources_of(events))
    row = hooks.get_webhook(connection, webhook_id)
    add_act(connection, caller.act("make", f"webhook {row.id}", now, after=_facts(row)))
    return row


def _all_events(request: WebhookRequest) -> Sequence[WebhookEvent]:
    """Every event that may be told, given what it is bound to."""
    return [
        event for event in SOURCES if event is not WebhookEvent.LADDER_PUBLISHED or not request.bot
    ]


def _check_quota(connection: Connection, owner_id: OwnerId | None) -> None:
    if hooks.count_webhooks(connection) >= MAX_WEBHOOKS:
        raise QuotaError(f"this server has {MAX_WEBHOOKS} webhooks, the most; delete one")
    if owner_id is not None and hooks.count_webhooks(connection, owner_id) >= MAX_WEBHOOKS_OF_OWNER:
        raise QuotaError(f"you have {MAX_WEBHOOKS_OF_OWNER} webhooks, the most; delete one")


def _delete(
    connection: Connection, *, caller: Caller, webhook_id: WebhookId, now: datetime
) -> WebhookRow:
    row = hooks.get_webhook(connection, webhook_id, caller.owner_id)
    hooks.delete_webhook(connection, row.id)
    add_act(connection, caller.act("delete", f"webhook {row.id}", now, before=_facts(row)))
    return row


def _enable(
    connection: Connection, *, caller: Caller, webhook_id: WebhookId, now: datetime
) -> WebhookRow:
    row = hooks.get_webhook(connection, webhook_id, caller.owner_id)
    if row.is_enabled:
        raise WrongStateError(f"webhook {row.id} is enabled already")
    hooks.enable_webhook(connection, row.id)
    begin_now(connection, row.id, sources_of(row.events))
    after = hooks.get_webhook(connection, row.id)
    act = caller.act("enable", f"webhook {row.id}", now, before=_facts(row), after=_facts(after))
    add_act(connection, act)
    return after


def _rotate(
    connection: Connection, *, caller: Caller, webhook_id: WebhookId, secret: str, now: datetime
) -> WebhookRow:
    row = hooks.get_webhook(connection, webhook_id, caller.owner_id)
    hooks.replace_secret(connection, row.id, secret, now + OLD_SECRET_TIME)
    add_act(connection, caller.act("rotate the secret", f"webhook {row.id}", now))
    return row


def _test(
    connection: Connection, *, caller: Caller, webhook_id: WebhookId, now: datetime
) -> DeliveryRow:
    row = hooks.get_webhook(connection, webhook_id, caller.owner_id)
    _check_sends(connection, row)
    add_act(connection, caller.act("test", f"webhook {row.id}", now))
    new = NewDelivery(row.id, new_message_id(), WebhookEvent.WEBHOOK_TEST, row.id, now)
    return deliveries.get_delivery(connection, deliveries.add_delivery(connection, new))


def _redeliver(
    connection: Connection, *, caller: Caller, delivery_id: DeliveryId, now: datetime
) -> DeliveryRow:
    delivery = deliveries.get_delivery(connection, delivery_id, caller.owner_id)
    _check_sends(connection, hooks.get_webhook(connection, delivery.webhook_id))
    subject = f"delivery {delivery.id} of webhook {delivery.webhook_id}"
    add_act(connection, caller.act("redeliver", subject, now))
    deliveries.redeliver(connection, delivery.id, now)
    return deliveries.get_delivery(connection, delivery.id)


def _check_sends(connection: Connection, hook: WebhookRow) -> None:
    if not hook.is_enabled:
        raise WrongStateError(
            f"webhook {hook.id} is disabled: {hook.disable_reason}; enable it first"
        )
    if deliveries.count_waiting(connection, hook.id) >= MAX_WAITING:
        raise BusyError(f"{MAX_WAITING} deliveries wait for webhook {hook.id}; come back later")


def _facts(hook: WebhookRow) -> Facts:
    """What a change of a webhook is told by: not its URL, whose path may be a secret."""
    return {
        "host": parse_url(hook.url).host,
        "format": hook.format.value,
        "events": hook.events,
        "disable_reason": hook.disable_reason,
    }
