"""Whom one may play: bots that take on anybody, with their strength in a word."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from meijin.game import TimeControl, Variant
from meijin.v1 import bot_service_pb2 as pb
from meijin.v1 import challenge_service_pb2
from meijin.web.gateway import Services
from meijin.web.wording import text
from meijin.wire.capabilities import capabilities_from_proto
from meijin.wire.values import time_control_from_proto, variant_from_proto

SHOWN = 24
"""Cards of a page; others are chosen by name."""

BANDS = {"master": 150, "strong": 350, "medium": 600, "easy": 850}
"""Words for bots that are at most so far, in Elo, below the strongest one that is there."""

LEAST_SPREAD = 400
"""In Elo, of the bots that are there: words for less would say nothing."""


@dataclass(frozen=True, slots=True)
class Opponent:
    """A bot as somebody may play it."""

    bot: pb.Bot
    strength: str
    """A word; empty where the ratings say nothing."""
    objection: str
    """Why it can't play what is asked for; empty where it can."""

    @property
    def is_free(self) -> bool:
        """Whether a game begins at once: half of its places, rounded up, are for people."""
        places = max(1, self.bot.capabilities.max_games)
        return self.bot.running_games < (places + 1) // 2


async def takers(services: Services) -> list[pb.Bot]:
    """The connected bots that take on anybody, the weakest first and those without a rating last."""
    asked = pb.ListBotsRequest(connected=True, page_size=1000)
    found = (await services.bots.ListBots(asked)).bots
    bots = [bot for bot in found if bot.challenges == pb.CHALLENGE_POLICY_ANYONE]
    return sorted(bots, key=lambda bot: (not bot.HasField("rating"), bot.rating, bot.name))


def opponents(
    bots: Sequence[pb.Bot], chosen: str, settings: challenge_service_pb2.ChallengeSettings
) -> list[Opponent]:
    """Those that get cards: who is chosen first, and those who can't play it last.

    Of more than have room there are some of every strength.
    """
    variant = variant_from_proto(settings.variant)
    control = time_control_from_proto(settings.opponent_time_control)
    strengths = strengths_of(bots)
    every = [
        Opponent(bot, strengths.get(bot.name, ""), objection_of(bot, variant, control))
        for bot in bots
    ]
    named = [each for each in every if each.bot.name == chosen]
    others = [each for each in every if each.bot.name != chosen]
    able = [each for each in others if not each.objection]
    step = max(1, -(-len(able) // (SHOWN - len(named))))
    able = able[::-1][::step][::-1]  # with the strongest
    return [*named, *able, *(each for each in others if each.objection)][:SHOWN]


def strengths_of(bots: Sequence[pb.Bot]) -> Mapping[str, str]:
    """A word for each bot by what it lacks to the strongest, on whatever ladder each is rated."""
    rated = {bot.name: bot.rating for bot in bots if bot.HasField("rating")}
    if not rated or (strongest := max(rated.values())) - min(rated.values()) < LEAST_SPREAD:
        return {}
    return {name: _word(strongest - rating) for name, rating in rated.items()}


def _word(lacking: float) -> str:
    name = next((name for name, most in BANDS.items() if lacking <= most), "beginner")
    return text(f"play.strength.{name}")


def objection_of(bot: pb.Bot, variant: Variant, control: TimeControl) -> str:
    """Why a bot can't play something; empty where it can, or where it does not say."""
    try:
        return capabilities_from_proto(bot.capabilities).objection(variant, control) or ""
    except ValueError:
        return ""
