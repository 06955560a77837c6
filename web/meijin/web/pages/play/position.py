"""The position that an address names: of a game at a ply, or of a variant after some moves."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from meijin.game import FREE, GOMOKU, Board, Color, Variant
from meijin.game.board.forbidden import forbidden_cells
from meijin.game.board.svg import board_svg, place, stone_svg
from meijin.game.records.record import format_position, parse_position
from meijin.v1 import game_service_pb2
from meijin.web.forms import Fields
from meijin.web.pages.games.game import visible
from meijin.web.request import PageRequest, whole
from meijin.web.wording import text
from meijin.wire.records import record_from_proto

FIELDS = ("game", "ply", "variant", "moves")
"""By which an address names it."""


@dataclass(frozen=True, slots=True)
class Position:
    """Stones on a board, with which a game may go on."""

    board: Board
    line: Sequence[int]
    """The moves that led there, and those that are known to come after."""
    game: str = ""
    """Where they were played in one that is known here."""

    @classmethod
    def at(
        cls, line: Sequence[int], variant: Variant, ply: int | None, game: str = ""
    ) -> "Position":
        """What some of the moves lead to, or all; from there on no opening rule is played.

        Raises:
            ValueError: there are not so many, or they can't be played.
        """
        last = len(line)
        if ply is not None and ply > last:
            raise ValueError(text("play.no_ply", last=last, ply=ply))
        board = Board.from_moves(line[:ply], replace(variant, opening_rule=FREE))
        return cls(board, line, game)

    @property
    def ply(self) -> int:
        return len(self.board.moves)

    @property
    def variant(self) -> Variant:
        return self.board.variant

    @property
    def side(self) -> Color:
        """The side to move."""
        return self.board.side_to_move

    @property
    def forbidden(self) -> Sequence[int]:
        """Where the rule forbids the side to move a stone."""
        return forbidden_cells(self.board)

    @property
    def moves(self) -> str:
        """Such as ``h8h9``."""
        return format_position(self.board.moves, self.variant)

    @property
    def named(self) -> dict[str, str]:
        """The fields that name it."""
        return self.named_at(self.ply)

    def named_at(self, ply: int) -> dict[str, str]:
        """The fields that name the position at another ply of its line."""
        if self.game:
            return {"game": self.game, "ply": str(ply)}
        variant, moves = str(self.variant), format_position(self.line, self.variant)
        return {"variant": variant, "moves": moves, "ply": str(ply)}

    def picture(self, expected: Sequence[int] = ()) -> Markup:
        """Its board, with the stones that are expected; nothing in it comes from a bot but cells."""
        ghosts = "".join(self._ghosts(expected))
        picture = board_svg(self.board, numbers=False, forbidden=not ghosts, inside=ghosts)
        return Markup(picture)  # noqa: S704 - made here

    def _ghosts(self, expected: Sequence[int]) -> Iterator[str]:
        for number, cell in enumerate(expected, start=1):
            x, y = place(cell, self.variant)
            color = Color.WHITE if (self.ply + number) % 2 == 0 else Color.BLACK
            yield (
                f'<g class="stone pv {color.name.lower()}">{stone_svg(cell, color, self.variant)}'
                f'<text x="{x}" y="{y + 4}">{number}</text></g>'
            )


async def asked_position(request: PageRequest, fields: Fields) -> Position | None:
    """The position that fields name; ``None`` where they name none.

    Raises:
        AioRpcError: there is no such game.
        ValueError: it has no such ply, or the moves can't be played.
    """
    ply = whole(fields["ply"], "ply") if fields.get("ply") else None
    if game_id := fields.get("game"):
        asked = game_service_pb2.GetGameRequest(game_id=game_id)
        game = visible(request, (await request.services.games.GetGame(asked)).game)
        record = record_from_proto(game)
        return Position.at(record.moves, record.variant, ply, game_id)
    if fields.get("variant") or fields.get("moves"):
        name = fields.get("variant", "")
        variant = Variant.parse(name) if name else GOMOKU
        return Position.at(parse_position(fields.get("moves", ""), variant), variant, ply)
    return None
