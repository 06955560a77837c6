"""Matches at a server, looked at before they begin."""

from contextlib import nullcontext
from unittest.mock import Mock

import pytest

from meijin.game import TimeControl, Variant
from meijin.local import match_play
from meijin.local.errors import ArenaError
from meijin.v1 import bot_service_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.values import time_control_to_proto, variant_to_proto


@pytest.mark.parametrize("words", [None, "ada is not hosted"])
def test_processor_time_is_for_hosted_bots(
    words: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which say nothing of that themselves: the server knows it."""
    bot = bot_service_pb2.Bot(name="ada", hosted=words is None)
    monkeypatch.setattr(match_play, "list_bots", lambda *_, **__: [bot])
    wanted = pb.TournamentSettings(
        bots=["ada"],
        variant=variant_to_proto(Variant()),
        time_control=time_control_to_proto(TimeControl.parse("5/move cpu")),
    )
    with pytest.raises(ArenaError, match=words) if words else nullcontext():
        match_play.check_capabilities(Mock(), wanted)
