"""Hostile texts of others, in every field that the contract has: no page takes them for its own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import quote

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message
from starlette.applications import Starlette
from tests.web.addresses import OWN_PAGES, PAGES
from tests.web.browsing import Browsing
from tests.web.prepared import PreparedGateway

from meijin.game import encode_moves
from meijin.v1 import game_pb2, token_service_pb2
from meijin.web.site import application
from meijin.web.state import SiteSettings, SiteState

HOSTILE = "<script>alert(1)</script>\"'><b onclick=x> \u202eevil\u2066\x07"
FORBIDDEN = ("<script>alert", "<b onclick", "\u202e", "\u2066", "\x07")
MOVES = (24, 25, 17)
VALUES: dict[str, Message] = {
    "Variant": game_pb2.Variant(width=7, height=7, line=5),
    "Outcome": game_pb2.Outcome(
        winner=game_pb2.COLOR_BLACK, ending=game_pb2.ENDING_FIVE, detail=HOSTILE
    ),
    "Token": token_service_pb2.Token(kind=token_service_pb2.TOKEN_KIND_OPERATOR, owner=HOSTILE),
}
"""Messages whose fields have to fit together."""

PLACES = dict.fromkeys(
    ("game", "faulty_game", "swapped_game", "live_game", "tournament", "bracket", "test", "live"),
    "3",
) | dict.fromkeys(("bot", "other_bot", "failing_bot", "ladder"), "ada")
FORMS = [form for table in (PAGES, OWN_PAGES) for forms in table.values() for form in forms] + [
    "/webhooks/3",
    "/ladders/{ladder}?q=" + quote(HOSTILE),
    "/games?bot=" + quote(HOSTILE),
]


def fill(message: Message, depth: int = 0) -> None:
    """Set every field: texts to what is hostile, one message in each list."""
    for field in cast("Descriptor", message.DESCRIPTOR).fields:
        if field.message_type is None:
            value = scalar(field)
            if field.is_repeated:
                getattr(message, field.name).extend([value, value])
            else:
                setattr(message, field.name, value)
        elif depth < 5 and not field.message_type.GetOptions().map_entry:
            inner = getattr(message, field.name)
            fill_message(inner.add() if field.is_repeated else inner, depth + 1)


def fill_message(inner: Message, depth: int) -> None:
    name = inner.DESCRIPTOR.full_name
    known = VALUES.get(inner.DESCRIPTOR.name)
    if known is not None:
        inner.CopyFrom(known)
    elif name == "google.protobuf.Struct":
        cast("Any", inner).update({HOSTILE: HOSTILE, "list": [HOSTILE]})
    elif name.startswith("google."):
        cast("Any", inner).seconds = 1_790_000_000 if name.endswith("Timestamp") else 60
    else:
        fill(inner, depth)


def scalar(field: FieldDescriptor) -> Any:
    match field.type:
        case FieldDescriptor.TYPE_STRING:
            fit = {"day": "2026-01-02", "next_page_token": "", "webhook_id": "3"}
            return fit.get(field.name, HOSTILE)
        case FieldDescriptor.TYPE_BYTES:
            return encode_moves(MOVES)
        case FieldDescriptor.TYPE_ENUM:
            return field.enum_type.values[-1].number if field.enum_type else 0
        case FieldDescriptor.TYPE_BOOL:
            return field.name != "more"
    return 1


def answer(message: Message) -> Message:
    """A message that is full of it, with a game that can have been."""
    fill(message)
    for game in [getattr(message, "game", None), *(getattr(message, "games", None) or ())]:
        if isinstance(game, game_pb2.Game):
            game.state = game_pb2.GAME_STATE_FINISHED
            del game.moves[:]
            game.moves.extend(game_pb2.Move(cell=cell) for cell in MOVES)
            game.opening_plies, game.ply = 0, len(MOVES)
            game.ClearField("decisions")
    return message


@pytest.fixture(scope="module")
def app() -> Iterator[Starlette]:
    site = SiteState(PreparedGateway(lambda _, read: answer(read(b""))), SiteSettings())
    yield application(site)
    site.cache.close()


@pytest.mark.parametrize("form", FORMS)
async def test_texts_of_others_are_only_texts(app: Starlette, form: str) -> None:
    """Whatever field holds them they are escaped, and turn no text around."""
    browsing = Browsing(app)
    await browsing.post("/sign-in", token="mj_x", next="/")
    found = await browsing.get(form.format_map(PLACES))
    assert found.status in {200, 303}, found.text
    assert [words for words in FORBIDDEN if words in found.text] == []
