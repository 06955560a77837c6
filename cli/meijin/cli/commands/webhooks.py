"""`meijin webhook`: have an address be told by HTTP what happens."""

import time
from datetime import timedelta
from enum import Enum
from typing import Annotated

import typer

from meijin.arena.errors import ArenaError
from meijin.cli.commands.tokens import day_text, print_secret
from meijin.cli.connection import PAGE, Connection, JsonOption, pages, with_server
from meijin.cli.listing import OLDER, USUAL_LIMIT, LimitOption, read_list
from meijin.cli.output import console, print_json, table
from meijin.v1 import webhook_service_pb2 as pb
from meijin.wire.enums import value_of, word_of

app = typer.Typer(help="Have an address be told by HTTP what happens.", no_args_is_help=True)

ASK_INTERVAL = timedelta(seconds=0.2)
"""Between two looks at a test that is on its way."""

TEST_LIMIT = timedelta(seconds=40)
"""For a test to be tried: the name is looked up, and the receiver has 15 s to answer."""


class Format(str, Enum):
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


WebhookArgument = Annotated[str, typer.Argument(help="The number in `meijin webhook list`.")]


@app.command()
@with_server
def create(
    connection: Connection,
    url: Annotated[str, typer.Argument(help="Where to send; https and a public address.")],
    event: Annotated[
        list[Event] | None, typer.Option(help="What to tell of; once for each. All else.")
    ] = None,
    format_: Annotated[
        Format, typer.Option("--format", help="What the bodies are: signed JSON, or a sentence.")
    ] = Format.STANDARD,
    bot: Annotated[str, typer.Option(help="Only what concerns this bot.")] = "",
    tournament: Annotated[str, typer.Option(help="Only this tournament and its games.")] = "",
    ladder: Annotated[str, typer.Option(help="Only this ladder and its games.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Make a webhook and print its secret, which is shown this once."""
    request = pb.CreateWebhookRequest(
        url=url,
        format=value_of(pb.WebhookFormat, format_),
        events=[value_of(pb.WebhookEvent, each) for each in event or ()],
        bot=bot,
        tournament_id=tournament,
        ladder=ladder,
    )
    response = connection.ask_with_token(connection.webhooks.CreateWebhook, request)
    if as_json:
        print_json(response)
    else:
        print_secret(response.secret, f"the secret of webhook {response.webhook.webhook_id}")


@app.command("list")
@with_server
def list_(connection: Connection, as_json: JsonOption = False) -> None:
    """List webhooks, without their secrets: an operator all, an owner its own."""
    request = pb.ListWebhooksRequest(page_size=PAGE)
    found = list(pages(connection.ask_with_token, connection.webhooks.ListWebhooks, request))
    webhooks = [each for page in found for each in page.webhooks]
    if as_json:
        print_json(pb.ListWebhooksResponse(webhooks=webhooks))
        return
    columns = ("webhook", "url", "format", "events", "only", "owner", "made", "state")
    made = table("Webhooks", columns, text_columns=len(columns))
    for each in webhooks:
        made.add_row(
            each.webhook_id,
            each.url,
            word_of(pb.WebhookFormat, each.format),
            ", ".join(map(_event, each.events)),
            _bounds(each),
            each.owner,
            day_text(each.create_time),
            _state(each),
        )
    console.print(made)


@app.command()
@with_server
def delete(connection: Connection, webhook: WebhookArgument) -> None:
    """Delete a webhook; nothing more is sent."""
    request = pb.DeleteWebhookRequest(webhook_id=webhook)
    deleted = connection.ask_with_token(connection.webhooks.DeleteWebhook, request).webhook
    console.print(f"deleted webhook {deleted.webhook_id}, {deleted.url}")


@app.command()
@with_server
def enable(connection: Connection, webhook: WebhookArgument) -> None:
    """Have a disabled webhook tell again, of what happens from now on."""
    request = pb.EnableWebhookRequest(webhook_id=webhook)
    enabled = connection.ask_with_token(connection.webhooks.EnableWebhook, request).webhook
    console.print(f"enabled webhook {enabled.webhook_id}, {enabled.url}")


@app.command()
@with_server
def rotate(connection: Connection, webhook: WebhookArgument, as_json: JsonOption = False) -> None:
    """Replace a webhook's secret and print it; for a day the old one signs too."""
    request = pb.RotateSecretRequest(webhook_id=webhook)
    response = connection.ask_with_token(connection.webhooks.RotateSecret, request)
    if as_json:
        print_json(response)
    else:
        print_secret(response.secret, f"the new secret of webhook {response.webhook.webhook_id}")


@app.command("test")
@with_server
def send_test(
    connection: Connection, webhook: WebhookArgument, as_json: JsonOption = False
) -> None:
    """Send a test and wait for the answer; the exit status is 0 if it arrives, and 1 if not."""
    request = pb.SendTestRequest(webhook_id=webhook)
    sent = connection.ask_with_token(connection.webhooks.SendTest, request).delivery
    tried = _tried(connection, webhook, sent)
    if as_json:
        print_json(tried)
    if tried.state != pb.DELIVERY_STATE_DELIVERED:
        raise ArenaError(f"the test did not arrive: {tried.detail}")
    if not as_json:
        console.print(f"the test has arrived: {tried.detail}")


@app.command()
@with_server
def deliveries(
    connection: Connection,
    webhook: WebhookArgument,
    limit: LimitOption = USUAL_LIMIT,
    as_json: JsonOption = False,
) -> None:
    """List what was sent to a webhook and what waits, newest first."""
    response = read_list(
        connection.ask_with_token,
        connection.webhooks.ListDeliveries,
        pb.ListDeliveriesRequest(webhook_id=webhook),
        rows=lambda response: response.deliveries,
        limit=limit,
    )
    if as_json:
        print_json(response)
        return
    columns = ("delivery", "event", "of", "when (UTC)", "state", "tries", "last answer", "next try")
    made = table(f"Deliveries to webhook {webhook}", columns, text_columns=len(columns))
    for each in response.deliveries:
        made.add_row(
            each.delivery_id,
            _event(each.event),
            each.subject_id,
            day_text(each.event_time),
            word_of(pb.DeliveryState, each.state),
            str(each.attempts),
            each.detail,
            day_text(each.next_time) if each.HasField("next_time") else "",
        )
    console.print(made)
    if response.next_page_token:
        console.print(OLDER)


@app.command()
@with_server
def redeliver(
    connection: Connection,
    delivery: Annotated[str, typer.Argument(help="The number in `meijin webhook deliveries`.")],
) -> None:
    """Send a delivery again, with the same id."""
    request = pb.RedeliverRequest(delivery_id=delivery)
    sent = connection.ask_with_token(connection.webhooks.Redeliver, request).delivery
    console.print(f"delivery {sent.delivery_id} is sent again")


def _tried(connection: Connection, webhook: str, sent: pb.WebhookDelivery) -> pb.WebhookDelivery:
    """A delivery once it has been tried.

    Raises:
        ArenaError: it still has not.
    """
    request = pb.ListDeliveriesRequest(webhook_id=webhook)
    end = time.monotonic() + TEST_LIMIT.total_seconds()
    while time.monotonic() < end:
        page = connection.ask_with_token(connection.webhooks.ListDeliveries, request)
        found = [each for each in page.deliveries if each.delivery_id == sent.delivery_id]
        if found and found[0].HasField("last_time"):
            return found[0]
        time.sleep(ASK_INTERVAL.total_seconds())
    raise ArenaError(
        f"the test still waits behind others; see `meijin webhook deliveries {webhook}`"
    )


def _bounds(webhook: pb.Webhook) -> str:
    """What a webhook is bound to."""
    bounds = (
        ("bot", webhook.bot),
        ("tournament", webhook.tournament_id),
        ("ladder", webhook.ladder),
    )
    return ", ".join(f"{kind} {name}" for kind, name in bounds if name)


def _state(webhook: pb.Webhook) -> str:
    if webhook.disable_reason:
        return f"disabled: {webhook.disable_reason}"
    if webhook.HasField("failing_since"):
        return f"fails since {day_text(webhook.failing_since)}"
    return "enabled"


def _event(event: pb.WebhookEvent.ValueType) -> str:
    return word_of(pb.WebhookEvent, event).replace(" ", ".")
