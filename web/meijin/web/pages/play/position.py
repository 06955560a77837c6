"""The position that an address names: of a game at a ply, or of a variant after some moves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from meijin.game import FREE, GOMOKU, Board, Color, Variant
from meijin.game.board.svg import board_svg
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
    game: str = ""
    """Where they were placed in one that is known here."""

    @classmethod
    def after(cls, moves: Sequence[int], variant: Variant, game: str = "") -> "Position":
        """What moves lead to; from there on no opening rule is played.

        Raises:
            ValueError: they can't be played.
        """
        return cls(Board.from_moves(moves, replace(variant, opening_rule=FREE)), game)

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
    def moves(self) -> str:
        """Such as ``h8h9``."""
        return format_position(self.board.moves, self.variant)

    @property
    def named(self) -> dict[str, str]:
        """The fields that name it."""
        if self.game:
            return {"game": self.game, "ply": str(self.ply)}
        return {"variant": str(self.variant), "moves": self.moves}

    def picture(self) -> Markup:
        """Its board; nothing in it comes from a bot but cells."""
        return Markup(board_svg(self.board, numbers=False, forbidden=True))  # noqa: S704 - made here


async def asked_position(request: PageRequest, fields: Fields) -> Position | None:
    """The position that fields name; ``None`` where they name none.

    Raises:
        AioRpcError: there is no such game.
        ValueError: it has no such ply, or the moves can't be played.
    """
    if game_id := fields.get("game"):
        asked = game_service_pb2.GetGameRequest(game_id=game_id)
        game = visible(request, (await request.services.games.GetGame(asked)).game)
        record = record_from_proto(game)
        last = len(record.moves)
        ply = whole(fields["ply"], "ply") if fields.get("ply") else last
        if ply > last:
            raise ValueError(text("play.no_ply", game=game_id, last=last, ply=ply))
        return Position.after(record.moves[:ply], record.variant, game_id)
    if fields.get("variant") or fields.get("moves"):
        name = fields.get("variant", "")
        variant = Variant.parse(name) if name else GOMOKU
        return Position.after(parse_position(fields.get("moves", ""), variant), variant)
    return None
