"""What the page of a game shows at one ply."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from meijin.game import Board, Color, GameRecord, winning_lines
from meijin.game.board.svg import board_svg
from meijin.game.records.chances import ChanceMap, wins_in
from meijin.game.records.turning_point import EVEN, TurningPoint, turning_point
from meijin.v1 import game_pb2, game_service_pb2
from meijin.web.pages.games.plies import ShownPly, shown_plies
from meijin.wire.mapping import from_message
from meijin.wire.records import record_from_proto


def drawn(
    game: game_pb2.Game,
    record: GameRecord,
    ply: int | None,
    *,
    numbers: bool = True,
    forbidden: bool = False,
) -> str:
    """A game's board at a ply, or at its last one, as SVG; nobody has won one that is void."""
    board = Board.from_moves(record.moves[:ply], record.variant)
    is_void = game.state == game_pb2.GAME_STATE_VOID
    return board_svg(board, numbers=numbers, forbidden=forbidden, winning=not is_void)


@dataclass(frozen=True)
class GamePage:
    """A game at one ply."""

    game: game_pb2.Game
    record: GameRecord
    ply: int
    """How many stones lie on the board that is shown."""
    plies: tuple[ShownPly, ...]
    """All there are, from 0 on."""
    maps: Mapping[Color, ChanceMap]
    """What the scores of each side are worth."""

    @classmethod
    def at(
        cls,
        game: game_pb2.Game,
        ply: int | None,
        chances: game_service_pb2.GetChancesResponse,
    ) -> "GamePage":
        """A game at a ply, or at the last one it has.

        Raises:
            ValueError: a value of the message was added by a later release.
        """
        record = record_from_proto(game)
        last = len(record.moves)
        shown = last if ply is None else min(ply, last)
        sides = {Color.BLACK: chances.black, Color.WHITE: chances.white}
        maps = {side: from_message(each, ChanceMap) for side, each in sides.items()}
        return cls(game, record, shown, shown_plies(game, record), maps)

    @property
    def last(self) -> int:
        return len(self.record.moves)

    @property
    def now(self) -> ShownPly:
        return self.plies[self.ply]

    @property
    def is_running(self) -> bool:
        return self.game.state == game_pb2.GAME_STATE_RUNNING

    @property
    def has_analysis(self) -> bool:
        """Whether a bot has told what it thought, or may still do so."""
        return self.is_running or any(ply.said is not None for ply in self.plies)

    @property
    def has_times(self) -> bool:
        """Whether times were taken, or may still be."""
        return self.is_running or any(ply.raw is not None for ply in self.plies)

    @property
    def has_cpu_times(self) -> bool:
        """Whether the processor time of a move was measured."""
        return any(ply.cpu is not None for ply in self.plies)

    @property
    def board(self) -> Markup:
        """The picture of the board; nothing in it comes from a bot but cells."""
        return self._drawn(numbers=True, forbidden=True)

    @property
    def bare_board(self) -> Markup:
        """The same with nothing on the stones."""
        return self._drawn(numbers=False, forbidden=False)

    def _drawn(self, *, numbers: bool, forbidden: bool) -> Markup:
        picture = drawn(self.game, self.record, self.ply, numbers=numbers, forbidden=forbidden)
        return Markup(picture)  # noqa: S704 - made here

    @property
    def is_void(self) -> bool:
        """Whether the game has ended without a result."""
        return self.game.state == game_pb2.GAME_STATE_VOID

    @cached_property
    def winning(self) -> tuple[tuple[int, ...], ...]:
        """The lines that have won the game."""
        return () if self.is_void else winning_lines(self.record.board())

    @property
    def turning_point(self) -> TurningPoint | None:
        """The move that decided the game, by what the scores of its bots are worth."""
        return turning_point(self.record, self.maps)

    @property
    def black_points(self) -> float | None:
        """Black's of the game, 0 to 1; ``None`` while it runs, and where it is void."""
        outcome = self.record.outcome
        if outcome is None or self.is_void:
            return None
        return outcome.result.points(Color.BLACK)

    @property
    def chance(self) -> "Chance | None":
        """Black's at the ply, by what was told last; ``None`` where nobody has told a score."""
        for ply in reversed(self.plies[: self.ply + 1]):
            if ply.said is not None and ply.said.score is not None and ply.side is not None:
                own = self.maps[ply.side].chance(ply.said.score)
                black = own if ply.side is Color.BLACK else 1 - own
                moves = wins_in(ply.said.score)
                return Chance(black, None if moves is None else abs(moves))
        return None


@dataclass(frozen=True, slots=True)
class Chance:
    """Black's chance at a ply."""

    black: float
    """Points, 0 to 1."""
    wins_in: int | None
    """Moves of the winner, where a win is proven."""

    @property
    def leader(self) -> str:
        return "black" if self.black >= EVEN else "white"
