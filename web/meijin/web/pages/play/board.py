"""A person's game at its board, and everything that is done there."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict

from grpc.aio import AioRpcError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from meijin.game import Color, parse_cell
from meijin.game.board.svg import board_svg
from meijin.v1 import challenge_service_pb2 as pb
from meijin.v1 import game_service_pb2
from meijin.web.cache import LazyPage
from meijin.web.gateway import Services
from meijin.web.pages.play.person import PlayingPerson, has_person
from meijin.web.pages.play.terms import rematch_settings, undone_settings
from meijin.web.play.game_events import tell_states
from meijin.web.play.person_game import PersonGame
from meijin.web.play.state import state_of
from meijin.web.play.stream import PersonStream
from meijin.web.refusals import Refusal, bad_request, refusal_of, refusing_values
from meijin.web.request import Answer, Form, Handle, PageRequest, Private, see_other
from meijin.web.state import SiteState
from meijin.web.streaming import transport_of
from meijin.web.wording import text


async def show(request: PageRequest) -> Answer:
    """Show a game at its board; a game of somebody else is looked at on its own page."""
    game_id = request.path["game"]
    if has_person(request):
        games = (await PlayingPerson.of(request)).stream.games
        if game_id in games:
            return _page(request, games[game_id])
    return see_other(f"/games/{game_id}")


async def move(request: PageRequest, stream: PersonStream, game: PersonGame) -> None:
    words = str((await request.form()).get("cells", "")).split()
    with refusing_values():
        cells = [parse_cell(word.lower(), game.variant) for word in words]
    await stream.place(game, cells)


async def choose(request: PageRequest, stream: PersonStream, game: PersonGame) -> None:
    color = str((await request.form()).get("color", ""))
    if color not in {"black", "white"}:
        raise bad_request(text("play.no_color", color=color))
    await stream.choose(game, Color[color.upper()])


async def resign(request: PageRequest, stream: PersonStream, game: PersonGame) -> None:  # noqa: ARG001 - as the others
    await stream.resign(game)


async def _game(request: PageRequest) -> tuple[PlayingPerson, PersonGame]:
    """The person, and the game that the path names.

    Raises:
        Refusal: the person has no such game.
    """
    person = await PlayingPerson.of(request)
    return person, person.stream.game(request.path["game"])


def _acting(act: Callable[[PageRequest, PersonStream, PersonGame], Awaitable[None]]) -> Handle:
    """A form that changes a game: a script gets its state, and others the page."""

    async def handle(request: PageRequest) -> Answer:
        person, game = await _game(request)
        await act(request, person.stream, game)
        if _is_by_script(request):
            return JSONResponse(asdict(state_of(game)))
        return see_other(f"/play/{game.game_id}")

    return _explained(handle)


def _explained(handle: Handle) -> Handle:
    """A form whose refusal a script reads as JSON."""

    async def explained(request: PageRequest) -> Answer:
        if not _is_by_script(request):
            return await handle(request)
        try:
            return await handle(request)
        except AioRpcError as error:
            refusal = refusal_of(error)
        except Refusal as error:
            refusal = error
        return JSONResponse({"message": str(refusal)}, refusal.status)

    return explained


def _is_by_script(request: PageRequest) -> bool:
    return "application/json" in request.http.headers.get("accept", "")


async def undo(request: PageRequest) -> Response:
    """Take the person's last stone back: the game goes on as another one from there."""
    person, game = await _game(request)
    settings, challenge_id = await _settings(person.services, game)
    undone = undone_settings(game, settings)
    return await person.challenge(request, game.opponent, undone, in_place_of=challenge_id)


async def rematch(request: PageRequest) -> Response:
    """Play the same once more, with the colours changed."""
    person, game = await _game(request)
    if game.outcome is None:
        raise bad_request(text("play.not_over"))
    settings, _ = await _settings(person.services, game)
    return await person.challenge(request, game.opponent, rematch_settings(game, settings))


async def hint(request: PageRequest) -> Answer:
    """Ask the opponent what it would play; a script gets the cell, others a page that names it."""
    person, game = await _game(request)
    if game.turn is None or game.turn.is_opening:
        raise bad_request(text("play.no_hint_now"))
    opponent = request.site.names.shown(game.opponent)
    answer = await person.evaluation(game.opponent, game.moves, game.variant)
    if not answer.HasField("cell"):
        raise bad_request(text("play.no_hint", opponent=opponent))
    words = text("play.hint", opponent=opponent, cell=game.name(answer.cell))
    if _is_by_script(request):
        return JSONResponse({"cell": answer.cell, "message": words})
    return _page(request, game, words, answer.cell)


class BoardEvents:
    """The stream of a game's page."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        http = Request(scope, receive)
        site: SiteState = http.app.state.site
        request = PageRequest(http, site)
        stream = (await PlayingPerson.of(request)).stream
        game_id, transport = request.path["game"], transport_of(scope)
        await tell_states(stream, game_id, site.closing, receive, send, transport=transport)


async def _settings(services: Services, game: PersonGame) -> tuple[pb.ChallengeSettings, str]:
    """What was asked for when a game was made, and by which challenge."""
    asked = game_service_pb2.GetGameRequest(game_id=game.game_id)
    challenge_id = (await services.games.GetGame(asked)).game.tournament_id
    found = await services.challenges.GetChallenge(
        pb.GetChallengeRequest(challenge_id=challenge_id)
    )
    return found.challenge.settings, challenge_id


def _page(
    request: PageRequest, game: PersonGame, hint: str = "", cell: int | None = None
) -> LazyPage:
    """A game at its board, with the words and the cell of a hint where there is one."""
    state = state_of(game)
    return request.page(
        "play/board.html",
        game=game,
        picture=board_svg(game.board, numbers=False, forbidden=state.is_turn),
        state=state,
        state_json=json.dumps(asdict(state)),
        hint=hint,
        hint_cell=cell,
    )


ROUTES = (
    Private("/play/{game}", show),
    Form("/play/{game}/move", _acting(move)),
    Form("/play/{game}/choose", _acting(choose)),
    Form("/play/{game}/resign", _acting(resign)),
    Form("/play/{game}/undo", _explained(undo)),
    Form("/play/{game}/rematch", rematch),
    Form("/play/{game}/hint", _explained(hint)),
    Route("/play/{game}/events", BoardEvents()),
)
