"""Which webhooks are told of what."""

from dataclasses import replace
from typing import Any

import pytest
from tests.server.webhooks.receivers import HOOK, NOON

from meijin.server.webhooks.dispatch import concerns
from meijin.store.schema import BotId, LadderId, OwnerId, TournamentId, WebhookEvent
from meijin.store.webhooks.events import StoredEvent

GAME = StoredEvent(
    WebhookEvent.GAME_ENDED,
    position=1,
    subject_id=1,
    time=NOON,
    bots=frozenset((BotId(1), BotId(2))),
    owners=frozenset((OwnerId(5),)),
    tournament_id=TournamentId(3),
    ladder_id=LadderId(4),
)
RUN = StoredEvent(WebhookEvent.LADDER_PUBLISHED, 1, 1, NOON, ladder_id=LadderId(4))
STALL = StoredEvent(WebhookEvent.FAULT_RECORDED, 1, 1, NOON)


@pytest.mark.parametrize(
    ("bounds", "event", "is_told"),
    [
        ({}, GAME, True),
        ({}, STALL, True),
        ({"events": ["tournament.ended"]}, GAME, False),
        ({"bot_id": BotId(2)}, GAME, True),
        ({"bot_id": BotId(3)}, GAME, False),
        ({"bot_id": BotId(2)}, STALL, False),
        ({"tournament_id": TournamentId(3)}, GAME, True),
        ({"tournament_id": TournamentId(4)}, GAME, False),
        ({"tournament_id": TournamentId(3)}, RUN, False),
        ({"ladder_id": LadderId(4)}, GAME, True),
        ({"ladder_id": LadderId(4)}, RUN, True),
        ({"ladder_id": LadderId(5)}, RUN, False),
        ({"ladder_id": LadderId(4)}, STALL, False),
        ({"owner_id": OwnerId(5)}, GAME, True),
        ({"owner_id": OwnerId(6)}, GAME, False),
        ({"owner_id": OwnerId(5)}, STALL, False),
        ({"owner_id": OwnerId(6)}, RUN, True),
        ({"owner_id": OwnerId(5), "bot_id": BotId(9)}, GAME, False),
    ],
)
def test_bounds(bounds: dict[str, Any], event: StoredEvent, *, is_told: bool) -> None:
    """All of them have to hold; an owner is told of its bots, and of ladders, which all may see."""
    assert concerns(replace(HOOK, **bounds), event) is is_told
