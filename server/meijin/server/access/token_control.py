"""Control of tokens: what is decided about them is stored, and takes effect on open calls."""

import asyncio
from contextlib import nullcontext
from datetime import UTC, datetime

from meijin.server.access import tokens
from meijin.server.access.caller import Caller
from meijin.server.access.open_calls import OpenCalls
from meijin.server.access.tokens import TokenRequest
from meijin.server.errors import InvalidRequestError, UnauthenticatedError, invalid_request
from meijin.server.match.lobby import Lobby
from meijin.server.process.operator_token import OperatorTokenFile
from meijin.server.storage import Storage
from meijin.store.access.tokens import TokenRow, new_secret
from meijin.store.schema import LABEL, TokenId, TokenKind
from meijin.wire.text import check_text


class TokenControl:
    """Tokens, made, rotated and revoked."""

    def __init__(
        self, storage: Storage, lobby: Lobby, calls: OpenCalls, file: OperatorTokenFile
    ) -> None:
        self._storage = storage
        self._lobby = lobby
        self._calls = calls
        self._file = file
        self._rotating = asyncio.Lock()
        """Held while the file is rewritten."""

    async def create(self, caller: Caller, request: TokenRequest) -> tuple[TokenRow, str]:
        """Make a token, and return it with its secret."""
        now = datetime.now(UTC)
        _check(request, now)
        secret = new_secret(request.kind.value)
        row = await self._storage.write(
            tokens.create, caller=caller, request=request, secret=secret, now=now
        )
        return row, secret

    async def rotate(self, caller: Caller, token_id: TokenId) -> tuple[TokenRow, str]:
        """Replace a token, and return the new one with its secret.

        The file with the operator's token is rewritten if it is that one: the new secret is
        beside it before the change is stored, so that none is lost however this ends.
        """
        async with self._rotating:
            old = await self._storage.read(tokens.token_of, caller, token_id)
            secret = new_secret(old.kind.value)
            is_in_file = await self._storage.read(self._file.holds, token_id=token_id)
            with self._file.replacing(secret) if is_in_file else nullcontext():
                new = await self._storage.write(
                    tokens.rotate,
                    caller=caller,
                    token_id=token_id,
                    secret=secret,
                    now=datetime.now(UTC),
                )
        self._end(old, "the token was replaced")
        return new, secret

    async def rotate_bots(self, caller: Caller, bot: str) -> tuple[TokenRow, str]:
        """Replace all tokens of a bot by a new one, and return it with its secret."""
        secret = new_secret(TokenKind.BOT.value)
        row = await self._storage.write(
            tokens.rotate_bots, caller=caller, bot=bot, secret=secret, now=datetime.now(UTC)
        )
        assert row.bot_id is not None
        self._lobby.expel(row.bot_id, UnauthenticatedError("the bot's token was replaced"))
        return row, secret

    async def revoke(self, caller: Caller, token_id: TokenId) -> TokenRow:
        """Have nobody use a token any more."""
        row = await self._storage.write(
            tokens.revoke, caller=caller, token_id=token_id, now=datetime.now(UTC)
        )
        self._end(row, "the token was revoked")
        return row

    def _end(self, token: TokenRow, reason: str) -> None:
        """End the calls that were made with a token, and have none come in that is on its way."""
        self._lobby.expulsions += 1
        self._calls.close(token.id, UnauthenticatedError(reason))


def _check(request: TokenRequest, now: datetime) -> None:
    with invalid_request("label"):
        check_text(request.label)
        if len(request.label) > LABEL:
            raise ValueError(f"it is longer than {LABEL} characters")
    if request.expire_time is not None and request.expire_time <= now:
        raise InvalidRequestError("expire_time is over already")
