"""The books: what is known of every game and of every turn that was told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.simulation.network import Stream

from meijin.game import Color, Ending, Seat, Task, TimeControl, Variant

MS = 1_000_000
FOREVER_NS = 1 << 62
SIDES = (Color.BLACK, Color.WHITE)
STONES = {"swap1": (1, 0), "swap": (3, 0), "swap2": (3, 2)}
"""Of the opening rules that are played: what the first player places, and what the second may."""


@dataclass(slots=True, eq=False)
class Ask:
    """A turn that was handed to the transport."""

    stream: Stream
    ply: int
    clock_ns: int
    """What the bot is told that it has left."""
    written_ns: int
    delivered_ns: int
    """When it reaches the bot's machine."""
    answer_ns: int | None = None
    """When the bot answers, or would have; ``None`` while it has not read the turn."""
    received_ns: int | None = None
    """When the answer has reached the server's machine."""
    left_ns: int | None = None
    """When the stream was over for the server."""
    is_lost: bool = False
    """The server died: what had passed until then is forgotten."""
    is_own_end: bool = False
    """The bot's process died before it answered."""

    @property
    def own_ns(self) -> int:
        """The bot's own time, from the turn's arrival to the answer's departure."""
        if self.is_own_end:
            return FOREVER_NS
        if self.left_ns is not None and self.received_ns is None:  # nobody knows when it was cut
            return self.left_ns - self.written_ns
        if self.answer_ns is None:
            return FOREVER_NS if self.stream.client.process.is_held else 0
        return self.answer_ns - self.delivered_ns

    def most_ns(self, now_ns: int) -> int:
        """The most that may be charged: what no standstill of the server is part of."""
        ends = (self.received_ns, self.left_ns, now_ns)
        return min(end for end in ends if end is not None) - self.written_ns


class Mark(NamedTuple):
    """How far a game has come."""

    moves: int
    stones: int
    charges: tuple[int, ...]
    chosen: tuple[int, Color] | None
    chosen_in: int


@dataclass(slots=True, eq=False)
class GameRecord:
    """All that is known of a game."""

    id: int
    pairing_id: int
    names: tuple[str, str, str]
    """By the value of a seat."""
    variant: Variant
    control: TimeControl
    is_rated: bool
    opening_plies: int
    moves: bytearray
    """Those that are committed."""
    state: str = "running"
    ending: Ending | None = None
    chosen: tuple[int, Color] | None = None
    """The ply and the colour of the choice of a side that is committed."""
    chosen_in: int = 0
    """The entry with moves that holds the choice, by its place among all."""
    charged_ns: list[list[int]] = field(default_factory=lambda: [[], [], []])
    """By the value of a seat, of every action."""
    stone_ns: list[int] = field(default_factory=list)
    """What each stone after the opening was charged: those of one action after its first nothing."""
    asks: defaultdict[int, list[Ask]] = field(default_factory=lambda: defaultdict(list))
    """By turn."""
    sent: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    """By turn, the codes that the bot to act has sent; those of several stones by their turns."""
    deeds: set[tuple[Seat, Ending]] = field(default_factory=set)
    """What its bots have done to it that ends it."""
    away_ns: list[int] = field(default_factory=lambda: [0, 0, 0])
    """By the value of a seat, how long the bot was away through no fault of the server."""

    @property
    def mark(self) -> Mark:
        charges = tuple(map(len, self.charged_ns))
        return Mark(len(self.moves), len(self.stone_ns), charges, self.chosen, self.chosen_in)

    def rewind(self, mark: Mark) -> None:
        del self.moves[mark.moves :], self.stone_ns[mark.stones :]
        for charged, length in zip(self.charged_ns, mark.charges, strict=True):
            del charged[length:]
        self.chosen, self.chosen_in = mark.chosen, mark.chosen_in

    @property
    def told_turns(self) -> int:
        return max((turn for turn, asks in self.asks.items() if asks), default=0)

    @property
    def valid_asks(self) -> list[Ask]:
        """The requests for the pending move that the server still knows of."""
        return [ask for ask in self.asks[self.turn] if not ask.is_lost]

    @property
    def ply(self) -> int:
        return len(self.moves) // 2

    @property
    def turn(self) -> int:
        """Stones on the board, and one more when a side is chosen."""
        return self.ply + (self.chosen is not None)

    @property
    def task(self) -> Task | None:
        """What the opening asks for; ``None`` for a move."""
        placed, more = STONES.get(self.variant.opening_rule.name, (0, 0))
        if not placed or self.chosen is not None:
            return None
        if self.ply < placed:
            return Task(placed - self.ply)
        if self.ply == placed:
            return Task(more, may_choose=True)
        left = placed + more - self.ply
        return Task(left, may_choose=not left)

    @property
    def seat_to_act(self) -> Seat:
        if self.task is None:
            return self.seat_of(SIDES[self.ply & 1])
        placed, more = STONES[self.variant.opening_rule.name]
        return Seat.SECOND if placed <= self.ply < placed + max(more, 1) else Seat.FIRST

    def seat_of(self, color: Color) -> Seat:
        """Who has a colour: the first player black, unless a choice says otherwise."""
        black = Seat.FIRST
        if self.chosen is not None:
            ply, choice = self.chosen
            placed, _ = STONES[self.variant.opening_rule.name]
            chooser = Seat.SECOND if ply == placed else Seat.FIRST
            black = chooser if choice is Color.BLACK else chooser.other
        return black if color is Color.BLACK else black.other

    def seat(self, name: str) -> Seat:
        return Seat.FIRST if self.names[Seat.FIRST] == name else Seat.SECOND

    def left_ns(self, seat: Seat) -> int:
        """What is left on a clock by the times that are committed."""
        if self.control.initial is None:
            assert self.control.per_move is not None
            return int(self.control.per_move.total_seconds() * 1000) * MS
        charged = self.charged_ns[seat]
        start = round(self.control.initial.total_seconds() * 1e9)
        increment = round(self.control.increment.total_seconds() * 1e9)
        return start + increment * len(charged) - sum(charged)


class Books:
    """All games, as they are by what is committed, told and sent."""

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self.games: dict[int, GameRecord] = {}
        self.now_ns = now_ns
        self.known_entry = 0
        """The last entry with moves of which the server shows that it knows of the commit."""

    def running(self, name: str) -> Iterable[GameRecord]:
        return [
            game for game in self.games.values() if game.state == "running" and name in game.names
        ]

    def game_on(self, stream: Stream, number: int) -> GameRecord | None:
        return self.games.get(stream.games.get(number, 0))

    def ask(self, stream: Stream, number: int, ply: int) -> Ask | None:
        game = self.game_on(stream, number)
        turns = (ply, ply + 1) if game is not None and game.chosen is not None else (ply,)
        asks = [] if game is None else [ask for at in turns for ask in game.asks[at]]
        asks = [ask for ask in asks if ask.stream is stream and ask.ply == ply]
        return asks[-1] if asks else None

    def open_asks(self, stream: Stream | None) -> list[Ask]:
        """The turns that a bot has not answered on a stream."""
        if stream is None:
            return []
        return [
            ask
            for game in self.running(stream.client.name)
            for ask in game.asks[game.turn]
            if ask.stream is stream and ask.received_ns is None
        ]

    def has_told(self, game: GameRecord) -> None:
        """The server has told what follows from a choice, if there is one: it knows of its commit."""
        self.known_entry = max(self.known_entry, game.chosen_in)

    def server_died(self) -> None:
        for game in self.games.values():
            if game.state == "running":
                game.away_ns = [0, 0, 0]
                for ask in game.asks[game.turn]:
                    ask.is_lost = True
