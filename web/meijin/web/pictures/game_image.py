"""A game at a ply as a PNG: its board alone, or a card with players, result and board."""

from __future__ import annotations

from io import BytesIO

from PIL import Image, ImageDraw

from meijin.game import Board, Color, GameRecord
from meijin.game.board.svg import FILLS
from meijin.web.pictures.board_image import board_image
from meijin.web.pictures.lettering import fitted, font
from meijin.web.wording import text

SQUARE = 640
CARD = (1200, 630)
"""What messengers show beside a link (Open Graph)."""
_MARGIN = 30
_PAPER, _TEXT, _FAINT = "#f7f5f0", "#1c1a17", "#5f5a50"
_TEXT_LEFT = CARD[1] + _MARGIN
_TEXT_WIDTH = CARD[0] - _TEXT_LEFT - _MARGIN


def square_png(record: GameRecord, ply: int) -> bytes:
    """The board after this many moves."""
    return _png(board_image(_board(record, ply), SQUARE))


def card_png(record: GameRecord, ply: int) -> bytes:
    """The board after this many moves beside the players, the result and what was played."""
    image = Image.new("RGB", CARD, _PAPER)
    side = CARD[1] - 2 * _MARGIN
    image.paste(board_image(_board(record, ply), side), (_MARGIN, _MARGIN))
    draw = ImageDraw.Draw(image)
    _player(draw, Color.BLACK, _titled(record.black, record.black_version), y=120)
    _player(draw, Color.WHITE, _titled(record.white, record.white_version), y=210)
    outcome, last = record.outcome, len(record.moves)
    _line(draw, "*" if outcome is None else outcome.result.value, y=320, size=72, fill=_TEXT)
    _line(
        draw,
        text("game.card.running") if outcome is None else str(outcome),
        y=400,
        size=32,
        fill=_TEXT,
    )
    _line(draw, _played(record), y=470)
    _line(draw, text("game.position", ply=min(ply, last), last=last), y=515)
    draw.text((_TEXT_LEFT, 575), text("site.name"), fill=_FAINT, font=font(28), anchor="lm")
    return _png(image)


def _board(record: GameRecord, ply: int) -> Board:
    return Board.from_moves(record.moves[: max(0, ply)], record.variant)


def _titled(name: str, version: str) -> str:
    return f"{name} {version}" if version else name


def _played(record: GameRecord) -> str:
    control = "" if record.time_control is None else f" · {record.time_control}"
    return f"{record.variant}{control}"


def _player(draw: ImageDraw.ImageDraw, color: Color, name: str, *, y: int) -> None:
    x = _TEXT_LEFT
    draw.ellipse((x, y - 20, x + 40, y + 20), fill=FILLS[color], outline="#333", width=2)
    shown = fitted(name, width=_TEXT_WIDTH - 60, largest=48, least=24)
    shown.draw(draw, (x + 60, y), _TEXT)


def _line(
    draw: ImageDraw.ImageDraw, words: str, *, y: int, size: int = 28, fill: str = _FAINT
) -> None:
    fitted(words, width=_TEXT_WIDTH, largest=size, least=20).draw(draw, (_TEXT_LEFT, y), fill)


def _png(image: Image.Image) -> bytes:
    # A palette makes a third of the bytes; boards have few colours.
    file = BytesIO()
    image.quantize(64).save(file, "PNG", optimize=False)
    return file.getvalue()
