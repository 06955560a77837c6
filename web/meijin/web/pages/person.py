"""The person who plays in a browser, as its cookie says."""

import secrets
from dataclasses import dataclass
from datetime import timedelta

from starlette.responses import Response

from meijin.web.gateway import Services, Visitor
from meijin.web.play.seat import Seat
from meijin.web.play.terms import Terms
from meijin.web.refusals import bad_request
from meijin.web.visit import Visit, see_other
from meijin.web.wording import text

COOKIE = "meijin_person"
"""Of a person's token: a person has nothing but games to lose."""

COOKIE_AGE = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Person:
    """A person, with a seat in the arena."""

    token: str
    seat: Seat
    services: Services
    """As the person may call them."""

    @classmethod
    async def sit_down(cls, visit: Visit, token: str) -> "Person":
        """The person that a token is of.

        Raises:
            Refusal: there is no seat, or the server does not let the person in.
        """
        visitor = Visitor(visit.visitor.host, token)
        seat = await visit.shell.seats.seat(visitor)
        return cls(token, seat, Services(visit.shell.gateway.channel(visitor)))

    @classmethod
    async def of(cls, visit: Visit) -> "Person":
        """The person in whose browser a page is asked for.

        Raises:
            Refusal: nobody plays there, or there is no seat.
        """
        token = visit.request.cookies.get(COOKIE, "")
        if not token:
            raise bad_request(text("play.nobody"))
        return await cls.sit_down(visit, token)

    async def challenge(self, visit: Visit, terms: Terms) -> Response:
        """Ask a bot for a game, and lead to it."""
        request = terms.request(secrets.token_hex(16))
        made = await self.services.challenges.CreateChallenge(request)
        response = see_other(f"/play/challenges/{made.challenge.challenge_id}")
        response.set_cookie(
            COOKIE,
            self.token,
            max_age=int(COOKIE_AGE.total_seconds()),
            httponly=True,
            samesite="lax",
            secure=visit.origin.startswith("https:"),
        )
        return response


def has_person(visit: Visit) -> bool:
    """Whether somebody plays in the browser."""
    return bool(visit.request.cookies.get(COOKIE))
