"""Webhooks of whoever is signed in: listed, made, tested, and what was delivered to them."""

from collections.abc import Callable, Sequence
from datetime import UTC
from functools import partial
from http import HTTPStatus
from typing import Any

from grpc.aio import AioRpcError

from meijin.v1 import webhook_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.forms import button, offered_bots
from meijin.web.labels import by_word
from meijin.web.pages.ladders.reading import ladder_names
from meijin.web.refusals import not_found, refusal_of
from meijin.web.request import Form, PageRequest, Private
from meijin.web.wording import text

LIST = "/webhooks"

ONE = f"{LIST}/{{webhook_id}}"

MAX_SHOWN = 1000
"""Webhooks on the page; a server has fewer."""

DELIVERIES = 50
"""On a page."""

EVENTS = {
    word.replace("_", "."): value
    for word, value in by_word(pb.WebhookEvent).items()
    if value != pb.WEBHOOK_EVENT_WEBHOOK_TEST
}
FORMATS = by_word(pb.WebhookFormat)

BOUNDS = {"bot": "bot", "tournament": "tournament_id", "ladder": "ladder"}
"""What a webhook may be bound to: fields of the form, and of the contract."""


async def show_list(request: PageRequest) -> LazyPage:
    """Show the webhooks that are the visitor's, and a form for another."""
    return await _list(request, pb.CreateWebhookRequest(format=next(iter(FORMATS.values()))))


async def _list(
    request: PageRequest,
    asked: pb.CreateWebhookRequest,
    refused: str = "",
    status: HTTPStatus = HTTPStatus.OK,
) -> LazyPage:
    return request.page(
        "webhooks.html",
        status=status,
        webhooks=await _webhooks(request),
        refused=refused,
        asked=asked,
        events=EVENTS,
        formats=FORMATS,
        bots=[bot.name for bot in await offered_bots(request.services)],
        ladders=await ladder_names(request.services),
        bounds_of=partial(bounds_of, request.site.names.shown),
        state_of=state_of,
    )


async def make(request: PageRequest) -> LazyPage:
    """Make a webhook and show its secret, or say why that can't be."""
    form = await request.form()
    bounds: dict[str, Any] = {
        field: str(form.get(name, "")).strip() for name, field in BOUNDS.items()
    }
    asked = pb.CreateWebhookRequest(
        url=str(form.get("url", "")).strip(),
        format=FORMATS.get(str(form.get("format")), next(iter(FORMATS.values()))),
        events=[EVENTS[event] for event in map(str, form.getlist("event")) if event in EVENTS],
        **bounds,
    )
    try:
        made = await request.services.webhooks.CreateWebhook(asked)
    except AioRpcError as error:
        refusal = refusal_of(error)
        if refusal.status is HTTPStatus.UNAUTHORIZED:
            raise
        return await _list(request, asked, str(refusal), refusal.status)
    return await _one(request, made.webhook.webhook_id, secret=made.secret)


async def show(request: PageRequest) -> LazyPage:
    return await _one(request, request.path["webhook_id"])


async def rotate(request: PageRequest) -> LazyPage:
    """Replace the secret of a webhook and show the new one."""
    asked = pb.UpdateWebhookRequest(webhook_id=request.path["webhook_id"], new_secret=True)
    rotated = await request.services.webhooks.UpdateWebhook(asked)
    return await _one(request, rotated.webhook.webhook_id, secret=rotated.secret)


async def _one(request: PageRequest, webhook_id: str, *, secret: str = "") -> LazyPage:
    found = [each for each in await _webhooks(request) if each.webhook_id == webhook_id]
    if not found:
        raise not_found(text("webhooks.no_such", id=webhook_id))
    return await request.list_page(
        "webhook.html",
        request.services.webhooks.ListDeliveries,
        pb.ListDeliveriesRequest(webhook_id=webhook_id, page_size=DELIVERIES),
        webhook=found[0],
        secret=secret,
        bounds_of=partial(bounds_of, request.site.names.shown),
        state_of=state_of,
    )


async def _webhooks(request: PageRequest) -> Sequence[pb.Webhook]:
    asked = pb.ListWebhooksRequest(page_size=MAX_SHOWN)
    return (await request.services.webhooks.ListWebhooks(asked)).webhooks


def bounds_of(shown: Callable[[str], str], webhook: pb.Webhook) -> list[str]:
    bounds = {name: getattr(webhook, field) for name, field in BOUNDS.items()}
    bounds["bot"] = shown(webhook.bot)
    return [text(f"webhooks.bound_{name}", name=bound) for name, bound in bounds.items() if bound]


def state_of(webhook: pb.Webhook) -> str:
    """Whether a webhook works, in words."""
    if webhook.disable_reason:
        return text("webhooks.disabled", reason=webhook.disable_reason)
    if webhook.HasField("failing_since"):
        since = webhook.failing_since.ToDatetime(UTC)
        return text("webhooks.failing", time=f"{since:%Y-%m-%d %H:%M UTC}")
    return text("webhooks.enabled")


ROUTES = (
    Private(LIST, show_list),
    Form(LIST, make),
    Private(ONE, show),
    Form(f"{ONE}/rotate", rotate),
    button(f"{ONE}/test", pb.SendDeliveryRequest, ONE),
    button(f"{ONE}/enable", pb.UpdateWebhookRequest, ONE, enabled=True),
    button(f"{ONE}/delete", pb.DeleteWebhookRequest, LIST),
    button(
        f"{LIST}/{{webhook}}/deliveries/{{delivery_id}}",
        pb.SendDeliveryRequest,
        f"{LIST}/{{webhook}}",
    ),
)
