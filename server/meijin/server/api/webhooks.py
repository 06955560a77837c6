"""Webhooks: made, listed, tested and deleted, with what was delivered to them."""

from collections.abc import Sequence
from functools import partial

from sqlalchemy import Connection

from meijin.server.access.caller import current_caller
from meijin.server.access.webhooks import WebhookControl, WebhookRequest
from meijin.server.api.convert_webhooks import (
    WEBHOOK_EVENTS,
    WEBHOOK_FORMATS,
    webhook_to_proto,
)
from meijin.server.api.interceptor import Context
from meijin.server.api.requests import number, page_key, read_page
from meijin.server.errors import InvalidRequestError
from meijin.server.storage import Storage
from meijin.store.schema import DeliveryId, OwnerId, TournamentId, WebhookId
from meijin.store.webhooks import deliveries, hooks
from meijin.store.webhooks.deliveries import DeliveryRow
from meijin.store.webhooks.hooks import WebhookRow
from meijin.v1 import webhook_service_pb2 as pb
from meijin.v1.webhook_service_pb2_grpc import WebhookServiceServicer
from meijin.wire.mapping import to_message


class WebhookServicer(WebhookServiceServicer):
    """The server's webhooks."""

    def __init__(self, control: WebhookControl, storage: Storage) -> None:
        self._control = control
        self._storage = storage

    async def CreateWebhook(
        self, request: pb.CreateWebhookRequest, context: Context
    ) -> pb.CreateWebhookResponse:
        """Make a webhook and return its secret."""
        row, secret = await self._control.create(current_caller.get(), _request(request))
        return pb.CreateWebhookResponse(webhook=webhook_to_proto(row), secret=secret)

    async def ListWebhooks(
        self, request: pb.ListWebhooksRequest, context: Context
    ) -> pb.ListWebhooksResponse:
        """List webhooks, oldest first."""
        page = await read_page(
            self._storage,
            partial(_list_webhooks, owner_id=current_caller.get().owner_id),
            webhook_to_proto,
            size=request.page_size,
            start=request.page_token,
            token=lambda row: row.id,
        )
        return pb.ListWebhooksResponse(webhooks=page.messages, next_page_token=page.next_token)

    async def DeleteWebhook(
        self, request: pb.DeleteWebhookRequest, context: Context
    ) -> pb.DeleteWebhookResponse:
        """Delete a webhook with its deliveries."""
        row = await self._control.delete(current_caller.get(), _id(request.webhook_id))
        return pb.DeleteWebhookResponse(webhook=webhook_to_proto(row))

    async def EnableWebhook(
        self, request: pb.EnableWebhookRequest, context: Context
    ) -> pb.EnableWebhookResponse:
        """Have a disabled webhook send again."""
        row = await self._control.enable(current_caller.get(), _id(request.webhook_id))
        return pb.EnableWebhookResponse(webhook=webhook_to_proto(row))

    async def RotateSecret(
        self, request: pb.RotateSecretRequest, context: Context
    ) -> pb.RotateSecretResponse:
        """Replace the secret of a webhook."""
        row, secret = await self._control.rotate(current_caller.get(), _id(request.webhook_id))
        return pb.RotateSecretResponse(webhook=webhook_to_proto(row), secret=secret)

    async def SendTest(self, request: pb.SendTestRequest, context: Context) -> pb.SendTestResponse:
        """Send a test."""
        row = await self._control.test(current_caller.get(), _id(request.webhook_id))
        return pb.SendTestResponse(delivery=to_message(row, pb.WebhookDelivery))

    async def ListDeliveries(
        self, request: pb.ListDeliveriesRequest, context: Context
    ) -> pb.ListDeliveriesResponse:
        """List the deliveries of a webhook, newest first."""
        page = await read_page(
            self._storage,
            partial(
                _list_deliveries,
                webhook_id=_id(request.webhook_id),
                owner_id=current_caller.get().owner_id,
            ),
            lambda row: to_message(row, pb.WebhookDelivery),
            size=request.page_size,
            start=request.page_token,
            token=lambda row: row.id,
        )
        return pb.ListDeliveriesResponse(deliveries=page.messages, next_page_token=page.next_token)

    async def Redeliver(
        self, request: pb.RedeliverRequest, context: Context
    ) -> pb.RedeliverResponse:
        """Send a delivery again."""
        delivery_id = DeliveryId(number(request.delivery_id, "delivery_id"))
        row = await self._control.redeliver(current_caller.get(), delivery_id)
        return pb.RedeliverResponse(delivery=to_message(row, pb.WebhookDelivery))


def _request(request: pb.CreateWebhookRequest) -> WebhookRequest:
    format_ = WEBHOOK_FORMATS.get(request.format)
    if format_ is None:
        raise InvalidRequestError(f"no format of webhooks {request.format}")
    unknown = [event for event in request.events if event not in WEBHOOK_EVENTS]
    if unknown:
        raise InvalidRequestError(f"no event of webhooks {unknown[0]}")
    tournament_id = None
    if request.tournament_id:
        tournament_id = TournamentId(number(request.tournament_id, "tournament_id"))
    return WebhookRequest(
        request.url,
        format_,
        list(dict.fromkeys(WEBHOOK_EVENTS[event] for event in request.events)),
        bot=request.bot,
        tournament_id=tournament_id,
        ladder=request.ladder,
    )


def _id(text: str) -> WebhookId:
    return WebhookId(number(text, "webhook_id"))


def _list_webhooks(
    connection: Connection, *, owner_id: OwnerId | None, limit: int, after: str
) -> Sequence[WebhookRow]:
    key = page_key(after) or 0
    return hooks.list_webhooks(connection, limit=limit, after=key, owner_id=owner_id)


def _list_deliveries(
    connection: Connection,
    *,
    webhook_id: WebhookId,
    owner_id: OwnerId | None,
    limit: int,
    after: str,
) -> Sequence[DeliveryRow]:
    hook = hooks.get_webhook(connection, webhook_id, owner_id)
    return deliveries.list_deliveries(connection, hook.id, limit=limit, before=page_key(after))
