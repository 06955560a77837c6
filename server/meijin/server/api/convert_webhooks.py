"""Converters of webhooks: rows in, messages out."""

from meijin.store.schema import DeliveryState, WebhookEvent, WebhookFormat
from meijin.store.webhooks.deliveries import DeliveryRow
from meijin.store.webhooks.hooks import WebhookRow
from meijin.v1 import webhook_service_pb2 as pb
from meijin.wire import time_to_proto
from meijin.wire.enums import enum_table

_EVENTS = enum_table(WebhookEvent, pb.WebhookEvent)
_FORMATS = enum_table(WebhookFormat, pb.WebhookFormat)
_STATES = enum_table(DeliveryState, pb.DeliveryState)

WEBHOOK_EVENTS = {value: event for event, value in _EVENTS.items()}
WEBHOOK_FORMATS = {value: format_ for format_, value in _FORMATS.items()} | {
    pb.WEBHOOK_FORMAT_UNSPECIFIED: WebhookFormat.STANDARD
}


def webhook_to_proto(row: WebhookRow) -> pb.Webhook:
    """A webhook, without its secret."""
    return pb.Webhook(
        webhook_id=str(row.id),
        url=row.url,
        format=_FORMATS[row.format],
        events=[_EVENTS[WebhookEvent(event)] for event in row.events],
        owner=row.owner,
        bot=row.bot,
        tournament_id="" if row.tournament_id is None else str(row.tournament_id),
        ladder=row.ladder,
        create_time=time_to_proto(row.create_time),
        disable_reason=row.disable_reason,
        failing_since=None if row.failing_since is None else time_to_proto(row.failing_since),
    )


def delivery_to_proto(row: DeliveryRow) -> pb.WebhookDelivery:
    """A delivery."""
    return pb.WebhookDelivery(
        delivery_id=str(row.id),
        message_id=row.message_id,
        event=_EVENTS[row.event],
        subject_id=str(row.subject_id),
        event_time=time_to_proto(row.event_time),
        state=_STATES[row.state],
        attempts=row.attempts,
        next_time=None if row.next_time is None else time_to_proto(row.next_time),
        last_time=None if row.last_time is None else time_to_proto(row.last_time),
        http_status=row.http_status or 0,
        detail=row.detail,
    )
