"""Tokens: made, listed, rotated and revoked, with effect on open calls."""

import asyncio
from contextlib import nullcontext
from dataclasses import replace
from functools import partial

from meijin.server.access import tokens
from meijin.server.access.caller import current_caller
from meijin.server.access.last_uses import LastUses
from meijin.server.access.open_calls import OpenCalls
from meijin.server.access.tokens import TokenRequest, token_of
from meijin.server.api.answers.pages import id_of, list_page, oldest_first
from meijin.server.api.calls.interceptor import Context
from meijin.server.errors import UnauthenticatedError, invalid_request
from meijin.server.match.lobby import Lobby
from meijin.server.process.operator_token import OperatorTokenFile
from meijin.server.storage import Storage
from meijin.store.access.tokens import TokenRow, get_token, list_tokens, new_secret
from meijin.store.schema import TokenId, TokenKind
from meijin.v1 import token_service_pb2 as pb
from meijin.v1.token_service_pb2_grpc import TokenServiceServicer
from meijin.wire.mapping import from_message, to_message


class TokenServicer(TokenServiceServicer):
    """The server's tokens; `file` holds the operator's."""

    def __init__(
        self,
        storage: Storage,
        lobby: Lobby,
        calls: OpenCalls,
        uses: LastUses,
        file: OperatorTokenFile,
    ) -> None:
        self._storage = storage
        self._lobby = lobby
        self._calls = calls
        self._uses = uses
        self._file = file
        self._rotating = asyncio.Lock()
        """Held while the file is rewritten."""

    async def CreateToken(
        self, request: pb.CreateTokenRequest, context: Context
    ) -> pb.CreateTokenResponse:
        caller = current_caller.get()
        with invalid_request():
            wanted = from_message(request, TokenRequest)
        wanted.check(caller.time)
        secret = new_secret(wanted.kind.value)
        row = await self._storage.write(tokens.create, caller, wanted, secret)
        return pb.CreateTokenResponse(token=to_message(row, pb.Token), secret=secret)

    async def ListTokens(
        self, request: pb.ListTokensRequest, context: Context
    ) -> pb.ListTokensResponse:
        caller = current_caller.get()
        query = partial(
            list_tokens,
            now=caller.time,
            owner_id=caller.owner_id,
            with_invalid=request.with_invalid,
            with_people=request.with_people,
        )
        return await list_page(
            self._storage, request, pb.ListTokensResponse, oldest_first(query), self._with_use
        )

    async def GetOwnToken(
        self, request: pb.GetOwnTokenRequest, context: Context
    ) -> pb.GetOwnTokenResponse:
        identity = current_caller.get().identity
        if identity is None:
            raise UnauthenticatedError("show a token to be told of it")
        row = await self._storage.read(get_token, identity.token_id)
        return pb.GetOwnTokenResponse(token=self._with_use(row))

    async def RotateToken(
        self, request: pb.RotateTokenRequest, context: Context
    ) -> pb.RotateTokenResponse:
        if request.HasField("bot"):
            row, secret = await self._rotate_bots(request.bot)
        else:
            row, secret = await self._rotate(id_of(request, "token_id", TokenId))
        return pb.RotateTokenResponse(token=to_message(row, pb.Token), secret=secret)

    async def RevokeToken(
        self, request: pb.RevokeTokenRequest, context: Context
    ) -> pb.RevokeTokenResponse:
        token_id = id_of(request, "token_id", TokenId)
        row = await self._storage.write(tokens.revoke, current_caller.get(), token_id)
        self._end(row, "the token was revoked")
        return pb.RevokeTokenResponse(token=to_message(row, pb.Token))

    async def _rotate(self, token_id: TokenId) -> tuple[TokenRow, str]:
        """Replace a token, and return the new one with its secret.

        The file with the operator's token is rewritten if it is that one: the new secret is
        beside it before the change is stored, so that none is lost however this ends.
        """
        caller = current_caller.get()
        async with self._rotating:
            old = await self._storage.read(token_of, caller, token_id)
            secret = new_secret(old.kind.value)
            is_in_file = await self._storage.read(self._file.holds, token_id=token_id)
            with self._file.replacing(secret) if is_in_file else nullcontext():
                new = await self._storage.write(tokens.rotate, caller, token_id, secret)
        self._end(old, "the token was replaced")
        return new, secret

    async def _rotate_bots(self, bot: str) -> tuple[TokenRow, str]:
        """Replace all tokens of a bot by a new one, and return it with its secret."""
        caller, secret = current_caller.get(), new_secret(TokenKind.BOT.value)
        row = await self._storage.write(tokens.rotate_bots, caller, bot, secret)
        assert row.bot_id is not None
        self._lobby.expel(row.bot_id, UnauthenticatedError("the bot's token was replaced"))
        return row, secret

    def _end(self, token: TokenRow, reason: str) -> None:
        """End the calls that were made with a token, and have none come in that is on its way."""
        self._lobby.expulsions += 1
        self._calls.close(token.id, UnauthenticatedError(reason))

    def _with_use(self, row: TokenRow) -> pb.Token:
        """A token with its last use, though that is not written yet."""
        use_time = self._uses.pending(row.id) or row.use_time
        return to_message(replace(row, use_time=use_time), pb.Token)
