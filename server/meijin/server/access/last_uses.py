"""Last uses: collected in memory, and written once a minute, since a call costs no write."""

import asyncio
from datetime import UTC, datetime, timedelta

from meijin.server.access.open_calls import OpenCalls
from meijin.server.errors import StoreAwayError, UnauthenticatedError
from meijin.server.storage import Storage
from meijin.store.access.tokens import valid_among, write_uses
from meijin.store.schema import TokenId

WRITE_INTERVAL = timedelta(minutes=1)


class LastUses:
    def __init__(self, storage: Storage, calls: OpenCalls) -> None:
        self._storage = storage
        self._calls = calls
        self._pending: dict[TokenId, datetime] = {}

    def note(self, token_id: TokenId, now: datetime) -> None:
        self._pending[token_id] = now

    def pending(self, token_id: TokenId) -> datetime | None:
        """When a token was last used, if that is not written yet."""
        return self._pending.get(token_id)

    async def write(self) -> None:
        """Write what was collected; while the database is away it is kept."""
        if not self._pending:
            return
        uses, self._pending = self._pending, {}
        try:
            await self._storage.write(write_uses, uses=uses)
        except StoreAwayError:
            self._pending = uses | self._pending

    async def end_expired(self, now: datetime) -> None:
        tokens = list(self._calls.tokens)
        try:
            valid = await self._storage.read(valid_among, token_ids=tokens, now=now)
        except StoreAwayError:
            return
        for token_id in tokens:
            if token_id not in valid:
                self._calls.close(token_id, UnauthenticatedError("the token has expired"))

    async def run(self) -> None:
        while True:
            await asyncio.sleep(WRITE_INTERVAL.total_seconds())
            await self.write()
            await self.end_expired(datetime.now(UTC))
