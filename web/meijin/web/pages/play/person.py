"""The person who plays in a browser, as its cookie says."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus

from starlette.responses import Response

from meijin.game import Variant, encode_moves
from meijin.v1 import analysis_service_pb2 as analysis_pb
from meijin.v1 import challenge_service_pb2 as pb
from meijin.web.gateway import Services, Visitor
from meijin.web.play.stream import PersonStream
from meijin.web.refusals import Refusal, bad_request
from meijin.web.request import PageRequest, see_other
from meijin.web.wording import text
from meijin.wire.values import variant_to_proto

COOKIE = "meijin_person"
"""Of a person's token: a person has nothing but games to lose."""

CLASS_COOKIE = "meijin_class"
"""Of the class by whose link a person came."""

MAX_CLASS_KEY = 40

COOKIE_AGE = timedelta(days=30)

HINT_TIME = timedelta(seconds=2)
"""What the search for a hint may take."""


@dataclass(frozen=True, slots=True)
class PlayingPerson:
    """A person, with a stream to the arena."""

    token: str
    stream: PersonStream
    services: Services
    """As the person may call them."""

    @classmethod
    async def enter(cls, request: PageRequest, token: str) -> "PlayingPerson":
        """The person that a token is of.

        Raises:
            Refusal: there is no room, or the server does not let the person in.
        """
        visitor = Visitor(request.visitor.host, token)
        stream = await request.site.people.stream(visitor)
        return cls(token, stream, Services(request.site.gateway.channel(visitor)))

    @classmethod
    async def of(cls, request: PageRequest) -> "PlayingPerson":
        """The person in whose browser a page is asked for.

        Raises:
            Refusal: nobody plays there, or there is no room.
        """
        token = request.http.cookies.get(COOKIE, "")
        if not token:
            raise bad_request(text("play.nobody"))
        return await cls.enter(request, token)

    @classmethod
    async def come(
        cls, request: PageRequest, name: str = "", class_key: str = ""
    ) -> "PlayingPerson":
        """The person in whose browser a page is asked for, who comes now if nobody played there.

        Args:
            name: What one who comes wants to be called.
            class_key: Of the class by whose link one comes.

        Raises:
            AioRpcError: the server takes no people, or no more of them.
            Refusal: there is no room.
        """
        if request.http.cookies.get(COOKIE):
            try:
                return await cls.of(request)
            except Refusal as refusal:
                if refusal.status is not HTTPStatus.UNAUTHORIZED:  # forgotten: comes anew
                    raise
        asked = pb.EnterAsPersonRequest(display_name=name, class_key=class_key or class_of(request))
        anyone = Services(request.site.gateway.channel(Visitor(request.visitor.host)))
        entered = await anyone.challenges.EnterAsPerson(asked)
        request.site.names.expire()
        return await cls.enter(request, entered.token)

    def remember(self, request: PageRequest, response: Response) -> None:
        """Have the browser keep who plays there."""
        request.set_cookie(response, COOKIE, self.token, COOKIE_AGE)

    async def challenge(
        self,
        request: PageRequest,
        opponent: str,
        settings: pb.ChallengeSettings,
        in_place_of: str = "",
        class_key: str = "",
    ) -> Response:
        """Ask a bot for a game, and lead to it.

        Args:
            in_place_of: A challenge of the person's that is taken back for it.
            class_key: Of the class by whose link the person has come now.
        """
        asked = pb.CreateChallengeRequest(
            opponent=opponent,
            settings=settings,
            request_id=secrets.token_hex(16),
            in_place_of=in_place_of,
            class_key=class_key or class_of(request),
        )
        made = await self.services.challenges.CreateChallenge(asked)
        response = see_other(f"/play/challenges/{made.challenge.challenge_id}")
        self.remember(request, response)
        if class_key:
            request.set_cookie(response, CLASS_COOKIE, class_key, COOKIE_AGE)
        return response

    async def evaluation(
        self, bot: str, moves: Sequence[int], variant: Variant
    ) -> analysis_pb.EvaluateResponse:
        """What a bot finds in a position; of one that has no answer it has no cell.

        Raises:
            AioRpcError: the bot is not there, can't say, or has too much to do.
        """
        position = analysis_pb.EvaluatedPosition(
            variant=variant_to_proto(variant), moves=encode_moves(moves)
        )
        asked = analysis_pb.EvaluateRequest(
            bot=bot, positions=[position], time_ms=HINT_TIME // timedelta(milliseconds=1)
        )
        answer = analysis_pb.EvaluateResponse()
        async for each in self.services.analysis.Evaluate(asked):
            answer = each
        return answer


def class_of(request: PageRequest) -> str:
    """The key of the class by whose link a person came; empty for none."""
    return request.http.cookies.get(CLASS_COOKIE, "")[:MAX_CLASS_KEY]


def has_person(request: PageRequest) -> bool:
    """Whether somebody plays in the browser."""
    return bool(request.http.cookies.get(COOKIE))
