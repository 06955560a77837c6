"""Tokens: made, listed, rotated and revoked."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from sqlalchemy import Connection

from meijin.server.access.caller import current_caller
from meijin.server.access.last_uses import LastUses
from meijin.server.access.token_control import TokenControl
from meijin.server.access.tokens import TokenRequest
from meijin.server.api.interceptor import Context
from meijin.server.api.requests import number, page_key, read_page
from meijin.server.errors import InvalidRequestError, UnauthenticatedError, invalid_request
from meijin.server.storage import Storage
from meijin.store.access.tokens import TokenRow, get_token, list_tokens
from meijin.store.schema import OwnerId, TokenId, TokenKind
from meijin.v1 import token_service_pb2 as pb
from meijin.v1.token_service_pb2_grpc import TokenServiceServicer
from meijin.wire.enums import enum_table
from meijin.wire.mapping import to_message

KINDS = {value: kind for kind, value in enum_table(TokenKind, pb.TokenKind).items()}


class TokenServicer(TokenServiceServicer):
    """The server's tokens."""

    def __init__(self, control: TokenControl, storage: Storage, uses: LastUses) -> None:
        self._control = control
        self._storage = storage
        self._uses = uses

    async def CreateToken(
        self, request: pb.CreateTokenRequest, context: Context
    ) -> pb.CreateTokenResponse:
        """Make a token and return its secret."""
        row, secret = await self._control.create(current_caller.get(), _request(request))
        return pb.CreateTokenResponse(token=to_message(row, pb.Token), secret=secret)

    async def ListTokens(
        self, request: pb.ListTokensRequest, context: Context
    ) -> pb.ListTokensResponse:
        """List tokens, oldest first."""
        query = partial(
            _list,
            now=datetime.now(UTC),
            owner_id=current_caller.get().owner_id,
            with_invalid=request.with_invalid,
            with_people=request.with_people,
        )
        page = await read_page(
            self._storage,
            query,
            lambda row: to_message(self._with_use(row), pb.Token),
            size=request.page_size,
            start=request.page_token,
            token=lambda row: row.id,
        )
        return pb.ListTokensResponse(tokens=page.messages, next_page_token=page.next_token)

    async def GetOwnToken(
        self, request: pb.GetOwnTokenRequest, context: Context
    ) -> pb.GetOwnTokenResponse:
        """Show the token that the call shows."""
        identity = current_caller.get().identity
        if identity is None:
            raise UnauthenticatedError("show a token to be told of it")
        row = await self._storage.read(get_token, identity.token_id)
        return pb.GetOwnTokenResponse(token=to_message(self._with_use(row), pb.Token))

    async def RotateToken(
        self, request: pb.RotateTokenRequest, context: Context
    ) -> pb.RotateTokenResponse:
        """Replace a token, or all tokens of a bot, by a new one."""
        caller = current_caller.get()
        if request.HasField("bot"):
            row, secret = await self._control.rotate_bots(caller, request.bot)
        else:
            row, secret = await self._control.rotate(caller, _id(request.token_id))
        return pb.RotateTokenResponse(token=to_message(row, pb.Token), secret=secret)

    async def RevokeToken(
        self, request: pb.RevokeTokenRequest, context: Context
    ) -> pb.RevokeTokenResponse:
        """Have nobody use a token any more."""
        row = await self._control.revoke(current_caller.get(), _id(request.token_id))
        return pb.RevokeTokenResponse(token=to_message(row, pb.Token))

    def _with_use(self, row: TokenRow) -> TokenRow:
        """A token with its last use, though that is not written yet."""
        return replace(row, use_time=self._uses.pending(row.id) or row.use_time)


def _request(request: pb.CreateTokenRequest) -> TokenRequest:
    kind = KINDS.get(request.kind)
    if kind is None:
        raise InvalidRequestError(f"no kind of tokens {request.kind}")
    expire_time = None
    if request.HasField("expire_time"):
        with invalid_request("expire_time"):
            expire_time = request.expire_time.ToDatetime(UTC)
    return TokenRequest(kind, request.name, request.label, expire_time)


def _id(text: str) -> TokenId:
    return TokenId(number(text, "token_id"))


def _list(
    connection: Connection,
    *,
    now: datetime,
    owner_id: OwnerId | None,
    with_invalid: bool,
    with_people: bool,
    limit: int,
    after: str,
) -> Sequence[TokenRow]:
    return list_tokens(
        connection,
        limit=limit,
        now=now,
        after=page_key(after) or 0,
        owner_id=owner_id,
        with_invalid=with_invalid,
        with_people=with_people,
    )
