"""Display names: kept for a moment, and shown wherever a bot is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from grpc.aio import AioRpcError, Metadata
from starlette.applications import Starlette
from tests.web.browsing import Browsing
from tests.web.filled import BOT_FIELDS, FORMS, PLACES, filled
from tests.web.prepared import PreparedGateway

from meijin.v1.bot_service_pb2 import ListDisplayNamesResponse
from meijin.web.gateway import NAMES_AGE, DisplayNames, Services, Visitor
from meijin.web.site import application
from meijin.web.state import SiteSettings, SiteState

NAME, SHOWN = "slug-of-a-bot", "名人 the Bold"


def bot_or_other(field: str) -> str:
    """The text of a field of a server with one bot."""
    return NAME if field == "Bot.name" or field.partition(".")[2] in BOT_FIELDS else "other"


class Directory:
    """A server that tells display names, page by page, and what was asked of it."""

    def __init__(self, *pages: ListDisplayNamesResponse | grpc.StatusCode) -> None:
        self.pages = list(pages)
        self.now = 100.0
        self.names = DisplayNames(lambda: self.now)

    async def look(self, *, later: float = 0.0) -> None:
        self.now += later
        gateway = PreparedGateway(lambda _name, _read: self._page())
        await self.names.look(Services(gateway.channel(Visitor(""))))

    def _page(self) -> Message:
        page = self.pages.pop(0)
        if isinstance(page, grpc.StatusCode):
            raise AioRpcError(page, Metadata(), Metadata())
        return page


def page(version: str, following: str = "", **names: str) -> ListDisplayNamesResponse:
    return ListDisplayNamesResponse(version=version, display_names=names, next_page_token=following)


async def test_names_are_asked_for_once_in_a_while() -> None:
    """All pages of them; who has none goes by its own."""
    directory = Directory(page("1", "2", ada="Ada"), page("1", bob="Bob"), page("2", ada="Eve"))
    await directory.look()
    await directory.look()
    assert [directory.names.shown(each) for each in ("ada", "bob", "cyd")] == ["Ada", "Bob", "cyd"]
    await directory.look(later=NAMES_AGE.total_seconds())
    assert (directory.names.shown("ada"), directory.names.version) == ("Eve", "2")
    assert directory.pages == []


async def test_names_stay_while_they_are_the_same_or_not_told() -> None:
    """One who may not read them keeps nobody else from it."""
    directory = Directory(
        page("1", ada="Ada"), page("1"), grpc.StatusCode.UNAUTHENTICATED, page("2", ada="Eve")
    )
    await directory.look()
    for _ in range(2):
        await directory.look(later=NAMES_AGE.total_seconds())
        assert directory.names.shown("ada") == "Ada"
    await directory.look()
    assert directory.names.shown("ada") == "Eve"


async def test_those_of_one_display_name_are_told_apart() -> None:
    directory = Directory(page("1", ada="Anna", bob="ANNA", cyd="Cyd"))
    await directory.look()
    shown = [directory.names.shown(each) for each in ("ada", "bob", "cyd")]
    assert shown == ["Anna (ada)", "ANNA (bob)", "Cyd"]


@pytest.fixture(scope="module")
def app() -> Iterator[Starlette]:
    """A site whose server has one bot, wherever there may be one."""

    def answer(method: str, read: Any) -> Message:
        if method == "ListDisplayNames":
            return page("1", **{NAME: SHOWN})
        return filled(read(b""), bot_or_other)

    site = SiteState(PreparedGateway(answer), SiteSettings())
    yield application(site)
    site.cache.close()


@pytest.mark.parametrize("form", FORMS)
async def test_a_bot_is_shown_by_what_people_call_it(app: Starlette, form: str) -> None:
    """On every page: its own name is in links, tooltips and what forms send alone."""
    browsing = Browsing(app)
    await browsing.post("/sign-in", token="mj_x", next="/")
    page = (await browsing.get(form.format_map(PLACES))).text
    shown = re.sub(r'<a class="name".*?</a>|<span class="tagline">.*?</span>', "", page)
    assert NAME not in re.sub(r"<[^>]*>", " ", shown)
    assert SHOWN in page or NAME not in page


@pytest.mark.parametrize("path", [f"/bots/{NAME}.atom", "/games/3.html"])
async def test_files_have_the_same_names(app: Starlette, path: str) -> None:
    """A feed, and a page that replays a game."""
    text = (await Browsing(app).get(path)).text
    assert SHOWN in text
    assert NAME not in re.sub(r"<[^>]*>", " ", text.replace(f"/bots/{NAME}", ""))


async def test_a_page_that_is_kept_shows_a_new_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though all else on it is as it was."""
    names = {NAME: "Ada"}

    def answer(method: str, read: Any) -> Message:
        if method == "ListDisplayNames":
            return page(names[NAME], **names)
        return filled(read(b""), bot_or_other)

    site = SiteState(PreparedGateway(answer), SiteSettings())
    now = 100.0
    for clocked in (site.names, site.cache):
        monkeypatch.setattr(clocked, "_clock", lambda: now)
    browsing = Browsing(application(site))
    first = await browsing.get("/games")
    now += 10
    assert (await browsing.get("/games")).headers["etag"] == first.headers["etag"]
    names[NAME] = "The Countess"
    now += 10
    assert "The Countess" in (await browsing.get("/games")).text
    site.cache.close()
