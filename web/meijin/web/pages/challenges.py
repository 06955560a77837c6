"""Challenges: made with a bot of one's own, listed and taken back."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus

from grpc.aio import AioRpcError
from starlette.responses import Response

from meijin.v1 import bot_service_pb2 as bot_pb
from meijin.v1 import challenge_service_pb2 as pb
from meijin.v1 import token_service_pb2 as token_pb
from meijin.web.refusals import refusal_of
from meijin.web.routes import Form, Private
from meijin.web.terms import USUAL, TermsView, clock_of, fields_of, opening_of, variant_of, whole
from meijin.web.visit import Visit, see_other

SHOWN = 50
"""Challenges of a page."""

OFFERED = 200
"""Bots that a form names; others are typed."""

MAX_GAMES = 20

COLORS = {
    "alternate": pb.CHALLENGE_COLORS_ALTERNATE,
    "black": pb.CHALLENGE_COLORS_BLACK,
    "white": pb.CHALLENGE_COLORS_WHITE,
}


@dataclass(frozen=True, slots=True)
class ChallengesView:
    """The form, and the challenges that there are."""

    challenges: tuple[pb.Challenge, ...]
    older: str
    """The address of the next page; empty on the last."""
    opponents: tuple[str, ...]
    """Bots that are connected and accept."""
    mine: tuple[str, ...]
    """Bots of the visitor that are connected."""
    is_signed_in: bool
    shows: str
    """Which are listed: ``all``, ``running`` or ``mine``."""
    opponent: str
    challenger: str
    terms: TermsView
    message: str = ""
    """Why the last form was refused."""


async def own_token(visit: Visit) -> token_pb.Token | None:
    """The token that the visitor has signed in with; ``None`` for nobody."""
    if not visit.is_signed_in:
        return None
    return (await visit.services.tokens.GetOwnToken(token_pb.GetOwnTokenRequest())).token


async def show(visit: Visit) -> Response:
    """List challenges below the form for a new one."""
    return await _page(visit, {**USUAL, "opponent": visit.text("opponent", most=60)})


async def _page(visit: Visit, fields: Mapping[str, str], message: str = "") -> Response:
    token = await own_token(visit)
    shows = visit.text("show", "all")
    request = pb.ListChallengesRequest(
        page_size=SHOWN,
        page_token=visit.text("page"),
        mine=shows == "mine" and token is not None,
        running=shows == "running",
    )
    listed = await visit.services.challenges.ListChallenges(request)
    bots = await visit.services.bots.ListBots(
        bot_pb.ListBotsRequest(connected=True, page_size=OFFERED)
    )
    owner = token.owner if token is not None else ""
    following = visit.address(page=listed.next_page_token) if listed.next_page_token else ""

    def view() -> ChallengesView:
        return ChallengesView(
            challenges=tuple(listed.challenges),
            older=following,
            opponents=tuple(each.name for each in bots.bots if _accepts(each, owner)),
            mine=tuple(each.name for each in bots.bots if not owner or each.owner == owner),
            is_signed_in=visit.is_signed_in,
            shows=shows,
            opponent=fields.get("opponent", ""),
            challenger=fields.get("challenger", ""),
            terms=TermsView({**USUAL, **fields}),
            message=message,
        )

    status = HTTPStatus.BAD_REQUEST if message else HTTPStatus.OK
    return await visit.answer("challenges.html", view, status=status)


def _accepts(bot: bot_pb.Bot, owner: str) -> bool:
    is_own = bool(owner) and bot.owner == owner
    return is_own or bot.challenges != bot_pb.CHALLENGE_POLICY_NONE


async def make(visit: Visit) -> Response:
    """Make a challenge, and show its games."""
    fields = fields_of(await visit.form())
    try:
        made = await visit.services.challenges.CreateChallenge(_request(fields))
    except ValueError as error:
        return await _page(visit, fields, str(error))
    except AioRpcError as error:
        refusal = refusal_of(error)
        if refusal.status is HTTPStatus.UNAUTHORIZED:
            raise
        return await _page(visit, fields, str(refusal))
    return see_other(f"/tournaments/{made.challenge.challenge_id}")


def _request(fields: Mapping[str, str]) -> pb.CreateChallengeRequest:
    """What the form asks for.

    Raises:
        ValueError: a field can't be what it should be.
    """
    settings = pb.ChallengeSettings(
        games=whole(fields, "games", least=1, most=MAX_GAMES),
        variant=variant_of(fields),
        time_control=clock_of(fields),
        colors=COLORS.get(fields.get("colors", ""), pb.CHALLENGE_COLORS_ALTERNATE),
        server_openings=fields.get("start", "server") == "server",
    )
    if fields.get("opponent_time"):
        settings.opponent_time_control.CopyFrom(clock_of(fields, "opponent_time"))
    if fields.get("start") == "position":
        settings.openings.append(opening_of(fields))
    return pb.CreateChallengeRequest(
        opponent=fields.get("opponent", ""),
        challenger=fields.get("challenger", ""),
        settings=settings,
    )


async def take_back(visit: Visit) -> Response:
    """Take a challenge back."""
    request = pb.CancelChallengeRequest(challenge_id=visit.place("key"))
    await visit.services.challenges.CancelChallenge(request)
    return see_other("/challenges")


ROUTES = (
    Private("/challenges", show),
    Form("/challenges", make),
    Form("/challenges/{key}/cancel", take_back),
)
