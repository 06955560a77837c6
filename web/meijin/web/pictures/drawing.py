"""SVG as pixels, as far as `board_svg` and the logo use it.

Pillow draws it: resvg keeps the interpreter's lock for all of a picture, 80 ms, in which games and
other pages would wait, and doesn't tell how wide a name is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from xml.etree import ElementTree as ET

from PIL import Image, ImageColor, ImageDraw, ImageOps

from meijin.game.board.svg import SVG
from meijin.web.pictures.lettering import font

FINE = 2
"""All is drawn so much larger, and then reduced: Pillow draws hard edges."""
_COMMANDS = re.compile("([MLHVmlhv])([^A-Za-z]*)")


def drawing(svg: str, side: int, ground: str) -> Image.Image:
    """A picture in the middle of a square with this ground.

    Args:
        svg: Our own; nothing in it is of others.
        side: Pixels of the square.
        ground: A colour.
    """
    root = ET.fromstring(svg)  # noqa: S314
    image = Image.new("RGB", (side * FINE, side * FINE), ground)
    _Canvas(image, root).draw(root, {})
    return image.reduce(FINE)


class _Canvas:
    """Where the elements of a picture lie in an image."""

    def __init__(self, image: Image.Image, root: ET.Element) -> None:
        self._image = image
        self._pen = ImageDraw.Draw(image, "RGBA")
        gradients = root.iter(f"{{{SVG}}}radialGradient")
        self._gradients = {f"url(#{each.get('id')})": each for each in gradients}
        x, y, width, height = map(float, root.attrib["viewBox"].split())
        self._scale = image.width / max(width, height)
        self._left = (image.width - width * self._scale) / 2 - x * self._scale
        self._top = (image.height - height * self._scale) / 2 - y * self._scale

    def draw(self, element: ET.Element, inherited: Mapping[str, str]) -> None:
        """Draw an element and all within it."""
        told = {**inherited, **element.attrib}
        match element.tag.removeprefix(f"{{{SVG}}}"):
            case "svg" | "g":
                for each in element:
                    self.draw(each, told)
            case "rect":
                self._rect(told)
            case "circle":
                self._circle(told)
            case "path":
                self._path(told)
            case "text":
                self._text(told, element.text or "")

    def _at(self, x: float, y: float) -> tuple[float, float]:
        return self._left + x * self._scale, self._top + y * self._scale

    def _length(self, told: Mapping[str, str], name: str, default: float = 0) -> float:
        return float(told.get(name, default)) * self._scale

    def _rect(self, told: Mapping[str, str]) -> None:
        left, top = self._at(float(told.get("x", 0)), float(told.get("y", 0)))
        box = (left, top, left + self._length(told, "width"), top + self._length(told, "height"))
        self._pen.rounded_rectangle(box, self._length(told, "rx"), told["fill"])

    def _circle(self, told: Mapping[str, str]) -> None:
        x, y = self._at(float(told["cx"]), float(told["cy"]))
        radius = self._length(told, "r")
        gradient = self._gradients.get(told["fill"])
        if gradient is not None:
            colors = tuple(each.attrib["stop-color"] for each in gradient)
            body, mask = _stone(round(2 * radius), _light(gradient), colors)
            self._image.paste(body, (round(x - radius), round(y - radius)), mask)
        elif told["fill"] != "none":
            self._pen.ellipse(_round(x, y, radius), told["fill"])
        if "stroke" in told:
            width = self._length(told, "stroke-width", 1)
            color = (*ImageColor.getrgb(told["stroke"])[:3], _opacity(told))
            box = _round(x, y, radius + width / 2)
            self._pen.ellipse(box, outline=color, width=max(1, round(width)))

    def _path(self, told: Mapping[str, str]) -> None:
        """On a mask, where what lies on itself is no darker for that."""
        lines = [[self._at(x, y) for x, y in line] for line in _lines(told["d"])]
        width, opacity = self._length(told, "stroke-width", 1), _opacity(told)
        xs, ys = ([place[axis] for line in lines for place in line] for axis in (0, 1))
        left, top = math.floor(min(xs) - width), math.floor(min(ys) - width)
        size = (math.ceil(max(xs) + width) - left, math.ceil(max(ys) + width) - top)
        mask = Image.new("L", size)
        pen = ImageDraw.Draw(mask)
        for line in lines:
            moved = [(x - left, y - top) for x, y in line]
            pen.line(moved, opacity, max(1, round(width)))
            if told.get("stroke-linecap") == "round":
                for x, y in (moved[0], moved[-1]):
                    pen.ellipse(_round(x, y, width / 2), opacity)
        self._image.paste(told["stroke"], (left, top), mask)

    def _text(self, told: Mapping[str, str], letters: str) -> None:
        place = self._at(float(told["x"]), float(told["y"]))
        size = round(self._length(told, "font-size"))
        anchor = "ms" if told.get("text-anchor") == "middle" else "ls"
        self._pen.text(place, letters, told["fill"], font(size), anchor)


def _round(x: float, y: float, radius: float) -> tuple[float, float, float, float]:
    return x - radius, y - radius, x + radius, y + radius


def _opacity(told: Mapping[str, str]) -> int:
    return round(255 * float(told.get("stroke-opacity", 1)))


def _light(gradient: ET.Element) -> tuple[float, float, float]:
    """Where it is lightest, and how far it reaches: parts of a stone's width."""
    x, y, reach = (float(gradient.attrib[name]) for name in ("cx", "cy", "r"))
    return x, y, reach


@lru_cache(32)
def _stone(
    width: int, light: tuple[float, float, float], colors: tuple[str, ...]
) -> tuple[Image.Image, Image.Image]:
    """A gradient in a circle, and the mask of the circle."""
    x, y, reach = light
    whole, left, top = (round(each * width) for each in (2 * reach, reach - x, reach - y))
    shade = Image.radial_gradient("L").resize((whole, whole))
    shade = shade.crop((left, top, left + width, top + width))
    mask = Image.new("L", (width, width))
    ImageDraw.Draw(mask).ellipse((0, 0, width - 1, width - 1), 255)
    near, far = colors
    return ImageOps.colorize(shade, near, far), mask


def _lines(path: str) -> Iterator[list[tuple[float, float]]]:
    """The places that each line of a path goes through."""
    x = y = 0.0
    line: list[tuple[float, float]] = []
    for command, numbers in _COMMANDS.findall(path):
        first, *second = map(float, numbers.split())
        from_x, from_y = (x, y) if command.islower() else (0.0, 0.0)
        match command.lower():
            case "h":
                x = from_x + first
            case "v":
                y = from_y + first
            case _:
                x, y = from_x + first, from_y + second[0]
        if command in "Mm" and line:
            yield line
            line = []
        line.append((x, y))
    yield line
