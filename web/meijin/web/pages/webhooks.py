"""Webhooks of whoever is signed in: listed, made, tested, and what was delivered to them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from http import HTTPStatus

from grpc.aio import AioRpcError
from starlette.responses import Response

from meijin.v1 import webhook_service_pb2 as pb
from meijin.web.refusals import not_found, refusal_of
from meijin.web.routes import Form, Private
from meijin.web.visit import Visit, see_other
from meijin.web.wording import text

LIST = "/webhooks"

MAX_SHOWN = 1000
"""Webhooks on the page; a server has fewer."""

DELIVERIES = 50
"""On a page."""

EVENTS = tuple(
    name.removeprefix("WEBHOOK_EVENT_").lower().replace("_", ".")
    for name in pb.WebhookEvent.keys()[1:]
    if name != "WEBHOOK_EVENT_WEBHOOK_TEST"
)
FORMATS = tuple(
    name.removeprefix("WEBHOOK_FORMAT_").lower() for name in pb.WebhookFormat.keys()[1:]
)

SUBJECTS = {
    pb.WEBHOOK_EVENT_GAME_ENDED: "/games/",
    pb.WEBHOOK_EVENT_TOURNAMENT_ENDED: "/tournaments/",
}
"""Where the pages are of what events are about."""


@dataclass(frozen=True, slots=True)
class WebhookView:
    """A webhook."""

    id: str
    url: str
    format: str
    events: tuple[str, ...]
    bounds: tuple[str, ...]
    """What it is bound to."""
    owner: str
    """Empty for one of the operators'."""
    state: str
    is_enabled: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """What a form asked for."""

    url: str = ""
    format: str = FORMATS[0]
    events: tuple[str, ...] = ()
    bot: str = ""
    tournament: str = ""
    ladder: str = ""


@dataclass(frozen=True, slots=True)
class WebhooksView:
    """The list, and the form for another."""

    webhooks: tuple[WebhookView, ...]
    refused: str = ""
    """Why the last form was refused."""
    asked: Asked = field(default_factory=Asked)
    events: tuple[str, ...] = EVENTS
    formats: tuple[str, ...] = FORMATS


@dataclass(frozen=True, slots=True)
class DeliveryView:
    """A delivery."""

    id: str
    event: str
    subject: str
    link: str
    """To the page of what it is about; empty where there is none."""
    time: datetime
    state: str
    attempts: int
    detail: str
    next_time: datetime | None


@dataclass(frozen=True, slots=True)
class WebhookPage:
    """One webhook, with its deliveries."""

    webhook: WebhookView
    verbs: tuple[str, ...]
    """What may be done with it."""
    deliveries: tuple[DeliveryView, ...]
    older: str = ""
    """The address of the next page; empty on the last."""
    secret: str = ""
    """Where it is new."""


async def show_list(visit: Visit) -> Response:
    """Show the webhooks that are the visitor's."""
    return await _list(visit)


async def show_one(visit: Visit) -> Response:
    """Show a webhook with its deliveries."""
    return await _one(visit, visit.place("webhook_id"))


async def make(visit: Visit) -> Response:
    """Make a webhook and show its secret, or say why that can't be."""
    form = await visit.form()
    fields = {name: str(form.get(name, "")).strip() for name in ("bot", "tournament", "ladder")}
    asked = Asked(
        str(form.get("url", "")).strip(),
        next((name for name in FORMATS if name == form.get("format")), FORMATS[0]),
        tuple(event for event in map(str, form.getlist("event")) if event in EVENTS),
        **fields,
    )
    try:
        made = await visit.services.webhooks.CreateWebhook(_request(asked))
    except AioRpcError as error:
        refusal = refusal_of(error)
        if refusal.status is HTTPStatus.UNAUTHORIZED:
            raise
        return await _list(visit, asked, str(refusal), refusal.status)
    return await _one(visit, made.webhook.webhook_id, secret=made.secret)


async def test(visit: Visit) -> Response:
    """Send a test."""
    webhook_id = visit.place("webhook_id")
    await visit.services.webhooks.SendTest(pb.SendTestRequest(webhook_id=webhook_id))
    return see_other(f"{LIST}/{webhook_id}")


async def enable(visit: Visit) -> Response:
    """Have a disabled webhook send again."""
    webhook_id = visit.place("webhook_id")
    await visit.services.webhooks.EnableWebhook(pb.EnableWebhookRequest(webhook_id=webhook_id))
    return see_other(f"{LIST}/{webhook_id}")


async def rotate(visit: Visit) -> Response:
    """Replace the secret of a webhook and show the new one."""
    request = pb.RotateSecretRequest(webhook_id=visit.place("webhook_id"))
    rotated = await visit.services.webhooks.RotateSecret(request)
    return await _one(visit, rotated.webhook.webhook_id, secret=rotated.secret)


async def delete(visit: Visit) -> Response:
    """Delete a webhook."""
    request = pb.DeleteWebhookRequest(webhook_id=visit.place("webhook_id"))
    await visit.services.webhooks.DeleteWebhook(request)
    return see_other(LIST)


async def redeliver(visit: Visit) -> Response:
    """Send a delivery again."""
    request = pb.RedeliverRequest(delivery_id=visit.place("delivery_id"))
    await visit.services.webhooks.Redeliver(request)
    return see_other(f"{LIST}/{visit.place('webhook_id')}")


async def _list(
    visit: Visit,
    asked: Asked | None = None,
    refused: str = "",
    status: HTTPStatus = HTTPStatus.OK,
) -> Response:
    webhooks = await _webhooks(visit)
    view = WebhooksView(tuple(map(_view, webhooks)), refused, asked or Asked())
    return await visit.answer("webhooks.html", lambda: view, status=status)


async def _one(visit: Visit, webhook_id: str, *, secret: str = "") -> Response:
    request = pb.ListDeliveriesRequest(
        webhook_id=webhook_id, page_size=DELIVERIES, page_token=visit.text("page")
    )
    page = await visit.services.webhooks.ListDeliveries(request)
    found = [each for each in await _webhooks(visit) if each.webhook_id == webhook_id]
    if not found:
        raise not_found(text("webhooks.no_such", id=webhook_id))
    webhook = _view(found[0])
    verbs = ("test", "rotate", "delete") if webhook.is_enabled else ("enable", "rotate", "delete")
    older = f"{LIST}/{webhook_id}?page={page.next_page_token}" if page.next_page_token else ""
    view = WebhookPage(webhook, verbs, tuple(map(_delivery, page.deliveries)), older, secret)
    return await visit.answer("webhook.html", lambda: view)


async def _webhooks(visit: Visit) -> list[pb.Webhook]:
    request = pb.ListWebhooksRequest(page_size=MAX_SHOWN)
    return list((await visit.services.webhooks.ListWebhooks(request)).webhooks)


def _request(asked: Asked) -> pb.CreateWebhookRequest:
    return pb.CreateWebhookRequest(
        url=asked.url,
        format=pb.WebhookFormat.Value(f"WEBHOOK_FORMAT_{asked.format.upper()}"),
        events=[
            pb.WebhookEvent.Value(f"WEBHOOK_EVENT_{event.upper().replace('.', '_')}")
            for event in asked.events
        ],
        bot=asked.bot,
        tournament_id=asked.tournament,
        ladder=asked.ladder,
    )


def _view(webhook: pb.Webhook) -> WebhookView:
    return WebhookView(
        id=webhook.webhook_id,
        url=webhook.url,
        format=_word(pb.WebhookFormat.Name(webhook.format)),
        events=tuple(map(_event, webhook.events)),
        bounds=_bounds(webhook),
        owner=webhook.owner,
        state=_state(webhook),
        is_enabled=not webhook.disable_reason,
    )


def _bounds(webhook: pb.Webhook) -> tuple[str, ...]:
    bounds = (
        ("bot", webhook.bot),
        ("tournament", webhook.tournament_id),
        ("ladder", webhook.ladder),
    )
    return tuple(text(f"webhooks.bound_{kind}", name=name) for kind, name in bounds if name)


def _state(webhook: pb.Webhook) -> str:
    if webhook.disable_reason:
        return text("webhooks.disabled", reason=webhook.disable_reason)
    if webhook.HasField("failing_since"):
        since = webhook.failing_since.ToDatetime(UTC)
        return text("webhooks.failing", time=f"{since:%Y-%m-%d %H:%M UTC}")
    return text("webhooks.enabled")


def _delivery(delivery: pb.WebhookDelivery) -> DeliveryView:
    has_next = delivery.HasField("next_time")
    page = SUBJECTS.get(delivery.event)
    return DeliveryView(
        id=delivery.delivery_id,
        event=_event(delivery.event),
        subject=delivery.subject_id,
        link=f"{page}{delivery.subject_id}" if page else "",
        time=delivery.event_time.ToDatetime(UTC),
        state=_word(pb.DeliveryState.Name(delivery.state)),
        attempts=delivery.attempts,
        detail=delivery.detail,
        next_time=delivery.next_time.ToDatetime(UTC) if has_next else None,
    )


def _event(event: pb.WebhookEvent.ValueType) -> str:
    """The type of an event, as a body has it."""
    name = pb.WebhookEvent.Name(event).removeprefix("WEBHOOK_EVENT_")
    return name.lower().replace("_", ".")


def _word(name: str) -> str:
    """The last word of a value's name."""
    return name.rpartition("_")[2].lower()


ONE = f"{LIST}/{{webhook_id}}"
ROUTES = (
    Private(LIST, show_list),
    Form(LIST, make),
    Private(ONE, show_one),
    Form(f"{ONE}/test", test),
    Form(f"{ONE}/enable", enable),
    Form(f"{ONE}/rotate", rotate),
    Form(f"{ONE}/delete", delete),
    Form(f"{ONE}/deliveries/{{delivery_id}}", redeliver),
)
