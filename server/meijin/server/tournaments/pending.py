"""Pending pairings: planned games that have not begun, found by the bots that are free for them."""

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from heapq import heappop, heappush

from meijin.game import TimeControl
from meijin.store.schema import BotId, LadderId, PairingId
from meijin.store.tournaments import PendingPairing

NONE = -1
"""No row."""


class PendingPairings:
    """Planned games in the order in which they are to be played.

    Of each two bots the games form a queue, and those whose heads may be startable form a heap.
    So what is looked at when bots become free is the bots that are free then, however many games
    are planned; and who is needed is counted as games come and go.

    A pairing is a row of arrays, 40 bytes; as objects in a dictionary a million took 400 MB.
    """

    def __init__(self, pairings: Iterable[PendingPairing] = ()) -> None:
        self.clear()
        for pairing in pairings:
            self.add(pairing)

    def clear(self) -> None:
        """Drop all."""
        self._rows = _Rows()
        self._order = 0
        """Of the last that was added."""
        self._queues: dict[int, int] = {}
        """By the two bots, whichever has black, their queue."""
        self._heads, self._tails = array("i"), array("i")
        """Of each queue the first and the last row."""
        self._unused: list[int] = []
        """Queues without games."""
        self._needed: dict[BotId, Counter[TimeControl | None]] = {}
        """Of each bot how many games there are, by their own clocks."""
        self._idle: dict[BotId, object] = {}
        """Who was still free when games were last taken, each with what it can play."""
        self._ready: list[tuple[int, int]] = []
        """A heap of heads whose bots were both free at some time: order and row."""
        self._is_ready: set[int] = set()
        """Their orders."""

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[PendingPairing]:
        rows = self._rows
        return map(rows.get, sorted(self._all_rows(), key=rows.orders.__getitem__))

    def _all_rows(self) -> Iterator[int]:
        for queue in self._queues.values():
            row = self._heads[queue]
            while row != NONE:
                yield row
                row = self._rows.following[row]

    def add(self, pairing: PendingPairing) -> None:
        """Add one behind all others."""
        self._order += 1
        row = self._rows.add(pairing, self._order)
        key = _key(pairing.black_id, pairing.white_id)
        queue = self._queues.get(key)
        if queue is None:
            self._begin_queue(key, row)
            if self._idle.keys() >= {pairing.black_id, pairing.white_id}:
                self._push(row)
        else:
            self._rows.following[self._tails[queue]] = row
            self._tails[queue] = row
        self._count(pairing, 1)

    def _count(self, pairing: PendingPairing, change: int) -> None:
        for bot_id in (pairing.black_id, pairing.white_id):
            clocks = self._needed.setdefault(bot_id, Counter())
            clocks[pairing.time_control] += change
            if not clocks[pairing.time_control]:
                del clocks[pairing.time_control]
            if not clocks:
                del self._needed[bot_id]

    def _begin_queue(self, key: int, row: int) -> None:
        if self._unused:
            queue = self._unused.pop()
            self._heads[queue] = self._tails[queue] = row
        else:
            queue = len(self._heads)
            self._heads.append(row)
            self._tails.append(row)
        self._queues[key] = queue

    @property
    def capacity(self) -> int:
        """How many games it has held at once."""
        return self._rows.capacity

    @property
    def needed(self) -> Mapping[BotId, Collection[TimeControl | None]]:
        """The bots of these games, each with the clocks that it is needed for."""
        return self._needed

    def held(self, here: Mapping[BotId, object]) -> Counter[BotId]:
        """How many games each bot has whose opponent is here as well."""
        held: Counter[BotId] = Counter()
        for row in self._all_rows():
            bots = self._rows.bots(row)
            if all(bot_id in here for bot_id in bots):
                held.update(bots)
        return held

    def take(
        self,
        free: dict[BotId, int],
        players: Mapping[BotId, object],
        limit: int,
        may_play: Callable[[BotId, TimeControl], bool],
    ) -> list[PendingPairing]:
        """Take out the first games whose bots are free, at most so many.

        Args:
            free: How many games more each bot takes; what is taken is subtracted.
            players: Of each of them what is another object when it can play other games.
            may_play: Whether a bot can play a clock that is not the tournament's.
        """
        for bot_id in [key for key in free if self._idle.get(key) is not players[key]]:
            self._look_at(bot_id, free)
        taken: list[PendingPairing] = []
        waiting: list[int] = []
        while self._ready and len(taken) < limit:
            order, row = heappop(self._ready)
            self._is_ready.remove(order)
            if self._rows.orders[row] != order or not all(map(free.get, self._rows.bots(row))):
                continue  # it is looked at again when both are free again
            pairing = self._take_from(row, may_play)
            if pairing is None:
                waiting.append(row)
                continue
            taken.append(pairing)
            free[pairing.black_id] -= 1
            free[pairing.white_id] -= 1
        for row in waiting:
            self._push(row)
        self._idle = {bot_id: players[bot_id] for bot_id, room in free.items() if room}
        return taken

    def _look_at(self, bot_id: BotId, free: Iterable[BotId]) -> None:
        """Enter the games of a bot that has become free, with those that are free as well."""
        queues, heads = self._queues, self._heads
        for other in free:
            queue = queues.get(_key(bot_id, other))
            if queue is not None:
                self._push(heads[queue])

    def _push(self, row: int) -> None:
        order = self._rows.orders[row]
        if order not in self._is_ready:
            self._is_ready.add(order)
            heappush(self._ready, (order, row))

    def _take_from(
        self, head: int, may_play: Callable[[BotId, TimeControl], bool]
    ) -> PendingPairing | None:
        """Take the first game of a queue whose clock both bots can play; its next is looked at."""
        rows, before, row = self._rows, NONE, head
        while row != NONE:
            control, bots = rows.control(row), rows.bots(row)
            if control is None or all(may_play(bot_id, control) for bot_id in bots):
                return self._remove(row, before)
            before, row = row, rows.following[row]
        return None

    def _remove(self, row: int, before: int) -> PendingPairing:
        """Take a game out of its queue, where another may stand before it."""
        pairing, after = self._rows.get(row), self._rows.following[row]
        key = _key(pairing.black_id, pairing.white_id)
        queue = self._queues[key]
        if before != NONE:
            self._rows.following[before] = after
        else:
            self._heads[queue] = after
        if after == NONE:
            self._tails[queue] = before
        self._rows.remove(row)
        self._count(pairing, -1)
        if self._heads[queue] == NONE:
            self._unused.append(queue)
            del self._queues[key]
        else:
            self._push(self._heads[queue])
        return pairing


class _Rows:
    """The pairings themselves, a row each; rows of removed ones are used again."""

    def __init__(self) -> None:
        self.orders = array("q")
        """When each was added; 0 where a row is not used."""
        self.following = array("i")
        """Of each the next in its queue; `NONE` for the last."""
        self._ids = array("q")
        self._numbers = array("i")
        self._black, self._white = array("i"), array("i")
        self._openings = array("i")
        self._unused = array("i")
        self._book: list[bytes] = []
        """The openings, each once."""
        self._places: dict[bytes, int] = {}
        """Where they are there."""
        self._extras: dict[int, tuple[str, TimeControl | None, LadderId | None]] = {}
        """The reason, and clock and ladder of their own, of those that have one."""

    def __len__(self) -> int:
        return len(self.orders) - len(self._unused)

    @property
    def capacity(self) -> int:
        """How many rows there are."""
        return len(self.orders)

    def add(self, pairing: PendingPairing, order: int) -> int:
        """Keep a pairing and return its row."""
        opening = self._places.setdefault(pairing.opening, len(self._book))
        if opening == len(self._book):
            self._book.append(pairing.opening)
        row = self._unused.pop() if self._unused else self._new_row()
        self.orders[row] = order
        self.following[row] = NONE
        self._ids[row] = pairing.id
        self._numbers[row] = pairing.number
        self._black[row] = pairing.black_id
        self._white[row] = pairing.white_id
        self._openings[row] = opening
        if pairing.reason or pairing.time_control is not None:
            self._extras[row] = (pairing.reason, pairing.time_control, pairing.ladder_id)
        return row

    def _new_row(self) -> int:
        for column in self._columns:
            column.append(0)
        return len(self.orders) - 1

    @property
    def _columns(self) -> "tuple[array[int], ...]":
        return (
            self.orders,
            self.following,
            self._ids,
            self._numbers,
            self._black,
            self._white,
            self._openings,
        )

    def remove(self, row: int) -> None:
        """Free a row."""
        self.orders[row] = 0
        self._extras.pop(row, None)
        self._unused.append(row)

    def bots(self, row: int) -> tuple[BotId, BotId]:
        """Black and white."""
        return BotId(self._black[row]), BotId(self._white[row])

    def control(self, row: int) -> TimeControl | None:
        """Its own clock; ``None`` for the tournament's."""
        extra = self._extras.get(row)
        return extra and extra[1]

    def get(self, row: int) -> PendingPairing:
        """The pairing."""
        reason, control, ladder_id = self._extras.get(row, ("", None, None))
        return PendingPairing(
            PairingId(self._ids[row]),
            self._numbers[row],
            *self.bots(row),
            self._book[self._openings[row]],
            reason,
            control,
            ladder_id,
        )


def _key(one: int, other: int) -> int:
    """Of two bots, whichever comes first."""
    return one << 32 | other if one < other else other << 32 | one
