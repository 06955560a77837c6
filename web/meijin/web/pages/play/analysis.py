"""A position on a large board, and what a bot that is there finds in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlencode

from meijin.game import GOMOKU, Analysis, TimeControl, cell_name
from meijin.game.records.chances import ChanceMap, wins_in
from meijin.v1 import game_pb2, game_service_pb2
from meijin.web.cache import LazyPage
from meijin.web.forms import MAX_FIELD, Fields, form_page
from meijin.web.gateway import Services
from meijin.web.pages.play import position as positions
from meijin.web.pages.play.lobby import BOT_AGE
from meijin.web.pages.play.opponents import objection_of, takers
from meijin.web.pages.play.person import HINT_TIME, PlayingPerson
from meijin.web.pages.play.position import Position, asked_position
from meijin.web.refusals import Refusal, bad_request
from meijin.web.request import Answer, Form, Page, PageRequest
from meijin.web.wording import text
from meijin.wire.mapping import from_message
from meijin.wire.values import analysis_from_proto

TIME = TimeControl(initial=None, per_move=HINT_TIME)

FIELDS = (*positions.FIELDS, "bot")


@dataclass(frozen=True, slots=True)
class Finding:
    """What a bot has found in a position."""

    bot: str
    position: Position
    cell: int | None
    """Where it would play; ``None`` where it would resign."""
    said: Analysis
    chances: ChanceMap

    @property
    def line(self) -> Sequence[int]:
        """What it expects, beginning with its own move, as far as it falls on empty cells."""
        line: list[int] = []
        expected = self.said.pv or (() if self.cell is None else (self.cell,))
        for cell in expected:
            if cell in line or self.position.board.stone(cell) is not None:
                break
            line.append(cell)
        return line

    @property
    def cells(self) -> Sequence[str]:
        """The same by their names."""
        return [cell_name(cell, self.position.variant) for cell in self.line]

    @property
    def chance(self) -> float | None:
        """The points that the side to move may expect; ``None`` where no score was told."""
        return None if self.said.score is None else self.chances.chance(self.said.score)

    @property
    def proven(self) -> str:
        """Who wins in how many moves; empty where nothing is proven."""
        moves = None if self.said.score is None else wins_in(self.said.score)
        if moves is None:
            return ""
        side = self.position.side if moves > 0 else self.position.side.other
        return text(f"analysis.wins_{side.name.lower()}", moves=abs(moves))


async def show(request: PageRequest) -> LazyPage:
    """Show the position that the address names."""
    given = [name for name in FIELDS if name in request.http.query_params]
    fields = {name: request.text(name, most=MAX_FIELD) for name in given}
    try:
        position = await asked_position(request, fields)
    except ValueError as error:
        return await _page(request, fields, None, refusal=bad_request(str(error)))
    return await _page(request, fields, position)


async def _page(
    request: PageRequest,
    fields: Fields,
    position: Position | None,
    *,
    finding: Finding | None = None,
    refusal: Refusal | None = None,
) -> LazyPage:
    position = position or Position.at((), GOMOKU, None)
    found = sorted(await takers(request.services), key=lambda bot: -bot.rating)
    bots = [
        bot.name
        for bot in found
        if bot.capabilities.evaluates and not objection_of(bot, position.variant, TIME)
    ]
    return request.page(
        "play/analysis.html",
        status=HTTPStatus.OK if refusal is None else refusal.status,
        position=position,
        named=urlencode(position.named),
        address=lambda ply: "/analysis?" + urlencode(position.named_at(ply)),
        bots=bots,
        bot=fields.get("bot") or "".join(bots[:1]),
        finding=finding,
        refusal=refusal,
    )


async def ask(request: PageRequest) -> Answer:
    """Have a bot evaluate a position: it costs what a hint does."""

    async def act(fields: Fields) -> Answer:
        position = await asked_position(request, fields)
        if position is None:
            raise ValueError(text("analysis.no_position"))
        person = await PlayingPerson.come(request)
        bot = fields.get("bot", "")
        finding = await _finding(person, bot, position)
        answer = await request.private(await _page(request, fields, position, finding=finding))
        person.remember(request, answer)
        return answer

    async def again(request: PageRequest, fields: Fields, refusal: Refusal) -> LazyPage:
        try:
            position = await asked_position(request, fields)
        except ValueError:
            position = None
        return await _page(request, fields, position, refusal=refusal)

    return await form_page(request, act, again)


async def _finding(person: PlayingPerson, bot: str, position: Position) -> Finding:
    """What a bot finds.

    Raises:
        ValueError: it has found nothing.
    """
    found = await person.evaluation(bot, position.board.moves, position.variant)
    if found.failure:
        raise ValueError(found.failure)
    cell = found.cell if found.HasField("cell") else None
    said = analysis_from_proto(found.analysis) if found.HasField("analysis") else Analysis()
    return Finding(bot, position, cell, said, await _chances(person.services, bot))


async def _chances(services: Services, bot: str) -> ChanceMap:
    """What the scores of a bot are worth, by its newest game that has ended."""
    asked = game_service_pb2.ListGamesRequest(
        bot=bot, state=game_pb2.GAME_STATE_FINISHED, page_size=1
    )
    for game in (await services.games.ListGames(asked)).games:
        found = await services.games.GetChances(
            game_service_pb2.GetChancesRequest(game_id=game.game_id)
        )
        return from_message(found.black if game.black == bot else found.white, ChanceMap)
    return ChanceMap()


ROUTES = (
    Page("/analysis", show, max_age=BOT_AGE),
    Form("/analysis", ask),
)
