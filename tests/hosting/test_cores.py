"""The queue for cores."""

from __future__ import annotations

import asyncio

from meijin.hosting.cores import Cores


def waiting(cores: Cores, *owners: str) -> list[asyncio.Task[int]]:
    """Programs of owners, each of which waits for a core."""
    return [asyncio.create_task(cores.take(owner), name=owner) for owner in owners]


async def served(tasks: list[asyncio.Task[int]]) -> list[str]:
    """The owners of programs that have a core."""
    for _ in range(3):
        await asyncio.sleep(0)
    return [task.get_name() for task in tasks if task.done() and not task.cancelled()]


async def order(cores: Cores, tasks: list[asyncio.Task[int]]) -> list[str]:
    """The owners in the order in which they get the only core, each giving it back at once."""
    found = []
    while tasks:
        await served(tasks)
        (task,) = (task for task in tasks if task.done())
        found.append(task.get_name())
        tasks.remove(task)
        cores.give_back(task.result())
    return found


async def test_whoever_comes_first_of_an_owner_gets_the_next() -> None:
    cores = Cores([3])
    first, second = waiting(cores, "", "")
    assert await first == 3
    assert not second.done()
    cores.give_back(3)
    assert await second == 3


async def test_owners_take_turns() -> None:
    """Another's hundred programs delay nobody by more than one turn."""
    cores = Cores([1])
    assert await order(cores, waiting(cores, *"aaaabb")) == list("ababaa")


async def test_owner_with_the_fewest_cores_is_next() -> None:
    cores = Cores([1, 2, 3])
    taken = waiting(cores, "a", "a", "b")
    assert await served(taken) == ["a", "a", "b"]
    later = waiting(cores, "a", "b")
    cores.give_back(taken[0].result())
    assert await served(later) == ["a"]  # which has one then, as the other


async def test_who_waits_no_longer_takes_no_core() -> None:
    """Whether it was still waiting, or was just about to have one."""
    cores = Cores([1])
    core = await cores.take("a")
    gone, late, stays = waiting(cores, "a", "b", "c")
    await served([])
    gone.cancel()
    await served([])
    cores.give_back(core)
    late.cancel()
    assert await stays == 1
    assert gone.cancelled()
    assert late.cancelled()
