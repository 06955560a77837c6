"""The oracle: what was committed, told and done, and whether all of it may be."""

from __future__ import annotations

import struct
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tests.simulation.disk import Disk
from tests.simulation.network import Stream

from meijin.game import Color, Ending, TimeControl, Variant
from meijin.v1 import play_service_pb2 as pb

MS = 1_000_000
FOREVER_NS = 1 << 62

UNCREDITED_NS = 75 * MS
"""Of a standstill or of jitter the product may charge so much to a move: it takes no notice of
standstills below 50 ms, counts them from its last tick, 20 ms before, and knows lag by its
least."""

GRACE_TOLERANCE_NS = 200 * MS
"""An absence lasts until the hello is stored, and it is looked at 25 times a second."""

UNNOTICED_NS = 600 * MS
"""Half a second of the store's silence is no outage yet, and some time passes until it is seen."""

START_NS = 10_000 * MS
"""A goodbye resigns games too whose start was being stored."""

_MOVE = struct.Struct("<QHHQQ")
_SIDES = (Color.BLACK, Color.WHITE)


class Violation(Exception):  # noqa: N818 - what it is called everywhere else
    """Something has happened that never may."""


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


class Oracle:
    """Keeps the books beside the product, and compares."""

    def __init__(self, disk: Disk, now_ns: Callable[[], int]) -> None:
        self.games: dict[int, GameRecord] = {}
        self.endings: Counter[str] = Counter()
        self.present: dict[str, Stream] = {}
        """The bots whose hello has come, and on which stream."""
        self._away_since: dict[str, tuple[int, int]] = {}
        """When a bot left, and what the outages had lasted by then."""
        self._reader = disk.reader
        self._now_ns = now_ns
        self._last_entry = self._last_game = self._last_end = self._last_fault = 0
        self._entries = 0
        self._outage_ns = 0
        self._outage_since_ns: int | None = None
        self._rated_changes = 0
        self._goodbyes: dict[str, int] = {}

    # -- what is committed --------------------------------------------------------------

    def committed(self) -> None:
        """Look at what is new on the disk."""
        read = self._reader.execute
        for row in read(_STARTS, (self._last_game,)).fetchall():
            self._last_game = row[0]
            self._start(*row)
        for entry, moves in read(_ENTRIES, (self._last_entry,)).fetchall():
            self._last_entry = entry
            for move in _MOVE.iter_unpack(moves):
                self._move(*move)
        for row in read(_ENDS, (self._last_end,)).fetchall():
            self._end(*row)
        for fault, game_id, ending in read(_FAULTS, (self._last_fault,)).fetchall():
            self._last_fault = fault
            game = self.games[game_id]
            if game.state == "finished" and ending == "void":
                game.state = "void"
                self._rated_changes += game.is_rated
        (entries,) = read("SELECT count(*) FROM journal").fetchone()
        if entries < self._entries:
            self._check_journal()
        self._entries = entries

    def _start(self, game_id: int, *columns: object) -> None:
        pairing_id, ladder, black, white, variant, control, own_control, plies, moves, state = (
            columns
        )
        require(state in {"running", "void", "finished"}, f"game {game_id} is {state}")
        for other in self.games.values():
            if other.pairing_id == pairing_id:
                require(other.state == "void", f"pairing {pairing_id} is played twice")
        self.games[game_id] = game = GameRecord(
            id=game_id,
            pairing_id=pairing_id,  # type: ignore[arg-type]
            names=("", str(black), str(white)),
            variant=Variant.parse(str(variant)),
            control=TimeControl.parse(str(own_control or control)),
            is_rated=ladder is not None,
            opening_plies=int(plies),  # type: ignore[call-overload]
            moves=bytearray(moves[: 2 * plies]),  # type: ignore[index, operator]
        )
        for color in _SIDES:
            said_ns = self._goodbyes.get(game.names[color])
            if said_ns is not None and self._now_ns() - said_ns < START_NS:
                game.deeds.add((color, Ending.RESIGN))

    def _move(self, game_id: int, ply: int, cell: int, raw_ns: int, charged_ns: int) -> None:
        game = self.games[game_id]
        require(game.state == "running", f"a move of game {game_id}, which is {game.state}")
        self._add_move(game, ply, cell, raw_ns, charged_ns)

    def _add_move(
        self, game: GameRecord, ply: int, cell: int, raw_ns: int, charged_ns: int
    ) -> None:
        where = f"game {game.id} ply {ply}"
        require(ply == game.ply, f"{where} is stored when {game.ply} was to be")
        require(cell in game.sent[ply], f"{where}: {cell} is stored, {game.sent[ply]} was sent")
        asks = [ask for ask in game.asks[ply] if not ask.is_lost]
        require(bool(asks), f"{where} was never asked for")
        most_ns = sum(ask.most_ns(self._now_ns()) for ask in asks) + UNCREDITED_NS
        require(
            0 <= charged_ns <= most_ns,
            f"{where} was charged {charged_ns / MS} ms, at most {most_ns / MS} were its bot's",
        )
        require(charged_ns <= raw_ns, f"{where} was charged {charged_ns} of {raw_ns} ns")
        color = _SIDES[ply & 1]
        require(charged_ns <= game.left_ns(color), f"{where}: the clock is below zero")
        game.moves += cell.to_bytes(2, "little")
        game.charged_ns[color].append(charged_ns)

    def _end(self, game_id: int, sequence: int, *columns: object) -> None:
        require(sequence == self._last_end + 1, f"end {sequence} follows {self._last_end}")
        self._last_end = sequence
        state, ending, result, at_fault, moves, times = columns
        assert isinstance(moves, bytes)
        assert isinstance(times, bytes)
        game = self.games[game_id]
        require(game.state == "running", f"game {game_id} ends twice")
        game.ending = Ending(ending)
        self.endings[str(ending)] += 1
        self._check_times(game, moves, times)
        require(moves == game.moves, f"game {game_id} is stored as {moves!r}, not {game.moves!r}")
        game.state = str(state)
        require((state == "void") == (ending == "void"), f"game {game_id}: {state} by {ending}")
        if state == "finished":
            self._rated_changes += game.is_rated
        loser = {"1-0": Color.WHITE, "0-1": Color.BLACK}.get(str(result))
        self._check_end(game, game.ending, loser, str(at_fault))

    def _check_times(self, game: GameRecord, moves: bytes, times: bytes) -> None:
        """Both columns of times hold every move's; the last move comes with the end alone."""
        columns = memoryview(times).cast("Q")
        made = len(columns) // 2
        require(len(moves) // 2 == game.opening_plies + made, f"game {game.id}: {made} times")
        raw, charged = columns[:made], columns[made:]
        assert game.ending is not None
        if not game.ending.is_forfeit and len(moves) == len(game.moves) + 2:
            cell = int.from_bytes(moves[-2:], "little")
            self._add_move(game, game.ply, cell, raw[-1], charged[-1])
        for color in _SIDES:
            first = (int(color) - 1 - game.opening_plies) % 2
            mine = list(charged[first::2])
            require(mine == game.charged_ns[color], f"game {game.id}: other times than committed")

    def _check_end(
        self, game: GameRecord, ending: Ending, loser: Color | None, at_fault: str
    ) -> None:
        what = f"game {game.id} at ply {game.ply} ended by {ending.value} of {loser!r}"
        cells = [
            int.from_bytes(game.moves[i : i + 2], "little") for i in range(0, len(game.moves), 2)
        ]
        require(len(set(cells)) == len(cells), f"{what}: a cell is taken twice")
        line = _has_line(cells, game.variant)
        if ending is Ending.FIVE:
            require(line and loser is not _SIDES[(game.ply - 1) & 1], f"{what}: no such line")
        else:
            require(not line, f"{what} on a board with a line")
        if ending is Ending.DRAW:
            require(game.ply == game.variant.cells, f"{what}: the board is not full")
        elif ending is Ending.VOID:
            require(loser is None, what)
        elif ending is not Ending.FIVE:
            assert loser is not None
            self._check_fault(game, ending, loser, what)
            if ending.is_forfeit:
                require(at_fault == loser.name.lower(), f"{what}, at fault {at_fault}")

    def _check_fault(self, game: GameRecord, ending: Ending, loser: Color, what: str) -> None:
        """A bot loses off the board by what it did itself."""
        if ending is Ending.TIME:
            asks = [ask for ask in game.asks[game.ply] if not ask.is_lost]
            require(bool(asks), f"{what} without a turn")
            own_ns = sum(ask.own_ns for ask in asks)
            spare_ns = UNCREDITED_NS * len(asks)
            told_ns = asks[0].clock_ns
            if game.control.per_move is not None:
                told_ns = min(told_ns, round(game.control.per_move.total_seconds() * 1e9))
            require(
                own_ns + spare_ns >= told_ns,
                f"{what}: it used {own_ns / MS} ms of {told_ns / MS}",
            )
        elif ending is Ending.DISCONNECT:
            away_ns = game.away_ns[loser] + self._absence_ns(game.names[loser])
            require(
                away_ns + GRACE_TOLERANCE_NS >= self.grace_ns,
                f"{what}: it was away {away_ns / MS} ms of {self.grace_ns / MS}",
            )
        else:
            require((loser, ending) in game.deeds, f"{what}: it did not")

    grace_ns = 0

    # -- what is told -------------------------------------------------------------------

    def written(self, stream: Stream, message: pb.PlayResponse, delivered_ns: int) -> None:
        """The server hands a message to the transport: it holds what is committed alone."""
        if not message.HasField("events"):
            return
        name = stream.client.name
        for ended in message.events.ended:
            self._tell_end(stream, name, ended)
        for started in message.events.started:
            game = self.games.get(int(started.game_id))
            require(game is not None, f"game {started.game_id} is told of before it is stored")
            assert game is not None
            require(name in game.names, f"game {game.id} is told to {name}")
            require(
                game.moves.startswith(started.moves),
                f"game {game.id} starts with {started.moves!r}, stored is {game.moves!r}",
            )
            stream.games[started.game] = game.id
            _once(stream, "start", started.game)
        for turn in message.events.turns:
            self._tell_turn(stream, name, turn, delivered_ns)

    def _tell_turn(
        self, stream: Stream, name: str, turn: pb.TurnRequested, delivered_ns: int
    ) -> None:
        require(turn.game in stream.games, f"a turn in game {turn.game} before its start")
        game = self.games[stream.games[turn.game]]
        where = f"the turn of {name} in game {game.id} at ply {turn.ply}"
        require(turn.moves == game.moves, f"{where} tells {turn.moves!r}, stored {game.moves!r}")
        require(turn.ply == game.ply, f"{where}: {game.ply} stones")
        color = _SIDES[turn.ply & 1]
        require(game.names[color] == name, f"{where} is its opponent's")
        _once(stream, "turn", turn.game, turn.ply)
        self._check_clocks(game, color, turn, where)
        clock_ns = turn.own_clock_ms * MS
        game.asks[turn.ply].append(Ask(stream, clock_ns, self._now_ns(), delivered_ns))

    def _check_clocks(
        self, game: GameRecord, color: Color, turn: pb.TurnRequested, where: str
    ) -> None:
        own_ms, other_ms = game.left_ns(color) // MS, game.left_ns(color.other) // MS
        told = f"{where}: told {turn.own_clock_ms} and {turn.opponent_clock_ms} ms"
        require(turn.opponent_clock_ms == other_ms, f"{told}, the other has {other_ms}")
        before = [ask for ask in game.asks[turn.ply] if not ask.is_lost]
        used_ns = sum(ask.most_ns(self._now_ns()) for ask in before)
        least_ms = own_ms - used_ns // MS - (UNCREDITED_NS // MS if before else 0)
        require(least_ms <= turn.own_clock_ms <= own_ms, f"{told}, it has {own_ms}")

    def _tell_end(self, stream: Stream, name: str, ended: pb.GameEnded) -> None:
        require(ended.game in stream.games, f"the end of game {ended.game} before its start")
        game = self.games[stream.games[ended.game]]
        where = f"the end of game {game.id} told to {name}"
        require(game.ending is not None, f"{where} is not stored")
        require(ended.moves == game.moves, f"{where}: {ended.moves!r}, not {game.moves!r}")
        assert game.ending is not None
        _once(stream, "end", ended.game)

    # -- what the bots do ---------------------------------------------------------------

    def arrived(self, stream: Stream, message: pb.PlayRequest) -> None:
        """A message of a bot has reached the server's machine."""
        name = stream.client.name
        kind = message.WhichOneof("command")
        if kind == "hello":
            self._came(name, stream)
        elif kind == "goodbye":
            self._goodbyes[name] = self._now_ns()
            for game in self._running(name):
                game.deeds.add((game.color(name), Ending.RESIGN))
        elif kind == "actions":
            for play in message.actions.plays:
                self._arrive_play(stream, play)
            for resign in message.actions.resigns:
                self._deed(stream, resign.game, Ending.RESIGN)
            for failure in message.actions.failures:
                self._deed(stream, failure.game, Ending.CRASH)

    def _arrive_play(self, stream: Stream, play: pb.Play) -> None:
        game = self.games.get(stream.games.get(play.game, 0))
        if game is None or game.color(stream.client.name) is not _SIDES[play.ply & 1]:
            return
        game.sent[play.ply].add(play.cell)
        cells = memoryview(bytes(game.moves)).cast("H")
        if play.ply == game.ply and (play.cell in cells or play.cell >= game.variant.cells):
            game.deeds.add((_SIDES[play.ply & 1], Ending.ILLEGAL))
        for ask in game.asks[play.ply]:
            if ask.stream is stream and ask.received_ns is None:
                ask.received_ns = self._now_ns()

    def _deed(self, stream: Stream, number: int, ending: Ending) -> None:
        game = self.games.get(stream.games.get(number, 0))
        if game is not None:
            game.deeds.add((game.color(stream.client.name), ending))

    def ask(self, stream: Stream, number: int, ply: int) -> Ask | None:
        """The turn that was told on a stream last."""
        game = self.games.get(stream.games.get(number, 0))
        asks = [] if game is None else [ask for ask in game.asks[ply] if ask.stream is stream]
        return asks[-1] if asks else None

    def open_asks(self, stream: Stream | None) -> list[Ask]:
        """The turns that a bot has not answered on a stream."""
        if stream is None:
            return []
        return [
            ask
            for game in self._running(stream.client.name)
            for ask in game.asks[game.ply]
            if ask.stream is stream and ask.received_ns is None
        ]

    # -- presence -----------------------------------------------------------------------

    def left(self, stream: Stream) -> None:
        """A stream is over for the server."""
        name = stream.client.name
        for game in self._running(name):
            for ask in game.asks[game.ply]:
                if ask.stream is stream and ask.left_ns is None:
                    ask.left_ns = self._now_ns()
        if self.present.get(name) is stream:
            del self.present[name]
            self._away_since[name] = self._now_ns(), self.outage_ns

    def _came(self, name: str, stream: Stream) -> None:
        absence_ns = self._absence_ns(name)
        self._away_since.pop(name, None)
        self.present[name] = stream
        for game in self._running(name):
            game.away_ns[game.color(name)] += absence_ns

    def _absence_ns(self, name: str) -> int:
        if name not in self._away_since:
            return 0
        since_ns, outage_ns = self._away_since[name]
        return self._now_ns() - since_ns - (self.outage_ns - outage_ns)

    def _running(self, name: str) -> Iterable[GameRecord]:
        return [
            game for game in self.games.values() if game.state == "running" and name in game.names
        ]

    # -- outages ------------------------------------------------------------------------

    @property
    def outage_ns(self) -> int:
        """How long the server or its disk has been away so far, as it may be noticed."""
        if self._outage_since_ns is None:
            return self._outage_ns
        lasted_ns = self._now_ns() - self._outage_since_ns
        return self._outage_ns + max(lasted_ns - UNNOTICED_NS, 0)

    def begin_outage(self) -> None:
        """The server or its disk is away, if it was not."""
        if self._outage_since_ns is None:
            self._outage_since_ns = self._now_ns()

    def end_outage(self) -> None:
        """Both are there."""
        self._outage_ns, self._outage_since_ns = self.outage_ns, None

    def server_died(self) -> None:
        """What was not committed is lost, and who is away is excused."""
        self.present.clear()
        self._away_since.clear()
        for game in self.games.values():
            if game.state == "running":
                game.away_ns = [0, 0, 0]
                for ask in game.asks[game.ply]:
                    ask.is_lost = True
        self.committed()
        self._check_journal()

    # -- what stands on the disk ----------------------------------------------------------

    def _check_journal(self) -> None:
        """All committed moves of running games are still there."""
        stored: defaultdict[int, bytearray] = defaultdict(bytearray)
        for (moves,) in self._reader.execute("SELECT moves FROM journal ORDER BY id"):
            for game_id, _, cell, _, _ in _MOVE.iter_unpack(moves):
                stored[game_id] += cell.to_bytes(2, "little")
        for game in self.games.values():
            if game.state == "running":
                kept, made = bytes(stored[game.id]), bytes(game.moves[2 * game.opening_plies :])
                require(kept == made, f"game {game.id}: {kept!r} is left of {made!r}")

    def check_played(self, *, tournaments: int) -> None:
        """Every tournament was made once; every planned game was played and counted once."""
        read = self._reader.execute
        states: defaultdict[int, list[str]] = defaultdict(list)
        for pairing, state in read("SELECT pairing_id, state FROM game"):
            if state != "void":
                states[pairing].append(state)
        for (pairing,) in read("SELECT id FROM pairing"):
            require(states[pairing] == ["finished"], f"pairing {pairing}: {states[pairing]}")
        for game_id, state in read("SELECT id, state FROM game"):
            known = self.games[game_id].state
            require(known == state, f"game {game_id} is {state}, and was {known}")
        states_of = [state for (state,) in read("SELECT state FROM tournament")]
        require(states_of == ["finished"] * tournaments, f"{tournaments} are {states_of}")
        (changes,) = read("SELECT coalesce(sum(revision), 0) FROM ladder").fetchone()
        require(changes == self._rated_changes, f"{changes} changes of {self._rated_changes}")


def require(condition: object, words: str) -> None:
    """Raise a violation unless the condition holds."""
    if not condition:
        raise Violation(words)


def _once(stream: Stream, *fact: object) -> None:
    require(fact not in stream.facts, f"{fact} is told twice on one stream")
    stream.facts.add(fact)
    if fact[0] == "end":  # the number may name another game
        stream.games.pop(fact[1])  # type: ignore[call-overload]


def _has_line(cells: list[int], variant: Variant) -> bool:
    """Whether somebody has a line, counted cell by cell."""
    for stones in (set(cells[0::2]), set(cells[1::2])):
        places = {divmod(cell, variant.width) for cell in stones}
        for row, column in places:
            for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
                steps = range(variant.line)
                if all((row + down * i, column + right * i) in places for i in steps):
                    return True
    return False


_STARTS = """
    SELECT game.id, pairing_id, game.ladder_id, black.name, white.name, variant, tournament.time_control,
        pairing.time_control, opening_plies, game.moves, game.state
    FROM game
    JOIN pairing ON pairing.id = pairing_id
    JOIN tournament ON tournament.id = game.tournament_id
    JOIN bot AS black ON black.id = pairing.black_id
    JOIN bot AS white ON white.id = pairing.white_id
    WHERE game.id > ? ORDER BY game.id
"""
_ENTRIES = "SELECT id, moves FROM journal WHERE id > ? ORDER BY id"
_ENDS = """
    SELECT id, end_sequence, state, ending, result, at_fault, moves, times
    FROM game WHERE end_sequence > ? ORDER BY end_sequence
"""
_FAULTS = "SELECT id, game_id, ending FROM fault WHERE id > ? AND ending IS NOT NULL ORDER BY id"
