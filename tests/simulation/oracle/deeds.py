"""Deeds: what the bots send, and which of it ends a game."""

from __future__ import annotations

from tests.simulation.network import Stream
from tests.simulation.oracle.books import MS, SIDES, Books, GameRecord

from meijin.game import Ending
from meijin.v1 import play_service_pb2 as pb

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
        for color in SIDES:
            said_ns = self._goodbyes.get(game.names[color])
            if said_ns is not None and self._books.now_ns() - said_ns < START_NS:
                game.deeds.add((color, Ending.RESIGN))

    def goodbye(self, name: str) -> None:
        """A bot leaves for good."""
        self._goodbyes[name] = self._books.now_ns()
        for game in self._books.running(name):
            game.deeds.add((game.color(name), Ending.RESIGN))

    def act(self, stream: Stream, actions: pb.Actions) -> None:
        """A bot acts in its games."""
        for play in actions.plays:
            self._play(stream, play)
        for resign in actions.resigns:
            self._give_up(stream, resign.game, Ending.RESIGN)
        for failure in actions.failures:
            self._give_up(stream, failure.game, Ending.CRASH)

    def _play(self, stream: Stream, play: pb.Play) -> None:
        game = self._books.game_on(stream, play.game)
        if game is None or game.color(stream.client.name) is not SIDES[play.ply & 1]:
            return
        game.sent[play.ply].add(play.cell)
        cells = memoryview(bytes(game.moves)).cast("H")
        if play.ply == game.ply and (play.cell in cells or play.cell >= game.variant.cells):
            game.deeds.add((SIDES[play.ply & 1], Ending.ILLEGAL))
        for ask in game.asks[play.ply]:
            if ask.stream is stream and ask.received_ns is None:
                ask.received_ns = self._books.now_ns()

    def _give_up(self, stream: Stream, number: int, ending: Ending) -> None:
        game = self._books.game_on(stream, number)
        if game is not None:
            game.deeds.add((game.color(stream.client.name), ending))
