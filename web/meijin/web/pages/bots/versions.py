"""Versions of a bot: told apart, what changed from one to the next, and where two play otherwise."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta

from markupsafe import Markup

from meijin.game import Board, cell_name, decode_moves
from meijin.game.board.svg import board_svg, place
from meijin.v1 import bot_service_pb2 as pb
from meijin.web.cache import LazyPage
from meijin.web.request import Page, PageRequest
from meijin.web.wording import text
from meijin.wire.text import memory_text, rate_text
from meijin.wire.values import variant_from_proto

MAX_ID = 19
"""Digits of a version's id."""

DRAWN = 6
"""Positions with a board; the others are lines of a table."""

SHORT = 7
"""Characters shown of a digest."""

REFRESH = timedelta(seconds=30)


def version_names(versions: Sequence[pb.BotVersion]) -> Mapping[str, str]:
    """What versions are called, by their ids; where that is nothing, by their digests."""
    return {each.version_id: each.name or each.digest[:SHORT] for each in versions}


def changes(version: pb.BotVersion, before: pb.BotVersion | None) -> Iterator[str]:
    """What a version says otherwise than the one before, and how it was unlike that itself."""
    if before is not None:
        yield from _changes(version, before)
    if version.deviation:
        yield text("bot.noted", what=version.deviation)


def _changes(version: pb.BotVersion, before: pb.BotVersion) -> Iterator[str]:
    old, new = set(before.configuration), set(version.configuration)
    yield from (f"+ {option}" for option in version.configuration if option not in old)
    yield from (f"− {option}" for option in before.configuration if option not in new)  # noqa: RUF001
    for key in ("threads", "memory", "speed", "hardware"):
        was, now = (_said(each, key) for each in (before, version))
        if was != now:
            yield text("bot.changed", what=text(f"bots.{key}"), old=was or "–", new=now or "–")  # noqa: RUF001


def _said(version: pb.BotVersion, key: str) -> str:
    match key:
        case "threads":
            return str(version.threads or "")
        case "memory":
            return memory_text(version.memory_bytes)
        case "speed":
            return rate_text(version.nodes_per_second)
        case _:
            return version.hardware


async def show(request: PageRequest) -> LazyPage:
    """Show two versions of a bot side by side: the newest two where none are named."""
    name, services = request.path["name"], request.services
    ids = [request.text(key, most=MAX_ID) for key in ("a", "b")]
    if not all(ids):
        asked = pb.GetBotRequest(name=name, with_results=True)
        newest = [each.version_id for each in (await services.bots.GetBot(asked)).versions[:2]]
        ids = [newest[-1], newest[0]] if newest else ["", ""]
    compare = pb.CompareVersionsRequest(name=name, version_id=ids[0], other_version_id=ids[1])
    found = await services.bots.CompareVersions(compare)
    return request.page(
        "versions.html",
        bot=name,
        found=found,
        names=version_names([found.one, found.other]),
        changes=changes,
        drawn=DRAWN,
        picture=picture,
        cell=_cell,
        moves=lambda difference: decode_moves(difference.moves),
    )


def _cell(difference: pb.VersionDifference, cell: int) -> str:
    return cell_name(cell, variant_from_proto(difference.variant))


def picture(difference: pb.VersionDifference) -> Markup:
    """The position with what both prefer, as A and B."""
    variant = variant_from_proto(difference.variant)
    board = Board.from_moves(decode_moves(difference.moves), variant)
    marks = []
    for letter, move in (("A", difference.one), ("B", difference.other)):
        x, y = place(move.cell, variant)
        marks.append(
            f'<g class="choice" text-anchor="middle"><circle cx="{x}" cy="{y}" r="11"/>'
            f'<text x="{x}" y="{y + 4}" font-size="12">{letter}</text></g>'
        )
    drawn = board_svg(board, numbers=False, names=False, inside="".join(marks))
    return Markup(drawn)  # noqa: S704 - made of cells alone


ROUTES = (Page("/bots/{name}/versions", show, REFRESH),)
