"""A person's game at its board, and everything that is done there."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from grpc.aio import AioRpcError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from meijin.game import Board, Color, encode_moves, parse_cell
from meijin.game.board.svg import board_svg
from meijin.v1 import analysis_service_pb2, game_service_pb2
from meijin.v1 import challenge_service_pb2 as pb
from meijin.web.gateway import Services
from meijin.web.pages.person import Person, has_person
from meijin.web.play.game_events import tell_states
from meijin.web.play.seat import Seat
from meijin.web.play.seated_game import SeatedGame
from meijin.web.play.state import GameState, state_of
from meijin.web.play.terms import Terms
from meijin.web.refusals import Refusal, bad_request, refusal_of
from meijin.web.routes import Form, Private
from meijin.web.shell import Shell
from meijin.web.streaming import transport_of
from meijin.web.visit import Visit, see_other
from meijin.web.wording import text
from meijin.wire import variant_to_proto

HINT_TIME = timedelta(seconds=2)
"""What the search for a hint may take."""


@dataclass(frozen=True, slots=True)
class BoardView:
    """A game at its board."""

    game_id: str
    opponent: str
    variant: str
    width: int
    height: int
    picture: str
    """SVG of our own, without a word of others."""
    state: GameState
    state_json: str
    hint: str = ""
    """What was found, in words; empty where nobody has asked."""
    hint_cell: int | None = None


async def board_page(visit: Visit) -> Response:
    """Show a game at its board; a game of somebody else is looked at on its own page."""
    game_id = visit.place("game")
    if not has_person(visit):
        return see_other(f"/games/{game_id}")
    seat = (await Person.of(visit)).seat
    if game_id not in seat.games:
        return see_other(f"/games/{game_id}")
    return await visit.answer("play/board.html", lambda: _view(seat.game(game_id)))


async def move(visit: Visit, seat: Seat, game: SeatedGame) -> None:
    """Place stones."""
    form = await visit.form()
    words = str(form.get("cells", "")).split()
    try:
        cells = [parse_cell(word.lower(), game.variant) for word in words]
    except ValueError as error:
        raise bad_request(str(error)) from None
    await seat.place(game, cells)


async def choose(visit: Visit, seat: Seat, game: SeatedGame) -> None:
    """Choose a side."""
    color = str((await visit.form()).get("color", ""))
    if color not in {"black", "white"}:
        raise bad_request(text("play.no_color", color=color))
    await seat.choose(game, Color[color.upper()])


async def resign(visit: Visit, seat: Seat, game: SeatedGame) -> None:  # noqa: ARG001 - as the others
    """Give the game up."""
    await seat.resign(game)


def _acting(
    act: Callable[[Visit, Seat, SeatedGame], Awaitable[None]],
) -> Callable[[Visit], Awaitable[Response]]:
    """A form that changes a game: a script gets its state, and others the page."""

    async def handle(visit: Visit) -> Response:
        seat = (await Person.of(visit)).seat
        game = seat.game(visit.place("game"))
        await act(visit, seat, game)
        if _is_by_script(visit):
            return JSONResponse(state_of(game).as_json())
        return see_other(f"/play/{game.game_id}")

    return _explained(handle)


def _explained(
    handle: Callable[[Visit], Awaitable[Response]],
) -> Callable[[Visit], Awaitable[Response]]:
    """A form whose refusal a script reads as JSON."""

    async def explained(visit: Visit) -> Response:
        if not _is_by_script(visit):
            return await handle(visit)
        try:
            return await handle(visit)
        except AioRpcError as error:
            refusal = refusal_of(error)
        except Refusal as error:
            refusal = error
        return JSONResponse({"message": str(refusal)}, refusal.status)

    return explained


def _is_by_script(visit: Visit) -> bool:
    return "application/json" in visit.request.headers.get("accept", "")


async def undo(visit: Visit) -> Response:
    """Take the person's last stone back: the game goes on as another one from there."""
    person = await Person.of(visit)
    game = person.seat.game(visit.place("game"))
    settings, challenge_id = await _settings(person.services, game)
    terms = Terms.undone(game, settings)
    if game.outcome is None:
        await person.services.challenges.CancelChallenge(
            pb.CancelChallengeRequest(challenge_id=challenge_id)
        )
    return await person.challenge(visit, terms)


async def rematch(visit: Visit) -> Response:
    """Play the same once more, with the colours changed."""
    person = await Person.of(visit)
    game = person.seat.game(visit.place("game"))
    if game.outcome is None:
        raise bad_request(text("play.not_over"))
    settings, _ = await _settings(person.services, game)
    terms = Terms.again(game, settings, color=game.color.other.name.lower())
    return await person.challenge(visit, terms)


async def hint(visit: Visit) -> Response:
    """Ask the opponent what it would play; a script gets the cell, others a page that names it."""
    person = await Person.of(visit)
    game = person.seat.game(visit.place("game"))
    if game.turn is None or game.turn.is_opening:
        raise bad_request(text("play.no_hint_now"))
    position = analysis_service_pb2.EvaluatedPosition(
        variant=variant_to_proto(game.variant),
        moves=encode_moves(game.moves),
    )
    request = analysis_service_pb2.EvaluateRequest(
        bot=game.opponent,
        positions=[position],
        time_ms=HINT_TIME // timedelta(milliseconds=1),
    )
    answer = None
    async for each in person.services.analysis.Evaluate(request):
        answer = each
    if answer is None or not answer.HasField("cell"):
        raise bad_request(text("play.no_hint", opponent=game.opponent))
    words = text("play.hint", opponent=game.opponent, cell=game.name(answer.cell))
    if _is_by_script(visit):
        return JSONResponse({"cell": answer.cell, "message": words})
    return await visit.answer("play/board.html", lambda: _view(game, words, answer.cell))


class GameEvents:
    """The stream of a game's page."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Tell a browser of its game."""
        request = Request(scope, receive)
        shell: Shell = request.app.state.shell
        visit = Visit(request, shell)
        seat = (await Person.of(visit)).seat
        game_id, transport = visit.place("game"), transport_of(scope)
        await tell_states(seat, game_id, shell.closing, receive, send, transport=transport)


async def _settings(services: Services, game: SeatedGame) -> tuple[pb.ChallengeSettings, str]:
    """What was asked for when a game was made, and by which challenge."""
    request = game_service_pb2.GetGameRequest(game_id=game.game_id)
    challenge_id = (await services.games.GetGame(request)).game.tournament_id
    found = await services.challenges.GetChallenge(
        pb.GetChallengeRequest(challenge_id=challenge_id)
    )
    return found.challenge.settings, challenge_id


def _view(game: SeatedGame, words: str = "", cell: int | None = None) -> BoardView:
    state = state_of(game)
    board = Board.from_moves(game.moves, game.variant)
    return BoardView(
        game_id=game.game_id,
        opponent=game.opponent,
        variant=str(game.variant),
        width=game.variant.width,
        height=game.variant.height,
        picture=board_svg(board, numbers=False, forbidden=state.is_turn),
        state=state,
        state_json=json.dumps(state.as_json()),
        hint=words,
        hint_cell=cell,
    )


ROUTES = (
    Private("/play/{game}", board_page),
    Form("/play/{game}/move", _acting(move)),
    Form("/play/{game}/choose", _acting(choose)),
    Form("/play/{game}/resign", _acting(resign)),
    Form("/play/{game}/undo", _explained(undo)),
    Form("/play/{game}/rematch", rematch),
    Form("/play/{game}/hint", _explained(hint)),
    Route("/play/{game}/events", GameEvents()),
)
