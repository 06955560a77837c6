"""Forms: what they send, what they lead to, and how they are shown again where they are refused."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from http import HTTPStatus

from google.protobuf.message import Message
from grpc.aio import AioRpcError
from starlette.responses import Response

from meijin.game import (
    OPENING_RULES,
    RULES,
    TimeControl,
    Variant,
    encode_moves,
    opening_rule_named,
    parse_opening,
    rule_named,
)
from meijin.v1 import bot_service_pb2 as bot_pb
from meijin.v1 import game_pb2
from meijin.web.api.methods import METHODS
from meijin.web.cache import LazyPage
from meijin.web.gateway import Services
from meijin.web.refusals import Refusal, bad_request, refusal_of
from meijin.web.request import Answer, Form, PageRequest, see_other, whole
from meijin.wire.values import time_control_to_proto, variant_to_proto

MAX_FIELD = 2000
"""Characters of a field: an opening of a full board has 1,500."""

MAX_NAMES = 45_000
"""Characters of the names of all bots of a tournament."""

OFFERED = 200
"""Bots that a form names; others are typed."""

SIZES = tuple(range(3, 23))

USUAL = {
    "rule": "freestyle",
    "size": "15",
    "line": "5",
    "opening_rule": "free",
    "time": "60+0.5",
    "opponent_time": "",
    "games": "2",
    "rounds": "2",
    "colors": "alternate",
    "start": "server",
    "moves": "",
}
"""What a form says where nobody has filled it in."""

CHOICES = {"rules": tuple(RULES), "sizes": SIZES, "opening_rules": tuple(OPENING_RULES)}
"""What a form about what is played offers."""

Fields = Mapping[str, str]


async def fields_of(request: PageRequest) -> Fields:
    """What a form has sent, without what is longer than any field of ours.

    Raises:
        Refusal: a field is.
    """
    form = await request.form()
    fields = {name: str(value).strip() for name, value in form.items()}
    if "bots" in form:
        fields["bots"] = " ".join(map(str, form.getlist("bots"))).strip()
    for name, value in fields.items():
        most = MAX_NAMES if name == "bots" else MAX_FIELD
        if len(value) > most:
            raise bad_request(f"{name[:40]} has more than {most} characters")
    return fields


async def form_page(
    request: PageRequest,
    act: Callable[[Fields], Awaitable[Answer]],
    again: Callable[[PageRequest, Fields, Refusal], Awaitable[LazyPage]],
    *raised: HTTPStatus,
) -> Answer:
    """What a form leads to; one that is refused is shown again with what was filled in.

    Raises:
        AioRpcError: it is refused for one of the reasons that are `raised`.
    """
    fields = await fields_of(request)
    try:
        return await act(fields)
    except ValueError as error:
        refusal = bad_request(str(error))
    except AioRpcError as error:
        refusal = refusal_of(error)
        if refusal.status in raised:
            raise
    return await again(request, fields, refusal)


def button(path: str, kind: type[Message], to: str, **fields: object) -> Form:
    """The form of a button: one call with what the path names and some fields, then a page.

    Args:
        kind: The call's request.
        to: The address of the page, which may name parts of the path.
    """
    method = next(each for each in METHODS if each.request is kind)
    known = kind.DESCRIPTOR.fields_by_name

    async def handle(request: PageRequest) -> Response:
        named = {name: value for name, value in request.path.items() if name in known}
        await request.services.channel.unary_unary(method.call_path, **method.codecs)(
            kind(**named, **fields)
        )
        return see_other(to.format_map(request.path))

    return Form(path, handle)


async def offered_bots(services: Services, *, connected: bool = False) -> Sequence[bot_pb.Bot]:
    """The bots that a form names, those first that are there."""
    asked = bot_pb.ListBotsRequest(connected=connected, page_size=OFFERED)
    found = (await services.bots.ListBots(asked)).bots
    return sorted(found, key=lambda bot: not bot.connected)


def board_of(fields: Fields) -> Variant:
    """What is to be played.

    Raises:
        ValueError: there is no such rule, or no such board.
    """
    size, line = (number_of(fields, name, most=SIZES[-1]) for name in ("size", "line"))
    rule, opening_rule = (fields.get(name) or USUAL[name] for name in ("rule", "opening_rule"))
    return Variant(rule_named(rule), size, size, line, opening_rule_named(opening_rule))


def variant_of(fields: Fields) -> game_pb2.Variant:
    """What is to be played, as a message.

    Raises:
        ValueError: see `board_of`.
    """
    return variant_to_proto(board_of(fields))


def clock_of(fields: Fields, name: str = "time") -> game_pb2.TimeControl:
    """A time control.

    Raises:
        ValueError: the field is none.
    """
    return time_control_to_proto(TimeControl.parse(fields.get(name) or USUAL["time"]))


def opening_of(fields: Fields) -> bytes:
    """The position to start from, as a form names its moves.

    Raises:
        ValueError: a cell is unreadable or off the board.
    """
    return encode_moves(parse_opening(fields.get("moves", ""), board_of(fields)))


def number_of(fields: Fields, name: str, *, least: int = 0, most: int = 2**31 - 1) -> int:
    """A whole number.

    Raises:
        ValueError: the field is none, or out of its range.
    """
    return whole(fields.get(name) or USUAL.get(name, "0"), name, least=least, most=most)
