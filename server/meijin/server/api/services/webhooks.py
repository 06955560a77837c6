"""Webhooks: made, listed, tested and deleted, with what was delivered to them."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection

from meijin.server.access import webhooks
from meijin.server.access.caller import Caller, current_caller
from meijin.server.access.webhooks import WebhookRequest
from meijin.server.api.answers.messages import webhook_to_proto
from meijin.server.api.answers.pages import id_if_any, id_of, list_page, oldest_first, page_key
from meijin.server.api.calls.interceptor import Context
from meijin.server.errors import InvalidRequestError, WrongStateError, invalid_request
from meijin.server.storage import Storage
from meijin.server.webhooks.egress import EgressPolicy, Lookups
from meijin.server.webhooks.message import new_secret
from meijin.store.schema import DeliveryId, TournamentId, WebhookDelivery, WebhookId
from meijin.store.webhooks import deliveries, hooks
from meijin.v1 import webhook_service_pb2 as pb
from meijin.v1.webhook_service_pb2_grpc import WebhookServiceServicer
from meijin.wire.mapping import from_message, to_message

P = ParamSpec("P")
T = TypeVar("T")


class WebhookServicer(WebhookServiceServicer):
    """The server's webhooks.

    Args:
        policy: Where those of the operators may send; ``None`` on a server that sends none.
        wake: Has what waits be looked at.
    """

    def __init__(
        self, storage: Storage, policy: EgressPolicy | None, wake: Callable[[], None]
    ) -> None:
        self._storage = storage
        self._operators_policy = policy
        self._wake = wake
        self._lookups = Lookups()

    async def CreateWebhook(
        self, request: pb.CreateWebhookRequest, context: Context
    ) -> pb.CreateWebhookResponse:
        tournament_id = id_if_any(request, "tournament_id", TournamentId)
        with invalid_request():
            wanted = from_message(request, WebhookRequest, tournament_id=tournament_id)
        wanted.check_events()
        policy, secret = self._policy(), new_secret()
        if current_caller.get().owner_id is not None:
            policy = EgressPolicy()
        await webhooks.check_url(policy, self._lookups, wanted.url)
        row = await self._write(webhooks.create, wanted, secret)
        return pb.CreateWebhookResponse(webhook=webhook_to_proto(row), secret=secret)

    async def ListWebhooks(
        self, request: pb.ListWebhooksRequest, context: Context
    ) -> pb.ListWebhooksResponse:
        query = partial(hooks.list_webhooks, owner_id=current_caller.get().owner_id)
        return await list_page(
            self._storage, request, pb.ListWebhooksResponse, oldest_first(query), webhook_to_proto
        )

    async def DeleteWebhook(
        self, request: pb.DeleteWebhookRequest, context: Context
    ) -> pb.DeleteWebhookResponse:
        row = await self._write(webhooks.delete, id_of(request, "webhook_id", WebhookId))
        return pb.DeleteWebhookResponse(webhook=webhook_to_proto(row))

    async def UpdateWebhook(
        self, request: pb.UpdateWebhookRequest, context: Context
    ) -> pb.UpdateWebhookResponse:
        webhook_id = id_of(request, "webhook_id", WebhookId)
        secret = new_secret() if request.new_secret else ""
        row = await self._write(
            webhooks.update, webhook_id, new_secret=secret, is_enabled=request.enabled
        )
        return pb.UpdateWebhookResponse(webhook=webhook_to_proto(row), secret=secret)

    async def ListDeliveries(
        self, request: pb.ListDeliveriesRequest, context: Context
    ) -> pb.ListDeliveriesResponse:
        query = partial(_list_deliveries, request=request, caller=current_caller.get())
        return await list_page(self._storage, request, pb.ListDeliveriesResponse, query)

    async def SendDelivery(
        self, request: pb.SendDeliveryRequest, context: Context
    ) -> pb.SendDeliveryResponse:
        if request.HasField("webhook_id"):
            row = await self._write(webhooks.send_test, id_of(request, "webhook_id", WebhookId))
        elif request.HasField("delivery_id"):
            delivery_id = id_of(request, "delivery_id", DeliveryId)
            row = await self._write(webhooks.redeliver, delivery_id)
        else:
            raise InvalidRequestError("name a webhook that is to be tested, or a delivery")
        return pb.SendDeliveryResponse(delivery=to_message(row, pb.WebhookDelivery))

    async def _write(
        self,
        work: Callable[Concatenate[Connection, Caller, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Change something for the caller, if webhooks are sent at all."""
        self._policy()
        result = await self._storage.write(work, current_caller.get(), *args, **kwargs)
        self._wake()
        return result

    def _policy(self) -> EgressPolicy:
        """Where the operators' may send, once it is known that webhooks are sent at all."""
        if self._operators_policy is None:
            raise WrongStateError(
                "this server sends no webhooks; its operator may set MEIJIN_WEBHOOKS=true"
            )
        return self._operators_policy


def _list_deliveries(
    connection: Connection,
    *,
    request: pb.ListDeliveriesRequest,
    caller: Caller,
    limit: int,
    after: str,
) -> Sequence[WebhookDelivery]:
    webhook_id = id_of(request, "webhook_id", WebhookId)
    hook = hooks.get_webhook(connection, webhook_id, caller.owner_id)
    return deliveries.list_deliveries(connection, hook.id, limit=limit, before=page_key(after))
