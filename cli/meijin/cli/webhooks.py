"""`meijin webhook`: have an address be told by HTTP what happens."""

import time
from datetime import timedelta
from enum import Enum
from functools import partial
from typing import Annotated, Any

import typer

from meijin.cli.access.tokens import secret_output
from meijin.cli.command import USUAL_LIMIT, Commands, LimitOption, Output, list_output
from meijin.cli.files import SaveOption
from meijin.cli.output import console
from meijin.cli.tables import text, time_of, word
from meijin.local.connection import Connection
from meijin.local.errors import ArenaError
from meijin.v1 import webhook_service_pb2 as pb
from meijin.wire.enums import value_of, word_of

app = Commands()

ASK_INTERVAL = timedelta(seconds=0.2)
"""Between two looks at a test that is on its way."""
TEST_LIMIT = timedelta(seconds=40)
"""For a test to be tried: the name is looked up, and the receiver has 15 s to answer."""


class BodyFormat(str, Enum):
    """What the bodies are."""

    STANDARD = "standard"
    DISCORD = "discord"
    SLACK = "slack"


class Event(str, Enum):
    """What a webhook tells of."""

    GAME_ENDED = "game.ended"
    TOURNAMENT_ENDED = "tournament.ended"
    LADDER_PUBLISHED = "ladder.published"
    BOT_PAUSED = "bot.paused"
    FAULT_RECORDED = "fault.recorded"


def _event(event: pb.WebhookEvent.ValueType) -> str:
    return word_of(pb.WebhookEvent, event).replace(" ", ".")


def _bounds(webhook: pb.Webhook) -> str:
    bounds = {"bot": webhook.bot, "tournament": webhook.tournament_id, "ladder": webhook.ladder}
    return ", ".join(f"{kind} {name}" for kind, name in bounds.items() if name)


def _state(webhook: pb.Webhook) -> str:
    if webhook.disable_reason:
        return f"disabled: {webhook.disable_reason}"
    if webhook.HasField("failing_since"):
        return f"fails since {time_of('failing_since')(webhook)}"
    return "enabled"


COLUMNS = (
    text("webhook", "webhook_id"),
    text("url"),
    text("format", word("format", pb.WebhookFormat)),
    text("events", lambda row: ", ".join(map(_event, row.events))),
    text("only", _bounds),
    text("owner"),
    text("made", time_of("create_time")),
    text("state", _state),
)
DELIVERIES = (
    text("delivery", "delivery_id"),
    text("event", lambda row: _event(row.event)),
    text("of", "subject_id"),
    text("when (UTC)", time_of("event_time")),
    text("state", word("state", pb.DeliveryState)),
    text("tries", "attempts"),
    text("last answer", "detail"),
    text("next try", time_of("next_time", "")),
)

WebhookArgument = Annotated[str, typer.Argument(help="The number in `meijin webhook list`.")]


@app.command()
def create(
    connection: Connection,
    url: Annotated[str, typer.Argument(help="Where to send; https and a public address.")],
    event: Annotated[list[Event] | None, "What to tell of; once for each. All else."] = None,
    format_: Annotated[
        BodyFormat,
        typer.Option("--format", help="What the bodies are: signed JSON, or a sentence."),
    ] = BodyFormat.STANDARD,
    bot: Annotated[str, "Only what concerns this bot."] = "",
    tournament: Annotated[str, "Only this tournament and its games."] = "",
    ladder: Annotated[str, "Only this ladder and its games."] = "",
    save: SaveOption = None,
) -> Output:
    """Make a webhook and print its secret, which is shown this once."""
    request = pb.CreateWebhookRequest(
        url=url,
        format=value_of(pb.WebhookFormat, format_),
        events=[value_of(pb.WebhookEvent, each) for each in event or ()],
        bot=bot,
        tournament_id=tournament,
        ladder=ladder,
    )
    ask = partial(connection.ask_with_token, connection.webhooks.CreateWebhook, request)
    return secret_output(ask, _secret_name, save)


@app.command("list")
def list_(connection: Connection) -> Output:
    """List webhooks, without their secrets: an operator all, an owner its own."""
    request, method = pb.ListWebhooksRequest(), connection.webhooks.ListWebhooks
    return list_output(connection.ask_with_token, method, request, "Webhooks", COLUMNS)


@app.command()
def delete(connection: Connection, webhook: WebhookArgument) -> None:
    """Delete a webhook; nothing more is sent."""
    request = pb.DeleteWebhookRequest(webhook_id=webhook)
    deleted = connection.ask_with_token(connection.webhooks.DeleteWebhook, request).webhook
    console.print(f"deleted webhook {deleted.webhook_id}, {deleted.url}")


@app.command()
def enable(connection: Connection, webhook: WebhookArgument) -> None:
    """Have a disabled webhook tell again, of what happens from now on."""
    request = pb.UpdateWebhookRequest(webhook_id=webhook, enabled=True)
    enabled = connection.ask_with_token(connection.webhooks.UpdateWebhook, request).webhook
    console.print(f"enabled webhook {enabled.webhook_id}, {enabled.url}")


@app.command()
def rotate(connection: Connection, webhook: WebhookArgument, save: SaveOption = None) -> Output:
    """Replace a webhook's secret and print it; for a day the old one signs too."""
    request = pb.UpdateWebhookRequest(webhook_id=webhook, new_secret=True)
    ask = partial(connection.ask_with_token, connection.webhooks.UpdateWebhook, request)
    return secret_output(ask, _secret_name, save, is_new=False)


def _secret_name(made: Any) -> str:  # noqa: ANN401 - a response with a webhook
    return f"the secret of webhook {made.webhook.webhook_id}"


@app.command("test")
def send_test(connection: Connection, webhook: WebhookArgument) -> Output:
    """Send a test and wait for the answer; the exit status is 0 if it arrives, and 1 if not."""
    request = pb.SendDeliveryRequest(webhook_id=webhook)
    sent = connection.ask_with_token(connection.webhooks.SendDelivery, request).delivery
    tried = _tried(connection, webhook, sent)
    if tried.state != pb.DELIVERY_STATE_DELIVERED:
        return Output(tried, error=ArenaError(f"the test did not arrive: {tried.detail}"))
    return Output(tried, [f"the test has arrived: {tried.detail}"])


@app.command()
def deliveries(
    connection: Connection, webhook: WebhookArgument, limit: LimitOption = USUAL_LIMIT
) -> Output:
    """List what was sent to a webhook and what waits, newest first."""
    request = pb.ListDeliveriesRequest(webhook_id=webhook)
    ask, method = connection.ask_with_token, connection.webhooks.ListDeliveries
    title = f"Deliveries to webhook {webhook}"
    return list_output(ask, method, request, title, DELIVERIES, limit)


@app.command()
def redeliver(
    connection: Connection,
    delivery: Annotated[str, typer.Argument(help="The number in `meijin webhook deliveries`.")],
) -> None:
    """Send a delivery again, with the same id."""
    request = pb.SendDeliveryRequest(delivery_id=delivery)
    sent = connection.ask_with_token(connection.webhooks.SendDelivery, request).delivery
    console.print(f"delivery {sent.delivery_id} is sent again")


def _tried(connection: Connection, webhook: str, sent: pb.WebhookDelivery) -> pb.WebhookDelivery:
    request = pb.ListDeliveriesRequest(webhook_id=webhook)
    end = time.monotonic() + TEST_LIMIT.total_seconds()
    while time.monotonic() < end:
        page = connection.ask_with_token(connection.webhooks.ListDeliveries, request)
        for each in page.deliveries:
            if each.delivery_id == sent.delivery_id and each.HasField("last_time"):
                return each
        time.sleep(ASK_INTERVAL.total_seconds())
    raise ArenaError(
        f"the test still waits behind others; see `meijin webhook deliveries {webhook}`"
    )
