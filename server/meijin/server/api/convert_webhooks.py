"""Converters of webhooks: rows in, messages out."""

from meijin.store.schema import WebhookEvent, WebhookFormat
from meijin.store.webhooks.hooks import WebhookRow
from meijin.v1 import webhook_service_pb2 as pb
from meijin.wire.enums import enum_table
from meijin.wire.mapping import to_message

WEBHOOK_EVENTS = {
    value: event for event, value in enum_table(WebhookEvent, pb.WebhookEvent).items()
}
WEBHOOK_FORMATS = {
    value: format_ for format_, value in enum_table(WebhookFormat, pb.WebhookFormat).items()
} | {pb.WEBHOOK_FORMAT_UNSPECIFIED: WebhookFormat.STANDARD}


def webhook_to_proto(row: WebhookRow) -> pb.Webhook:
    """A webhook, without its secret."""
    return to_message(row, pb.Webhook, events=map(WebhookEvent, row.events))
