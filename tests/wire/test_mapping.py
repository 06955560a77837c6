from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import NewType

import pytest

from meijin.game import GOMOKU, Color, TimeControl, Variant
from meijin.v1 import bot_service_pb2, game_pb2, tournament_service_pb2, webhook_service_pb2
from meijin.wire.mapping import from_message, to_message

Id = NewType("Id", int)
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


class Event(Enum):
    GAME_ENDED = "game-ended"
    BOT_PAUSED = "bot-paused"


@dataclass(frozen=True)
class Webhook:
    id: Id
    url: str
    events: tuple[Event, ...]
    create_time: datetime
    failing_since: datetime | None = None
    tournament_id: Id | None = None
    owner: str = "nobody"


HOOK = Webhook(Id(7), "https://a", (Event.BOT_PAUSED,), NOON)
REST = {"format": None, "bot": None, "ladder": None, "disable_reason": None}


def test_record_is_written_by_its_fields_names() -> None:
    assert to_message(HOOK, webhook_service_pb2.Webhook, **REST) == webhook_service_pb2.Webhook(
        webhook_id="7",
        url="https://a",
        events=[webhook_service_pb2.WEBHOOK_EVENT_BOT_PAUSED],
        create_time=NOON,  # type: ignore[arg-type]
        owner="nobody",
    )


def test_record_comes_back_as_it_was() -> None:
    message = to_message(HOOK, webhook_service_pb2.Webhook, **REST)
    assert from_message(message, Webhook) == HOOK


def test_what_differs_replaces_the_records_own() -> None:
    message = to_message(HOOK, webhook_service_pb2.Webhook, **REST | {"bot": "x", "owner": None})
    assert (message.bot, message.owner) == ("x", "")


@pytest.mark.parametrize("differing", [{}, REST | {"no_such_field": 1}])
def test_fields_that_do_not_fit_are_refused(differing: dict[str, object]) -> None:
    """A column that a record or a message lacks is noticed at the first message."""
    with pytest.raises(TypeError, match=r"has no (format|field no_such_field)"):
        to_message(HOOK, webhook_service_pb2.Webhook, **differing)


@dataclass(frozen=True)
class Settings:
    name: str
    variant: Variant
    time_control: TimeControl
    is_unrated: bool
    bots: tuple[str, ...] = field(default=())
    time_controls: tuple[TimeControl, ...] = ()
    max_games: int = 3


def test_values_of_the_game_and_flags_go_both_ways() -> None:
    control = TimeControl(timedelta(minutes=1), timedelta(seconds=0.5))
    settings = Settings("cup", GOMOKU, control, is_unrated=True, bots=("a", "b"), max_games=5)
    others = set(tournament_service_pb2.TournamentSettings.DESCRIPTOR.fields_by_name) - {
        *("name", "variant", "time_control", "unrated", "bots", "time_controls", "max_games")
    }
    kind = tournament_service_pb2.TournamentSettings
    message = to_message(settings, kind, **dict.fromkeys(others))
    assert message.unrated
    assert message.variant.width == GOMOKU.width
    assert message.time_control.increment.ToTimedelta() == timedelta(seconds=0.5)
    assert from_message(message, Settings) == settings


def test_absent_field_has_the_default() -> None:
    message = tournament_service_pb2.TournamentSettings(name="cup")
    settings = from_message(message, Settings, time_control=TimeControl(timedelta(1)))
    assert (settings.max_games, settings.variant) == (3, GOMOKU)


@dataclass(frozen=True)
class Stone:
    winner: Color


def test_unknown_value_of_an_enum_is_refused() -> None:
    message = webhook_service_pb2.Webhook(webhook_id="7", create_time=NOON, events=[99])  # type: ignore[arg-type,list-item]
    with pytest.raises(ValueError, match="no WebhookEvent 99"):
        from_message(message, Webhook)


def test_colour_is_written_as_the_games() -> None:
    rest = dict.fromkeys(("ending", "at_fault", "detail"))
    message = to_message(Stone(Color.WHITE), game_pb2.Outcome, **rest)
    assert message.winner == game_pb2.COLOR_WHITE
    assert from_message(message, Stone) == Stone(Color.WHITE)


@dataclass(frozen=True)
class Opponent:
    bot: str
    scores: object


def test_records_are_written_within_records() -> None:
    scores = bot_service_pb2.BotOpponent().scores
    message = to_message(Opponent("x", scores), bot_service_pb2.BotOpponent)
    assert message.bot == "x"
