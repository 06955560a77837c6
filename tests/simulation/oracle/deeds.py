"""Deeds: what the bots send, and which of it ends a game."""

from __future__ import annotations

from tests.simulation.network import Stream
from tests.simulation.oracle.books import MS, Books, GameRecord

from meijin.game import Ending, Seat
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb

CHOICES = {game_pb2.COLOR_BLACK: 0xFFFE, game_pb2.COLOR_WHITE: 0xFFFF}
"""How the journal has the choice of a side."""
START_NS = 10_000 * MS
"""A goodbye resigns games too whose start was being stored."""


class Deeds:
    """Writes down what has reached the server's machine."""

    def __init__(self, books: Books) -> None:
        self._books = books
        self._goodbyes: dict[str, int] = {}
        """By bot, when it said its last one."""

    def begin(self, game: GameRecord) -> None:
        """A game begins: who has just said goodbye resigns it."""
        for seat in Seat:
            said_ns = self._goodbyes.get(game.names[seat])
            if said_ns is not None and self._books.now_ns() - said_ns < START_NS:
                game.deeds.add((seat, Ending.RESIGN))

    def goodbye(self, name: str) -> None:
        """A bot leaves for good."""
        self._goodbyes[name] = self._books.now_ns()
        for game in self._books.running(name):
            game.deeds.add((game.seat(name), Ending.RESIGN))

    def act(self, stream: Stream, actions: pb.Actions) -> None:
        """A bot acts in its games."""
        for play in actions.plays:
            self._act(stream, play.game, play.ply, [play.cell])
        for placement in actions.placements:
            self._act(stream, placement.game, placement.ply, list(placement.cells))
        for choice in actions.choices:
            self._choose(stream, choice)
        for resign in actions.resigns:
            self._give_up(stream, resign.game, Ending.RESIGN)
        for failure in actions.failures:
            self._give_up(stream, failure.game, Ending.CRASH)

    def _act(self, stream: Stream, number: int, ply: int, cells: list[int]) -> None:
        """Stones: one where a move is asked for, and as many as the opening says."""
        game = self._books.game_on(stream, number)
        if game is None or ply != game.ply or game.seat(stream.client.name) is not game.seat_to_act:
            return
        stones = 1 if game.task is None else game.task[0]
        taken = [*memoryview(bytes(game.moves)).cast("H"), *cells]
        is_legal = len(set(taken)) == len(taken) and max(cells) < game.variant.cells
        if not is_legal or len(cells) != stones:
            game.deeds.add((game.seat_to_act, Ending.ILLEGAL))
        for turn, cell in enumerate(cells, start=game.turn):
            game.sent[turn].add(cell)
        self._receive(stream, game)

    def _choose(self, stream: Stream, choice: pb.Choose) -> None:
        """A side, which has no effect where none is asked for."""
        game = self._books.game_on(stream, choice.game)
        if game is None or choice.ply != game.ply or game.task is None or not game.task[1]:
            return
        if game.seat(stream.client.name) is game.seat_to_act:
            game.sent[game.turn].add(CHOICES[choice.color])
            self._receive(stream, game)

    def _receive(self, stream: Stream, game: GameRecord) -> None:
        for ask in game.asks[game.turn]:
            if ask.stream is stream and ask.received_ns is None:
                ask.received_ns = self._books.now_ns()

    def _give_up(self, stream: Stream, number: int, ending: Ending) -> None:
        game = self._books.game_on(stream, number)
        if game is not None:
            game.deeds.add((game.seat(stream.client.name), ending))
