"""Pending pairings: planned games that have not begun, found by the bots that are free for them."""

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from heapq import heappop, heappush

from meijin.game import TimeControl
from meijin.store.schema import BotId, LadderId, PairingId
from meijin.store.tournaments import PendingPairing

NONE = -1
"""No row."""

ROW_BITS = 32
"""Of a number in the heap of heads, below those of the order."""

STALE_HEADS = 16
"""Heads that are looked at in vain before others may get a turn: 100 us."""

IDLE_PER_US = 8
"""Bots that one is held against in a microsecond; with ten thousand it is half as many."""

HEAD_US = 2
"""A head that is put into the heap."""


class PendingPairings:
    """Planned games in the order in which they are to be played.

    Of each two bots the games form a queue, and those whose heads may be startable form a heap.
    So what is looked at when a bot becomes free is the bots that are free then, however many games
    are planned; and who is needed is counted as games come and go.

    Between every two bots that are idle, which have been offered and not found busy since, the
    head of their queue is in the heap, unless no game of the queue has a clock that both can
    play. So nobody is looked at again before it has changed.

    A pairing is a row of arrays, 41 bytes; as objects in a dictionary a million took 400 MB.
    """

    def __init__(self, pairings: Iterable[PendingPairing] = ()) -> None:
        self.clear()
        for pairing in pairings:
            self.add(pairing)

    def clear(self) -> None:
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
        self._unoffered: set[BotId] = set()
        """Bots that may be free, or have come to be needed, and are to be offered if they are free."""
        self._idle: dict[BotId, str] = {}
        """Who was free when it was last looked at, each with its session: a name, since bots that
        have left are among them."""
        self._ready: list[int] = []
        """A heap of heads whose bots were both free at some time: order and row in one."""

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, pairing: PendingPairing) -> None:
        self._order += 1
        row = self._rows.add(pairing, self._order)
        key = _key(pairing.black_id, pairing.white_id)
        queue = self._queues.get(key)
        if queue is None:
            queue = self._begin_queue(key, row)
        else:
            self._rows.following[self._tails[queue]] = row
            self._tails[queue] = row
        if pairing.black_id in self._idle and pairing.white_id in self._idle:
            self._push(self._heads[queue])
        self._count(pairing, 1)

    def _count(self, pairing: PendingPairing, change: int) -> None:
        for bot_id in (pairing.black_id, pairing.white_id):
            clocks = self._needed.get(bot_id)
            if clocks is None:
                clocks = self._needed[bot_id] = Counter()
                self._unoffered.add(bot_id)
            clocks[pairing.time_control] += change
            if not clocks[pairing.time_control]:
                del clocks[pairing.time_control]
            if not clocks:
                del self._needed[bot_id]
                self._idle.pop(bot_id, None)
                self._unoffered.discard(bot_id)

    def _begin_queue(self, key: int, row: int) -> int:
        if self._unused:
            queue = self._unused.pop()
            self._heads[queue] = self._tails[queue] = row
        else:
            queue = len(self._heads)
            self._heads.append(row)
            self._tails.append(row)
        self._queues[key] = queue
        return queue

    @property
    def needed(self) -> Mapping[BotId, Collection[TimeControl | None]]:
        """The bots of these games, each with the clocks that it is needed for."""
        return self._needed

    def held(self, here: Mapping[BotId, object]) -> Counter[BotId]:
        """How many games each bot has whose opponent is here as well."""
        held: Counter[BotId] = Counter()
        for queue in self._queues.values() if here else ():
            row = self._heads[queue]
            bots = self._rows.bots(row)
            if all(bot_id in here for bot_id in bots):
                while row != NONE:
                    held.update(bots)
                    row = self._rows.following[row]
        return held

    def note_free(self, bots: Collection[BotId]) -> None:
        """Bots may be free: those that are needed are to be offered."""
        self._unoffered.update(self._needed.keys() & bots)

    @property
    def has_unoffered(self) -> bool:
        """Whether there are bots to offer, if they are free."""
        return bool(self._unoffered)

    def take_unoffered(self) -> Collection[BotId]:
        """The bots to offer, which are now for the caller to look at."""
        unoffered, self._unoffered = self._unoffered, set()
        return unoffered

    @property
    def has_ready(self) -> bool:
        """Whether there may be a game to take."""
        return bool(self._ready)

    def offer(self, bot_id: BotId, session_id: str) -> int:
        """Look at the games of a bot that is free, with those that are idle.

        Args:
            session_id: Another one when the bot can play other games than before.

        Returns:
            About how many microseconds it took.
        """
        idle, queues, heads, ready = self._idle, self._queues, self._heads, len(self._ready)
        if idle.get(bot_id) == session_id:
            return 0
        for other in idle:
            queue = queues.get(_key(bot_id, other))
            if queue is not None:
                self._push(heads[queue])
        idle[bot_id] = session_id
        return len(idle) // IDLE_PER_US + HEAD_US * (len(self._ready) - ready)

    def take(
        self, is_free: Callable[[BotId], bool], may_play: Callable[[BotId, TimeControl], bool]
    ) -> PendingPairing | None:
        """Take out the first game whose bots are both free; ``None`` if none was found so far.

        A bot that is found not to be free is to be offered once it is.

        Args:
            is_free: Whether a bot takes a game more.
            may_play: Whether a bot can play a clock that is not the tournament's; that changes
                with the session that is offered.
        """
        rows, idle = self._rows, self._idle
        for _ in range(min(STALE_HEADS, len(self._ready))):
            order, row = divmod(heappop(self._ready), 1 << ROW_BITS)
            if rows.orders[row] != order:
                continue
            rows.is_ready[row] = False
            bots = rows.bots(row)
            busy = [bot_id for bot_id in bots if bot_id not in idle or not is_free(bot_id)]
            for bot_id in busy:
                idle.pop(bot_id, None)
            pairing = None if busy else self._take_from(row, may_play)
            if pairing is not None:
                return pairing
        return None

    def _push(self, row: int) -> None:
        rows = self._rows
        if not rows.is_ready[row]:
            rows.is_ready[row] = True
            heappush(self._ready, rows.orders[row] << ROW_BITS | row)

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
        self.is_ready = array("b")
        """Whether each is in the heap of heads."""
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

    def add(self, pairing: PendingPairing, order: int) -> int:
        opening = self._places.setdefault(pairing.opening, len(self._book))
        if opening == len(self._book):
            self._book.append(pairing.opening)
        row = self._unused.pop() if self._unused else self._new_row()
        self.orders[row] = order
        self.following[row] = NONE
        self.is_ready[row] = False
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
            self.is_ready,
            self._ids,
            self._numbers,
            self._black,
            self._white,
            self._openings,
        )

    def remove(self, row: int) -> None:
        self.orders[row] = 0
        self._extras.pop(row, None)
        self._unused.append(row)

    def bots(self, row: int) -> tuple[BotId, BotId]:
        return BotId(self._black[row]), BotId(self._white[row])

    def control(self, row: int) -> TimeControl | None:
        """Its own clock; ``None`` for the tournament's."""
        extra = self._extras.get(row)
        return extra and extra[1]

    def get(self, row: int) -> PendingPairing:
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
