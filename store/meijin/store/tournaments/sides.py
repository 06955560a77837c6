"""Time controls by side, as a tournament keeps them where its bots' differ."""

from collections.abc import Mapping
from typing import Any

from meijin.game import TimeControl
from meijin.store.schema import BotId


def write_time_controls(controls: Mapping[BotId, TimeControl]) -> dict[str, Any] | None:
    """Time controls by bot as they are stored; ``None`` for none."""
    return {str(bot_id): str(control) for bot_id, control in controls.items()} or None


def read_time_controls(stored: Mapping[str, Any] | None) -> dict[BotId, TimeControl]:
    """The inverse of `write_time_controls`."""
    return {BotId(int(key)): TimeControl.parse(text) for key, text in (stored or {}).items()}
