"""Open calls: streams that end with the token that they were opened with."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from meijin.server.errors import MeijinError
from meijin.store.schema import TokenId

End: TypeAlias = asyncio.Future[MeijinError]
"""Why a call is ended, once it is."""


class OpenCalls:
    """The streams that were opened with a token, to be ended when it is valid no more."""

    def __init__(self) -> None:
        self._ends: defaultdict[TokenId, set[End]] = defaultdict(set)

    @contextmanager
    def hold(self, token_id: TokenId) -> Iterator[End]:
        end: End = asyncio.get_running_loop().create_future()
        self._ends[token_id].add(end)
        try:
            yield end
        finally:
            self._ends[token_id].discard(end)
            if not self._ends[token_id]:
                del self._ends[token_id]

    @property
    def tokens(self) -> Collection[TokenId]:
        return self._ends.keys()

    def close(self, token_id: TokenId, reason: MeijinError) -> None:
        for end in self._ends.get(token_id, ()):
            if not end.done():
                end.set_result(reason)
