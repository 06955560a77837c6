"""People's games: choosing a bot, the board, and everything that is done there."""

import asyncio
import json
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from grpc.aio import AioRpcError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from meijin.game import Board, Color, encode_moves, parse_cell
from meijin.game.board_svg import board_svg
from meijin.v1 import analysis_service_pb2, bot_service_pb2, game_service_pb2
from meijin.v1 import challenge_service_pb2 as pb
from meijin.web.drafts import Draft
from meijin.web.gateway import Services, Visitor
from meijin.web.play.game_events import tell_states
from meijin.web.play.seat import Seat
from meijin.web.play.seated_game import SeatedGame
from meijin.web.play.seats import Seats
from meijin.web.play.state import GameState, state_of
from meijin.web.play.terms import BOT_TIMES, CLOCKS, Terms
from meijin.web.refusals import Refusal, bad_request, refusal_of
from meijin.web.routes import Form, Page, Private
from meijin.web.shell import Shell
from meijin.web.visit import Visit, see_other
from meijin.web.wording import text
from meijin.wire import variant_to_proto

COOKIE = "meijin_person"
"""Of a person's token: a person has nothing but games to lose."""

COOKIE_AGE = timedelta(days=30)

BOT_AGE = timedelta(seconds=10)
"""How old the list of bots may be."""

START_TIMEOUT = timedelta(seconds=3)
"""How long a page waits for a game to start before it says why there is none yet."""

HINT_TIME = timedelta(seconds=2)
"""What the search for a hint may take."""

RULES = ("freestyle", "standard", "renju", "caro", "caro-exact")
OPENINGS = ("free", "swap1", "swap", "swap2")
SIZES = (15, 19, 20, 13, 11, 9)


@dataclass(frozen=True, slots=True)
class LobbyView:
    """Whom one may play, and on which terms."""

    bots: tuple[bot_service_pb2.Bot, ...]
    """Strongest first."""
    opponent: str
    """The one that is asked for; empty for any."""
    rules: tuple[str, ...] = RULES
    openings: tuple[str, ...] = OPENINGS
    sizes: tuple[int, ...] = SIZES
    bot_times: tuple[str, ...] = BOT_TIMES
    clocks: tuple[str, ...] = CLOCKS


@dataclass(frozen=True, slots=True)
class WaitingView:
    """A challenge whose game has not begun."""

    challenge: pb.Challenge


@dataclass(frozen=True, slots=True)
class TableView:
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


async def lobby(visit: Visit) -> Draft:
    """Show whom one may play."""
    response = await visit.services.bots.ListBots(
        bot_service_pb2.ListBotsRequest(connected=True, page_size=1000)
    )
    opponent = visit.text("bot", most=40)

    def view() -> LobbyView:
        accepting = bot_service_pb2.CHALLENGE_POLICY_ANYONE
        bots = [bot for bot in response.bots if bot.challenges == accepting]
        bots.sort(key=lambda bot: (-bot.rating, bot.name))
        return LobbyView(tuple(bots), opponent)

    return visit.page("play/lobby.html", view, response)


async def start(visit: Visit) -> Response:
    """Challenge a bot, as a person who is there already or comes now."""
    form = {name: str(value) for name, value in (await visit.form()).items()}
    terms = Terms.read(form)
    token = visit.request.cookies.get(COOKIE, "")
    if token:
        try:
            seat = await _seats(visit).seat(_person(visit, token))
            return await _challenge(visit, seat, token, terms)
        except Refusal as refusal:
            if refusal.status != 401:  # noqa: PLR2004 - forgotten: the person comes anew
                raise
    request = pb.EnterAsPersonRequest(display_name=form.get("name", "").strip())
    anyone = Services(visit.shell.gateway.channel(Visitor(visit.visitor.host)))
    token = (await anyone.challenges.EnterAsPerson(request)).token
    seat = await _seats(visit).seat(_person(visit, token))
    return await _challenge(visit, seat, token, terms)


async def waiting(visit: Visit) -> Response:
    """Lead to the game of a challenge, once it has begun."""
    token, seat = await _seat(visit)
    challenge_id = visit.place("challenge")
    services = Services(visit.shell.gateway.channel(_person(visit, token)))
    try:
        async with asyncio.timeout(START_TIMEOUT.total_seconds()):
            while True:
                changing = asyncio.ensure_future(seat.change())
                game_id = await _game_of(services, challenge_id)
                if game_id in seat.games:
                    changing.cancel()
                    return see_other(f"/play/{game_id}")
                await asyncio.wait((changing,), timeout=0.5)
                changing.cancel()
    except TimeoutError:
        found = await services.challenges.GetChallenge(
            pb.GetChallengeRequest(challenge_id=challenge_id)
        )
    return await visit.answer("play/waiting.html", lambda: WaitingView(found.challenge))


async def table(visit: Visit) -> Response:
    """Show a game at its board; a game of somebody else is looked at on its own page."""
    game_id = visit.place("game")
    if not visit.request.cookies.get(COOKIE):
        return see_other(f"/games/{game_id}")
    _, seat = await _seat(visit)
    if game_id not in seat.games:
        return see_other(f"/games/{game_id}")
    return await visit.answer("play/table.html", lambda: _view(seat.game(game_id)))


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
        _, seat = await _seat(visit)
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
    token, seat = await _seat(visit)
    game = seat.game(visit.place("game"))
    services = Services(visit.shell.gateway.channel(_person(visit, token)))
    settings, challenge_id = await _settings(services, game)
    terms = Terms.undone(game, settings)
    if game.outcome is None:
        await services.challenges.CancelChallenge(
            pb.CancelChallengeRequest(challenge_id=challenge_id)
        )
    return await _challenge(visit, seat, token, terms)


async def rematch(visit: Visit) -> Response:
    """Play the same once more, with the colours changed."""
    token, seat = await _seat(visit)
    game = seat.game(visit.place("game"))
    if game.outcome is None:
        raise bad_request(text("play.not_over"))
    services = Services(visit.shell.gateway.channel(_person(visit, token)))
    settings, _ = await _settings(services, game)
    terms = Terms.again(game, settings, color=game.color.other.name.lower())
    return await _challenge(visit, seat, token, terms)


async def hint(visit: Visit) -> Response:
    """Ask the opponent what it would play; a script gets the cell, others a page that names it."""
    token, seat = await _seat(visit)
    game = seat.game(visit.place("game"))
    if game.turn is None or game.turn.is_opening:
        raise bad_request(text("play.no_hint_now"))
    services = Services(visit.shell.gateway.channel(_person(visit, token)))
    position = analysis_service_pb2.EvaluatedPosition(
        variant=variant_to_proto(game.variant),
        moves=encode_moves(Board.from_moves(game.moves, game.variant).moves),
    )
    request = analysis_service_pb2.EvaluateRequest(
        bot=game.opponent,
        positions=[position],
        time_ms=HINT_TIME // timedelta(milliseconds=1),
    )
    answer = None
    async for each in services.analysis.Evaluate(request):
        answer = each
    if answer is None or not answer.HasField("cell"):
        raise bad_request(text("play.no_hint", opponent=game.opponent))
    words = text("play.hint", opponent=game.opponent, cell=game.name(answer.cell))
    if _is_by_script(visit):
        return JSONResponse({"cell": answer.cell, "message": words})
    return await visit.answer("play/table.html", lambda: _view(game, words, answer.cell))


class GameEvents:
    """The stream of a game's page."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Tell a browser of its game."""
        request = Request(scope, receive)
        shell: Shell = request.app.state.shell
        visit = Visit(request, shell)
        _, seat = await _seat(visit)
        await tell_states(seat, visit.place("game"), shell.closing, receive, send)


async def _seat(visit: Visit) -> tuple[str, Seat]:
    """The token and the seat of the person whose browser asks.

    Raises:
        Refusal: it is nobody's, or there is no seat.
    """
    token = visit.request.cookies.get(COOKIE, "")
    if not token:
        raise bad_request(text("play.nobody"))
    return token, await _seats(visit).seat(_person(visit, token))


def _seats(visit: Visit) -> Seats:
    return visit.shell.seats


def _person(visit: Visit, token: str) -> Visitor:
    return Visitor(visit.visitor.host, token)


async def _challenge(visit: Visit, seat: Seat, token: str, terms: Terms) -> Response:
    services = Services(visit.shell.gateway.channel(_person(visit, token)))
    await seat.ready()
    made = await services.challenges.CreateChallenge(terms.request(secrets.token_hex(16)))
    response = see_other(f"/play/challenges/{made.challenge.challenge_id}")
    response.set_cookie(
        COOKIE,
        token,
        max_age=int(COOKIE_AGE.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=visit.origin.startswith("https:"),
    )
    return response


async def _game_of(services: Services, challenge_id: str) -> str:
    """The newest game of a challenge; empty before it has one."""
    request = game_service_pb2.ListGamesRequest(tournament_id=challenge_id, page_size=1)
    games = (await services.games.ListGames(request)).games
    return games[0].game_id if games else ""


async def _settings(services: Services, game: SeatedGame) -> tuple[pb.ChallengeSettings, str]:
    """What was asked for when a game was made, and by which challenge."""
    request = game_service_pb2.GetGameRequest(game_id=game.game_id)
    challenge_id = (await services.games.GetGame(request)).game.tournament_id
    found = await services.challenges.GetChallenge(
        pb.GetChallengeRequest(challenge_id=challenge_id)
    )
    return found.challenge.settings, challenge_id


def _view(game: SeatedGame, words: str = "", cell: int | None = None) -> TableView:
    state = state_of(game)
    board = Board.from_moves(game.moves, game.variant)
    return TableView(
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
    Page("/play", lobby, max_age=BOT_AGE),
    Form("/play", start),
    Private("/play/challenges/{challenge}", waiting),
    Private("/play/{game}", table),
    Form("/play/{game}/move", _acting(move)),
    Form("/play/{game}/choose", _acting(choose)),
    Form("/play/{game}/resign", _acting(resign)),
    Form("/play/{game}/undo", _explained(undo)),
    Form("/play/{game}/rematch", rematch),
    Form("/play/{game}/hint", _explained(hint)),
    Route("/play/{game}/events", GameEvents()),
)
