"""A game at a ply as a PNG: its board alone, or a card with players, result and board."""

from __future__ import annotations

from io import BytesIO

from PIL import Image, ImageDraw

from meijin.game import Color, GameRecord
from meijin.game.board.svg import SVG, WOOD, stone_bodies
from meijin.web.pictures.drawing import drawing
from meijin.web.pictures.lettering import fitted
from meijin.web.static import FOLDER
from meijin.web.wording import text

SQUARE = 640
CARD = (1200, 630)
"""What messengers show beside a link (Open Graph)."""
_GROUND, _TEXT, _QUIET, _ACCENT = "#faf8f4", "#1f1b16", "#625a4d", "#b0361e"
"""The colours of the pages by day."""
_TEXT_LEFT = CARD[1] + 50
_TEXT_WIDTH = CARD[0] - _TEXT_LEFT - 40
_STONE, _LOGO = 44, 52


def square_png(board: str) -> bytes:
    """A board, whose SVG is given, in a square."""
    return _png(drawing(board, SQUARE, WOOD))


def card_png(board: str, record: GameRecord, *, ply: int, result: str) -> bytes:
    """The board beside the players, the result and what was played.

    Args:
        board: Its SVG, after this many moves.
        record: The game.
        ply: The number of moves.
        result: In a word, such as ``1-0``.
    """
    image = Image.new("RGB", CARD, _GROUND)
    image.paste(drawing(board, CARD[1], WOOD))
    draw = ImageDraw.Draw(image)
    _player(image, Color.BLACK, _titled(record.black, record.black_version), y=95)
    _player(image, Color.WHITE, _titled(record.white, record.white_version), y=180)
    outcome, last = record.outcome, len(record.moves)
    _line(draw, result, y=305, size=92, fill=_ACCENT)
    if outcome is not None:
        _line(draw, str(outcome), y=390, size=32, fill=_TEXT)
    _line(draw, _played(record), y=445)
    _line(draw, text("game.position", ply=ply, last=last), y=488)
    logo = drawing((FOLDER / "icon.svg").read_text("utf-8"), _LOGO, _GROUND)
    image.paste(logo, (_TEXT_LEFT, 548))
    site = fitted(text("site.name"), width=_TEXT_WIDTH, largest=34, least=20)
    site.draw(draw, (_TEXT_LEFT + _LOGO + 14, 574), _TEXT)
    return _png(image)


def _titled(name: str, version: str) -> str:
    return f"{name} {version}" if version else name


def _played(record: GameRecord) -> str:
    control = "" if record.time_control is None else f" · {record.time_control}"
    return f"{record.variant}{control}"


def _player(image: Image.Image, color: Color, name: str, *, y: int) -> None:
    stone = (
        f'<svg xmlns="{SVG}" viewBox="-12 -12 24 24">{"".join(stone_bodies())}'
        f'<circle cx="0" cy="0" r="11" fill="url(#stone-{color.name.lower()})" '
        'stroke="#000" stroke-opacity=".35"/></svg>'
    )
    image.paste(drawing(stone, _STONE, _GROUND), (_TEXT_LEFT, y - _STONE // 2))
    shown = fitted(name, width=_TEXT_WIDTH - 60, largest=48, least=24)
    shown.draw(ImageDraw.Draw(image), (_TEXT_LEFT + 60, y), _TEXT)


def _line(
    draw: ImageDraw.ImageDraw, words: str, *, y: int, size: int = 28, fill: str = _QUIET
) -> None:
    fitted(words, width=_TEXT_WIDTH, largest=size, least=20).draw(draw, (_TEXT_LEFT, y), fill)


def _png(image: Image.Image) -> bytes:
    # A palette makes a third of the bytes; boards have few colours.
    file = BytesIO()
    image.quantize(128).save(file, "PNG", optimize=False)
    return file.getvalue()
