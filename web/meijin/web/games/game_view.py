"""The view of a game at one ply: what its page, its frame and its card show."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from markupsafe import Markup

from meijin.game import Board, GameRecord, winning_line
from meijin.game.board.svg import board_svg
from meijin.v1 import fault_service_pb2, game_pb2
from meijin.web.games.evidence import EvidenceLine, evidence_lines
from meijin.web.games.phases import Phase, phases
from meijin.web.games.plies import ShownPly, shown_plies
from meijin.wire import record_from_proto


@dataclass(frozen=True, slots=True)
class ShownFault:
    """An entry of the fault ledger about the game."""

    fault: fault_service_pb2.Fault
    evidence: tuple[EvidenceLine, ...]


@dataclass(frozen=True)
class GameView:
    """A game at one ply."""

    game: game_pb2.Game
    record: GameRecord
    ply: int
    """How many stones lie on the board that is shown."""
    plies: tuple[ShownPly, ...]
    """All there are, from 0 on."""
    faults: tuple[ShownFault, ...] = ()

    @property
    def last(self) -> int:
        """How many moves were made."""
        return len(self.record.moves)

    @property
    def now(self) -> ShownPly:
        """The ply that is shown."""
        return self.plies[self.ply]

    @property
    def is_running(self) -> bool:
        """Whether more moves may come."""
        return self.game.state == game_pb2.GAME_STATE_RUNNING

    @property
    def is_void(self) -> bool:
        """Whether the game counts for nothing."""
        return self.game.state == game_pb2.GAME_STATE_VOID

    @property
    def result(self) -> str:
        """The score, such as ``1-0``."""
        return "*" if self.record.outcome is None else self.record.outcome.result.value

    @property
    def has_analysis(self) -> bool:
        """Whether a bot has told what it thought, or may still do so."""
        return self.is_running or any(ply.said is not None for ply in self.plies)

    @property
    def has_times(self) -> bool:
        """Whether times were taken, or may still be."""
        return self.is_running or any(ply.raw is not None for ply in self.plies)

    @property
    def phases(self) -> tuple[Phase, ...]:
        """What the players did before the sides were settled."""
        return phases(self.record)

    @property
    def board(self) -> Markup:
        """The picture of the board; nothing in it comes from a bot but cells."""
        board = Board.from_moves(self.record.moves[: self.ply], self.record.variant)
        return Markup(board_svg(board, forbidden=True))  # noqa: S704 - made here

    @cached_property
    def winning(self) -> tuple[int, ...]:
        """The stones of the line that has won."""
        return winning_line(self.record.board())


def game_view(
    game: game_pb2.Game, ply: int | None, faults: fault_service_pb2.ListFaultsResponse | None = None
) -> GameView:
    """A game at a ply, or at the last one it has.

    Raises:
        ValueError: a value of the message was added by a later release.
    """
    record = record_from_proto(game)
    entries = () if faults is None else faults.faults
    return GameView(
        game,
        record,
        len(record.moves) if ply is None else min(ply, len(record.moves)),
        shown_plies(game, record),
        tuple(ShownFault(each, evidence_lines(each.evidence)) for each in entries),
    )
