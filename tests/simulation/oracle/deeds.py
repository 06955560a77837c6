"""Deeds: what the bots send, and which of it ends a game."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import TypeAlias

from tests.simulation.network import Stream
from tests.simulation.oracle.books import MS, SIDES, Books, GameRecord

from meijin.game import Ending, Seat
from meijin.v1 import game_pb2
from meijin.v1 import play_service_pb2 as pb

CHOICES = {game_pb2.COLOR_BLACK: 0xFFFE, game_pb2.COLOR_WHITE: 0xFFFF}
"""How the journal has the choice of a side."""
MOST_EARLY = 500
"""So much of what a bot says too early is remembered: more than it says in that time."""
START_NS = 10_000 * MS
"""A goodbye resigns games too whose start was being stored."""


Deed: TypeAlias = Callable[[GameRecord], object]


class Deeds:
    """Writes down what has reached the server's machine."""

    def __init__(self, books: Books) -> None:
        self._books = books
        self._goodbyes: dict[str, int] = {}
        """By bot, when it said its last one."""
        self._early: defaultdict[str, list[tuple[int, Deed]]] = defaultdict(list)
        """By bot, when it said what of a game whose number it was not told yet."""

    def begin(self, game: GameRecord) -> None:
        """A game begins: who has just said goodbye resigns it."""
        for seat in Seat:
            said_ns = self._goodbyes.get(game.names[seat])
            if said_ns is not None and self._books.now_ns() - said_ns < START_NS:
                game.deeds.add((seat, Ending.RESIGN))
            for said_ns, deed in self._early[game.names[seat]]:
                if self._books.now_ns() - said_ns < START_NS:
                    deed(game)

    def goodbye(self, name: str) -> None:
        self._goodbyes[name] = self._books.now_ns()
        for game in self._books.running(name):
            game.deeds.add((game.seat(name), Ending.RESIGN))

    def act(self, stream: Stream, actions: pb.Actions) -> None:
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
        game, name = self._books.game_on(stream, number), stream.client.name
        if game is None:
            self._do_early(stream, lambda game: _act_early(game, name, ply, cells))
            return
        if ply != game.ply or game.seat(name) is not game.seat_to_act:
            is_own = game.seat_of(SIDES[ply & 1]) is game.seat(name)
            if stream.client.is_hostile and is_own and ply > game.ply:
                _act_early(game, name, ply, cells)
            return
        stones = 1 if game.task is None else game.task.stones
        taken = [*memoryview(bytes(game.moves)).cast("H"), *cells]
        is_legal = len(set(taken)) == len(taken) and max(cells, default=0) < game.variant.cells
        if not is_legal or len(cells) != stones:
            game.deeds.add((game.seat_to_act, Ending.ILLEGAL))
        for turn, cell in enumerate(cells, start=game.turn):
            game.sent[turn].add(cell)
        self._receive(stream, game)

    def _choose(self, stream: Stream, choice: pb.Choose) -> None:
        game = self._books.game_on(stream, choice.game)
        if game is None or choice.ply != game.ply or game.task is None or not game.task.may_choose:
            return
        if game.seat(stream.client.name) is game.seat_to_act:
            game.sent[game.turn].add(CHOICES[choice.color])
            self._receive(stream, game)

    def _receive(self, stream: Stream, game: GameRecord) -> None:
        for ask in game.asks[game.turn]:
            if ask.stream is stream and ask.received_ns is None:
                ask.received_ns = self._books.now_ns()

    def _give_up(self, stream: Stream, number: int, ending: Ending) -> None:
        game, name = self._books.game_on(stream, number), stream.client.name
        if game is not None:
            game.deeds.add((game.seat(name), ending))
        else:
            self._do_early(stream, lambda game: game.deeds.add((game.seat(name), ending)))

    def _do_early(self, stream: Stream, deed: Deed) -> None:
        """Do something to any game whose start may be on its way: it is read behind that."""
        name = stream.client.name
        if not stream.client.is_hostile:
            return
        for game in self._books.running(name):
            if game.id not in stream.games.values():
                deed(game)
        self._early[name] = [*self._early[name][-MOST_EARLY:], (self._books.now_ns(), deed)]


def _act_early(game: GameRecord, name: str, ply: int, cells: list[int]) -> None:
    """An action for a later ply: when it is read, it may be the one that is asked for."""
    game.sent[ply].update(cells)
    game.deeds.add((game.seat(name), Ending.ILLEGAL))
