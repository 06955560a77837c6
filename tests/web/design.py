"""The design system on one page, every piece of it once, on a server of its own.

python -m tests.web.design [PORT]
"""

from __future__ import annotations

import sys
from pathlib import Path

import uvicorn
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from tests.web.prepared import USUAL, PreparedGateway

from meijin.game import Board, Variant
from meijin.game.board.svg import board_svg
from meijin.game.records.record import parse_position
from meijin.web.request import PageRequest
from meijin.web.site import application
from meijin.web.state import SiteSettings, SiteState
from meijin.web.templating import environment

PAGE = Path(__file__).with_suffix(".html")
PORT = 7466
VARIANT = Variant.parse("15x15")
MOVES = ("h8h9i9g7", "h8a1h9b1h10c1h11d1h12")


def design_app() -> Starlette:
    """A site whose server knows nothing, and the page."""
    site = SiteState(PreparedGateway(lambda name, _: USUAL[name]), SiteSettings())
    templates = environment(site.static, site.names.shown)
    template = templates.from_string(PAGE.read_text(encoding="utf-8"))

    def show(http: Request) -> Response:
        return HTMLResponse(template.render(here=PageRequest(http, site), boards=_boards()))

    return Starlette(routes=[Route("/design", show), Mount("/", application(site))])


def _boards() -> list[Markup]:
    boards = [Board.from_moves(parse_position(moves, VARIANT), VARIANT) for moves in MOVES]
    return [
        Markup(board_svg(board, numbers=numbers, names=numbers))
        for board in boards
        for numbers in (True, False)
    ]


if __name__ == "__main__":
    uvicorn.run(design_app(), port=int(sys.argv[1]) if len(sys.argv) > 1 else PORT)
