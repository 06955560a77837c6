"""The books: what is known of every game and of every turn that was told."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.simulation.network import Stream

from meijin.game import Color, Ending, TimeControl, Variant

MS = 1_000_000
FOREVER_NS = 1 << 62
SIDES = (Color.BLACK, Color.WHITE)


@dataclass(slots=True, eq=False)
class Ask:
    """A turn that was handed to the transport."""

    stream: Stream
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


@dataclass(slots=True, eq=False)
class GameRecord:
    """All that is known of a game."""

    id: int
    pairing_id: int
    names: tuple[str, str, str]
    """By the value of a colour."""
    variant: Variant
    control: TimeControl
    is_rated: bool
    opening_plies: int
    moves: bytearray
    """Those that are committed."""
    state: str = "running"
    ending: Ending | None = None
    charged_ns: list[list[int]] = field(default_factory=lambda: [[], [], []])
    """By the value of a colour."""
    asks: defaultdict[int, list[Ask]] = field(default_factory=lambda: defaultdict(list))
    """By ply."""
    sent: defaultdict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    """By ply, the cells that the bot to move has sent."""
    deeds: set[tuple[Color, Ending]] = field(default_factory=set)
    """What its bots have done to it that ends it."""
    away_ns: list[int] = field(default_factory=lambda: [0, 0, 0])
    """By the value of a colour, how long the bot was away through no fault of the server."""

    @property
    def valid_asks(self) -> list[Ask]:
        """The requests for the pending move that the server still knows of."""
        return [ask for ask in self.asks[self.ply] if not ask.is_lost]

    @property
    def ply(self) -> int:
        """Stones on the board."""
        return len(self.moves) // 2

    def color(self, name: str) -> Color:
        """The side of a bot."""
        return Color.BLACK if self.names[Color.BLACK] == name else Color.WHITE

    def left_ns(self, color: Color) -> int:
        """What is left on a clock by the times that are committed."""
        if self.control.initial is None:
            assert self.control.per_move is not None
            return int(self.control.per_move.total_seconds() * 1000) * MS
        charged = self.charged_ns[color]
        start = round(self.control.initial.total_seconds() * 1e9)
        increment = round(self.control.increment.total_seconds() * 1e9)
        return start + increment * len(charged) - sum(charged)


class Books:
    """All games, as they are by what is committed, told and sent."""

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self.games: dict[int, GameRecord] = {}
        self.now_ns = now_ns

    def running(self, name: str) -> Iterable[GameRecord]:
        """The running games of a bot."""
        return [
            game for game in self.games.values() if game.state == "running" and name in game.names
        ]

    def game_on(self, stream: Stream, number: int) -> GameRecord | None:
        """The game that has a number on a stream."""
        return self.games.get(stream.games.get(number, 0))

    def ask(self, stream: Stream, number: int, ply: int) -> Ask | None:
        """The turn that was told on a stream last."""
        game = self.game_on(stream, number)
        asks = [] if game is None else [ask for ask in game.asks[ply] if ask.stream is stream]
        return asks[-1] if asks else None

    def open_asks(self, stream: Stream | None) -> list[Ask]:
        """The turns that a bot has not answered on a stream."""
        if stream is None:
            return []
        return [
            ask
            for game in self.running(stream.client.name)
            for ask in game.asks[game.ply]
            if ask.stream is stream and ask.received_ns is None
        ]

    def server_died(self) -> None:
        """What it knew of turns and absences is lost."""
        for game in self.games.values():
            if game.state == "running":
                game.away_ns = [0, 0, 0]
                for ask in game.asks[game.ply]:
                    ask.is_lost = True
