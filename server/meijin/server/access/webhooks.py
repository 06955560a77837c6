"""Webhooks: made, enabled, given new secrets, tested and deleted by those whose they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

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
from meijin.server.webhooks.dispatch import MAX_WAITING, new_delivery, sources_of
from meijin.server.webhooks.egress import EgressPolicy, Lookups, parse_url
from meijin.store.access.audit import Facts
from meijin.store.ladders.ladders import get_ladder
from meijin.store.rows import add_row
from meijin.store.schema import (
    WEBHOOK_URL,
    DeliveryId,
    OwnerId,
    TournamentId,
    Webhook,
    WebhookDelivery,
    WebhookEvent,
    WebhookFormat,
    WebhookId,
)
from meijin.store.tournaments import get_tournament
from meijin.store.webhooks import deliveries, hooks
from meijin.store.webhooks.cursors import begin_now
from meijin.store.webhooks.events import SOURCES
from meijin.store.webhooks.hooks import WebhookRow

MAX_WEBHOOKS = 200
"""Of a server."""

MAX_WEBHOOKS_OF_OWNER = 10

OLD_SECRET_TIME = timedelta(days=1)
"""How long deliveries are signed with a secret that was replaced, too."""


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    url: str
    events: tuple[WebhookEvent, ...]
    """All that there may be when empty."""
    bot: str
    """Empty for no such bound; so the two below."""
    tournament_id: TournamentId | None
    ladder: str
    format: WebhookFormat = WebhookFormat.STANDARD

    def check_events(self) -> None:
        """Accept what it is to be told of.

        Raises:
            InvalidRequestError: the events don't go with the bounds.
        """
        for event in self.events:
            if event not in SOURCES:
                raise InvalidRequestError(f"no webhook can be told of {event.value} alone")
        if self.bot and WebhookEvent.LADDER_PUBLISHED in self.events:
            raise InvalidRequestError(
                "ladder.published is about no bot; leave out either that event or the bot"
            )

    @property
    def told_events(self) -> Sequence[str]:
        """Each event once; where none is asked for, every one that goes with the bounds."""
        every = [each for each in SOURCES if each is not WebhookEvent.LADDER_PUBLISHED]
        usual = every if self.bot else SOURCES
        return [event.value for event in dict.fromkeys(self.events or usual)]


async def check_url(policy: EgressPolicy, lookups: Lookups, text: str) -> None:
    """Accept where a webhook is to send; it is looked at again at every try.

    Raises:
        BusyError: too many are being made.
        InvalidRequestError: nothing may be sent there.
    """
    with invalid_request("url"):
        if len(text) > WEBHOOK_URL:
            raise ValueError(f"it is longer than {WEBHOOK_URL} characters")
        url = parse_url(text)
        policy.check(url)
        if url.literal is None:
            await lookups.check(policy, url)


def create(
    connection: Connection, caller: Caller, request: WebhookRequest, secret: str
) -> WebhookRow:
    """Make a webhook.

    Raises:
        NotFoundError: there is no such bot, tournament or ladder, or the bot is another's.
        QuotaError: there are as many webhooks as may be.
    """
    _check_quota(connection, caller.owner_id)
    tournament_id, ladder, events = request.tournament_id, request.ladder, request.told_events
    new = Webhook(
        url=request.url,
        format=request.format,
        events=list(events),
        secret=secret,
        create_time=caller.time,
        owner_id=caller.owner_id,
        bot_id=bot_of(connection, caller, request.bot).id if request.bot else None,
        tournament_id=get_tournament(connection, tournament_id).id if tournament_id else None,
        ladder_id=get_ladder(connection, ladder) if ladder else None,
    )
    webhook_id = add_row(connection, new).id
    begin_now(connection, webhook_id, sources_of(events))
    row = hooks.get_webhook(connection, webhook_id)
    caller.note(connection, "make", f"webhook {row.id}", after=_facts(row))
    return row


def _check_quota(connection: Connection, owner_id: OwnerId | None) -> None:
    if hooks.count_webhooks(connection) >= MAX_WEBHOOKS:
        raise QuotaError(f"this server has {MAX_WEBHOOKS} webhooks, the most; delete one")
    if owner_id is not None and hooks.count_webhooks(connection, owner_id) >= MAX_WEBHOOKS_OF_OWNER:
        raise QuotaError(f"you have {MAX_WEBHOOKS_OF_OWNER} webhooks, the most; delete one")


def delete(connection: Connection, caller: Caller, webhook_id: WebhookId) -> WebhookRow:
    row = hooks.get_webhook(connection, webhook_id, caller.owner_id)
    hooks.delete_webhook(connection, row.id)
    caller.note(connection, "delete", f"webhook {row.id}", before=_facts(row))
    return row


def update(
    connection: Connection,
    caller: Caller,
    webhook_id: WebhookId,
    *,
    new_secret: str,
    is_enabled: bool,
) -> WebhookRow:
    """Change a webhook.

    Args:
        new_secret: Takes the place of the old one; empty for none.
        is_enabled: A disabled one sends again, of what happens from now on and what waited.

    Raises:
        WrongStateError: it is enabled already.
    """
    row = hooks.get_webhook(connection, webhook_id, caller.owner_id)
    subject = f"webhook {row.id}"
    if new_secret:
        hooks.replace_secret(connection, row.id, new_secret, caller.time + OLD_SECRET_TIME)
        caller.note(connection, "rotate the secret", subject)
    if not is_enabled:
        return row
    if row.is_enabled:
        raise WrongStateError(f"webhook {row.id} is enabled already")
    hooks.enable_webhook(connection, row.id)
    begin_now(connection, row.id, sources_of(row.events))
    after = hooks.get_webhook(connection, row.id)
    caller.note(connection, "enable", subject, before=_facts(row), after=_facts(after))
    return after


def send_test(connection: Connection, caller: Caller, webhook_id: WebhookId) -> WebhookDelivery:
    """Have a test be sent, and return it as it waits."""
    row = hooks.get_webhook(connection, webhook_id, caller.owner_id)
    _check_sends(connection, row)
    caller.note(connection, "test", f"webhook {row.id}")
    new = new_delivery(row.id, WebhookEvent.WEBHOOK_TEST, row.id, caller.time)
    return deliveries.add_delivery(connection, new)


def redeliver(connection: Connection, caller: Caller, delivery_id: DeliveryId) -> WebhookDelivery:
    """Have a delivery be sent again, and return it as it waits."""
    delivery = deliveries.get_delivery(connection, delivery_id, caller.owner_id)
    _check_sends(connection, hooks.get_webhook(connection, delivery.webhook_id))
    subject = f"delivery {delivery.id} of webhook {delivery.webhook_id}"
    caller.note(connection, "redeliver", subject)
    deliveries.redeliver(connection, delivery.id, caller.time)
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
