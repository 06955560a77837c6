"""Limits of new connections, in invented time."""

from __future__ import annotations

from meijin.server.api.calls.limits import Address, Peer
from meijin.server.connections.limits import (
    ADDRESSES,
    BURST_SECONDS,
    PROGRAMS,
    ConnectionLimits,
    Waiting,
)

RATE = 10
BURST = BURST_SECONDS * RATE
STRANGER = Peer(Address("ipv4:10.1.1.1"), "1")


def limits(*, most: int = 1000, most_in_all: int = 5000) -> ConnectionLimits:
    return ConnectionLimits(per_second=RATE, most=most, most_in_all=most_in_all, now=0)


def peers(address: str, count: int) -> list[Peer]:
    return [Peer(Address(f"ipv4:{address}"), str(port)) for port in range(count)]


def one_each(count: int) -> list[Peer]:
    return [one for host in range(count) for one in peers(f"10.0.0.{host}", 1)]


def test_who_opens_too_many_waits_alone() -> None:
    """It has this many at once and then this many a second, as others have; each is charged once."""
    each = limits()
    crowd, friend = peers("10.0.0.1", BURST + 5), peers("10.0.0.2", 3)
    for _ in range(3):
        each.count({*crowd[: BURST - 1], *friend}, 0)
    assert each.waiting(0) == Waiting()
    each.count({*crowd, *friend}, 0)
    assert each.waiting(0) == Waiting(frozenset({crowd[0].address}))
    assert each.waiting(0).hangs_up(crowd[0])
    assert not each.waiting(0).hangs_up(friend[0])
    assert each.waiting(0.5).addresses
    assert each.waiting(0.7) == Waiting()


def test_connections_that_nobody_sees_are_bounded_too() -> None:
    """A storm of resets is of nobody; what other programs are opened as a rule is none."""
    each = limits()
    for tenth in range(100):
        each.count_on_machine(PROGRAMS * RATE // 10, tenth / 10)
    assert each.waiting(10) == Waiting()
    each.count_on_machine(PROGRAMS * RATE, 10)
    assert each.waiting(10) == Waiting(everybody=True)
    assert each.waiting(11) == Waiting()


def test_all_together_have_a_rate_too() -> None:
    """Nobody is above his own, and all of them are too many."""
    each = limits()
    each.count(one_each(ADDRESSES * BURST), 0)
    assert each.waiting(0) == Waiting(everybody=True)
    assert not each.waiting(0).hangs_up(STRANGER)
    assert each.waiting(0.1) == Waiting()


def test_an_address_has_so_many_at_once() -> None:
    """However slowly it has opened them."""
    each = limits(most=30)
    held = peers("10.0.0.1", 31)
    for second in range(31):
        each.count(held[: second + 1], second)
    assert each.waiting(100) == Waiting(frozenset({held[0].address}))
    each.count(held[:30], 100)
    assert each.waiting(100) == Waiting()


def test_all_together_have_so_many_at_once() -> None:
    """What is left of the server's files is its own."""
    each = limits(most_in_all=3)
    each.count(one_each(4), 0)
    assert each.waiting(0) == Waiting(everybody=True, is_full=True)
    assert each.waiting(0).hangs_up(STRANGER)
