"""A desk at which owners and operators act: every method by its name, with any token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import grpc

from meijin.testing.peer import CallEnding, bearer, ending_of_request
from meijin.testing.server import ServerInTest
from meijin.v1 import admin_service_pb2 as admin_pb
from meijin.v1 import bot_service_pb2 as bot_pb
from meijin.v1 import challenge_service_pb2 as challenge_pb
from meijin.v1 import class_service_pb2 as class_pb
from meijin.v1 import fault_service_pb2 as fault_pb
from meijin.v1 import game_service_pb2 as game_pb
from meijin.v1 import ladder_service_pb2 as ladder_pb
from meijin.v1 import owner_service_pb2 as owner_pb
from meijin.v1 import token_service_pb2 as token_pb
from meijin.v1 import tournament_service_pb2 as tournament_pb
from meijin.v1 import webhook_service_pb2 as webhook_pb

MODULES = {
    "TokenService": token_pb,
    "OwnerService": owner_pb,
    "AdminService": admin_pb,
    "BotService": bot_pb,
    "ChallengeService": challenge_pb,
    "ClassService": class_pb,
    "TournamentService": tournament_pb,
    "FaultService": fault_pb,
    "GameService": game_pb,
    "LadderService": ladder_pb,
    "WebhookService": webhook_pb,
}


@dataclass
class Desk:
    """Calls methods by their names, with any token."""

    server: ServerInTest
    channel: grpc.aio.Channel

    async def ask(self, method: str, token: str | None = None, /, **fields: Any) -> Any:
        """The answer of ``Service/Method``, by the operator where no token is given."""
        module, found = _method(method)
        call: Any = self.channel.unary_unary(
            f"/meijin.v1.{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=getattr(module, found.output_type.name).FromString,
        )
        request = getattr(module, found.input_type.name)(**fields)
        metadata = bearer(token or self.server.operator_token)
        return await call(request, metadata=metadata)

    async def refusal(self, method: str, token: str | None, /, **fields: Any) -> CallEnding:
        """How a call ends."""
        module, found = _method(method)
        request = getattr(module, found.input_type.name)(**fields)
        path = f"/meijin.v1.{method}"
        return await ending_of_request(self.channel, path, request.SerializeToString(), token)

    async def token(self, kind: str, name: str = "", **more: Any) -> str:
        """A new token's secret."""
        value = token_pb.TokenKind.Value(f"TOKEN_KIND_{kind.upper()}")
        made = await self.ask("TokenService/CreateToken", kind=value, name=name, **more)
        secret: str = made.secret
        return secret

    async def bot(self, name: str, owner: str = "") -> str:
        """A new bot's token."""
        made = await self.ask("BotService/RegisterBot", name=name, owner=owner)
        token: str = made.token
        return token

    async def acts(self, of: str = "") -> list[tuple[str, str, str]]:
        """The audit log, oldest first: who did what to what."""
        found = await self.ask("AdminService/ListAudit", of=of, page_size=1000)
        return [(f"{a.kind} {a.actor}".strip(), a.action, a.subject) for a in found.acts][::-1]


def _method(name: str) -> tuple[Any, Any]:
    """The module and the descriptor of ``Service/Method``."""
    service, method = name.split("/")
    module: Any = MODULES[service]
    return module, module.DESCRIPTOR.services_by_name[service].methods_by_name[method]
