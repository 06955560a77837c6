"""What was told was committed: once on a stream, to whom it concerns, and nothing else."""

from __future__ import annotations

from tests.simulation.network import Stream
from tests.simulation.oracle import clocks
from tests.simulation.oracle.books import MS, Ask, Books, GameRecord
from tests.simulation.oracle.violation import require

from meijin.game import Color, Seat, Task
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb

MOST_BYTES = 64 * 1024
"""Of a message of the server: some games on small boards, and as many notices as may be."""


class Facts:
    """Holds every message of the server against what is stored."""

    def __init__(self, books: Books) -> None:
        self._books = books

    def written(self, stream: Stream, message: pb.PlayResponse, delivered_ns: int) -> None:
        """The server hands a message to the transport: it holds what is committed alone."""
        require(message.ByteSize() <= MOST_BYTES, f"an answer of {message.ByteSize()} bytes")
        if message.HasField("welcome"):
            _once(stream, "welcome")
        require(("welcome",) in stream.facts, "something is told before the welcome")
        if not message.HasField("events"):
            return
        name = stream.client.name
        for ended in message.events.ended:
            self._tell_end(stream, name, ended)
        for started in message.events.started:
            self._tell_start(stream, name, started)
        for chosen in message.events.choices:
            require(chosen.game in stream.games, f"a choice in game {chosen.game} before its start")
            game = self._books.games[stream.games[chosen.game]]
            require(game.chosen is not None, f"a choice in game {game.id} that is not stored")
            self._check_side(game, name, chosen.color)
            _once(stream, "choice", chosen.game)
        for turn in message.events.turns:
            self._tell_turn(stream, name, turn, delivered_ns)

    def _tell_start(self, stream: Stream, name: str, started: pb.GameStarted) -> None:
        game = self._books.games.get(int(started.game_id))
        require(game is not None, f"game {started.game_id} is told of before it is stored")
        assert game is not None
        require(name in game.names, f"game {game.id} is told to {name}")
        require(
            game.moves.startswith(started.moves),
            f"game {game.id} starts with {started.moves!r}, stored is {game.moves!r}",
        )
        if not self._is_before_choice(game, name, started):
            self._check_side(game, name, started.color)
        stream.games[started.game] = game.id
        _once(stream, "start", started.game)

    def _is_before_choice(self, game: GameRecord, name: str, started: pb.GameStarted) -> bool:
        """Whether the sides are those before a choice of whose commit the server can't know yet."""
        if game.chosen is None or game.chosen_in <= self._books.known_entry:
            return False
        ply, _ = game.chosen
        first = Seat.FIRST if _side(started.color) is Color.BLACK else Seat.SECOND
        return len(started.moves) == 2 * ply and game.names[first] == name

    def _check_side(self, game: GameRecord, name: str, color: game_pb2.Color.ValueType) -> None:
        side = _side(color)
        require(game.names[game.seat_of(side)] == name, f"game {game.id}: {name} is told {side!r}")
        self._books.has_told(game)

    def _tell_turn(
        self, stream: Stream, name: str, turn: pb.TurnRequested, delivered_ns: int
    ) -> None:
        require(turn.game in stream.games, f"a turn in game {turn.game} before its start")
        game = self._books.games[stream.games[turn.game]]
        where = f"the turn of {name} in game {game.id} at ply {turn.ply}"
        require(turn.moves == game.moves, f"{where} tells {turn.moves!r}, stored {game.moves!r}")
        require(turn.ply == game.ply, f"{where}: {game.ply} stones")
        seat = game.seat_to_act
        require(game.names[seat] == name, f"{where} is its opponent's")
        task = Task(turn.task.stones, turn.task.may_choose) if turn.HasField("task") else None
        require(task == game.task, f"{where} asks for {task}, not {game.task}")
        self._books.has_told(game)
        _once(stream, "turn", turn.game, game.turn)
        now_ns = self._books.now_ns()
        is_hostile = stream.client.is_hostile
        clocks.check_told(game, seat, turn, where, now_ns=now_ns, is_hostile=is_hostile)
        ask = Ask(stream, turn.ply, turn.own_clock_ms * MS, now_ns, delivered_ns)
        game.asks[game.turn].append(ask)

    def _tell_end(self, stream: Stream, name: str, ended: pb.GameEnded) -> None:
        require(ended.game in stream.games, f"the end of game {ended.game} before its start")
        game = self._books.games[stream.games[ended.game]]
        where = f"the end of game {game.id} told to {name}"
        require(game.ending is not None, f"{where} is not stored")
        require(ended.moves == game.moves, f"{where}: {ended.moves!r}, not {game.moves!r}")
        assert game.ending is not None
        _once(stream, "end", ended.game)


def _side(color: game_pb2.Color.ValueType) -> Color:
    return Color.BLACK if color == game_pb2.COLOR_BLACK else Color.WHITE


def _once(stream: Stream, *fact: object) -> None:
    require(fact not in stream.facts, f"{fact} is told twice on one stream")
    stream.facts.add(fact)
    if fact[0] == "end":  # the number may name another game
        stream.games.pop(fact[1])  # type: ignore[call-overload]
