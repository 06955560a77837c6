"""Limits of new connections: who has opened so many that it has to wait."""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import NamedTuple

from meijin.server.api.calls.limits import Address, Peer
from meijin.server.token_bucket import Rate, TokenBucket, TokenBuckets

BURST_SECONDS = 2
"""As many connections may come at once as are taken in this many seconds."""

ADDRESSES = 4
"""All addresses together may open as many as this many of them could."""

PROGRAMS = 20
"""The same, with the connections to all other programs of the machine."""


class Waiting(NamedTuple):
    """Whose new connections are not taken for now."""

    addresses: frozenset[Address] = frozenset()
    everybody: bool = False
    is_full: bool = False
    """Everybody waits, since there are too many connections."""

    def hangs_up(self, peer: Peer) -> bool:
        """Whether a connection of a peer is to go where it is idle.

        Not because others open many: a storm on another program of the machine is no reason.
        """
        return self.is_full or peer.address in self.addresses


class ConnectionLimits:
    """Counts the connections that each address opens, and has. Times are in seconds.

    Args:
        per_second: Of an address.
        most: That an address may have at once.
        most_in_all: That there may be.
    """

    def __init__(self, *, per_second: int, most: int, most_in_all: int, now: float) -> None:
        self._most, self._most_in_all = most, most_in_all
        self._of_address: TokenBuckets[Address] = TokenBuckets(_rate(per_second))
        self._in_all = TokenBucket(_rate(ADDRESSES * per_second), now)
        on_machine = Rate(PROGRAMS * per_second, PROGRAMS * per_second / BURST_SECONDS)
        self._on_machine = TokenBucket(on_machine, now)
        self._known: Collection[Peer] = frozenset()
        self._crowded: frozenset[Address] = frozenset()
        self._is_full = False
        self._late: set[Address] = set()

    def count_on_machine(self, opened: int, now: float) -> None:
        """This many connections were opened, to whatever program.

        Those that are reset at once cost as much as others, and nobody sees whose they were.
        """
        self._on_machine.reserve(now, opened)

    def count(self, open_now: Collection[Peer], now: float) -> None:
        """Charge the addresses with the connections that they have opened since they were charged."""
        new = _by_address(peer for peer in open_now if peer not in self._known)
        self._in_all.reserve(now, new.total())
        for address, count in new.items():
            self._of_address.get(address, now).reserve(now, count)
            self._late.add(address)
        self._known = open_now
        held = _by_address(open_now)
        self._crowded = frozenset(each for each, count in held.items() if count > self._most)
        self._is_full = len(open_now) > self._most_in_all

    def waiting(self, now: float) -> Waiting:
        self._late = {each for each in self._late if self._of_address.wait(each, now)}
        is_late = self._in_all.wait(now) > 0 or self._on_machine.wait(now) > 0
        return Waiting(self._crowded | self._late, self._is_full or is_late, self._is_full)


def _rate(per_second: int) -> Rate:
    return Rate(per_second, BURST_SECONDS * per_second)


def _by_address(peers: Iterable[Peer]) -> "Counter[Address]":
    return Counter(peer.address for peer in peers)
