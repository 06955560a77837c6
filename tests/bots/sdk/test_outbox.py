"""What waits to be sent on one stream."""

import asyncio

from meijin.bots.sdk.outbox import Outbox
from meijin.bots.sdk.wire import Action


async def test_actions_of_a_few_ticks_make_one_batch() -> None:
    """Actions that come while the first one waits travel with it."""
    outbox = Outbox()
    taking = asyncio.create_task(outbox.take())
    for number in range(3):
        outbox.add_action(Action(number, 0, 7))
        await asyncio.sleep(0)
    (request,) = await taking
    plays = request.actions.plays
    assert [play.game for play in plays] == [0, 1, 2]


async def test_pong_goes_first() -> None:
    """A pong doesn't wait for moves to join it, and a goodbye waits for everything."""
    outbox = Outbox()
    outbox.say_goodbye()
    outbox.add_action(Action(1, 0, 7))
    outbox.add_pong(5)
    assert not outbox.closed
    pongs, others = [await outbox.take(), await outbox.take()]
    assert [request.pong.sequence for request in pongs] == [5]
    assert [request.WhichOneof("command") for request in others] == ["actions", "goodbye"]


async def test_pong_waits_for_nobody() -> None:
    """A pong that is ready is taken in one tick of the event loop."""
    outbox = Outbox()
    outbox.add_pong(5)
    taking = asyncio.create_task(outbox.take())
    await asyncio.sleep(0)
    assert taking.done()


async def test_pong_while_collecting() -> None:
    """A ping that comes in the middle of a batch is answered before it."""
    outbox = Outbox()
    outbox.add_action(Action(1, 0, 7))
    taking = asyncio.create_task(outbox.take())
    await asyncio.sleep(0)
    outbox.add_pong(5)
    first, second = [await taking, await outbox.take()]
    assert [request.WhichOneof("command") for request in first] == ["pong"]
    assert [request.WhichOneof("command") for request in second] == ["actions"]


async def test_closed_by_the_goodbye() -> None:
    """After the goodbye there is nothing to write."""
    outbox = Outbox()
    outbox.say_goodbye()
    await outbox.take()
    assert outbox.closed
