"""What a person asks to play, read from a form, and the challenge that asks a bot for it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta

from meijin.game import FREE, TimeControl, Variant, encode_moves, opening_rule_named, rule_named
from meijin.v1 import challenge_service_pb2 as pb
from meijin.web.play.seated_game import SeatedGame
from meijin.web.refusals import bad_request
from meijin.web.wording import text
from meijin.wire import time_control_from_proto, time_control_to_proto, variant_to_proto

CASUAL_CLOCK = TimeControl(per_move=timedelta(minutes=15))
"""A person's, where no clock is asked for."""

BOT_TIMES = ("0.5", "1", "2", "5", "10", "30")
"""Seconds a move that a bot may be given."""

CLOCKS = ("none", "5m+5s", "10m+10s", "30m+30s")
"""A person's clocks, of which the first is none to speak of."""

COLORS = {
    "black": pb.CHALLENGE_COLORS_BLACK,
    "white": pb.CHALLENGE_COLORS_WHITE,
}


@dataclass(frozen=True, slots=True)
class Terms:
    """What a person asks a bot to play."""

    opponent: str
    variant: Variant
    color: str
    """``black`` or ``white``; where an opening rule is played, who begins has black so far."""
    own_clock: TimeControl
    bot_clock: TimeControl
    moves: tuple[int, ...] = ()
    """The position to start from."""

    @classmethod
    def read(cls, form: Mapping[str, str]) -> "Terms":
        """What a form asks for.

        Raises:
            Refusal: it can't be played.
        """
        try:
            width = _number(form, "size", 15)
            variant = Variant(
                rule_named(form.get("rule") or "freestyle"),
                width,
                _number(form, "height", width),
                _number(form, "line", 5),
                opening_rule_named(form.get("opening") or FREE.name),
            )
            bot_clock = TimeControl.parse(f"{form.get('bot_time') or '1'}/move")
            clock = form.get("clock") or CLOCKS[0]
            own = CASUAL_CLOCK if clock == CLOCKS[0] else TimeControl.parse(clock)
        except ValueError as error:
            raise bad_request(str(error)) from None
        color = form.get("color", "black")
        if color not in COLORS:
            raise bad_request(text("play.no_color", color=color))
        return cls(form.get("opponent", ""), variant, color, own, bot_clock)

    @classmethod
    def again(cls, game: SeatedGame, settings: pb.ChallengeSettings, *, color: str) -> "Terms":
        """The game that was played, with a colour."""
        return cls(game.opponent, game.variant, color, *_clocks(settings))

    @classmethod
    def undone(cls, game: SeatedGame, settings: pb.ChallengeSettings) -> "Terms":
        """The game as it was before the person's last stone.

        Raises:
            Refusal: the person has none on the board.
        """
        ply = game.last_own_ply
        if ply is None:
            raise bad_request(text("play.nothing_to_undo"))
        variant = replace(game.variant, opening_rule=FREE)
        color = game.color.name.lower()
        moves = game.moves[:ply]
        return cls(game.opponent, variant, color, *_clocks(settings), moves)

    def request(self, request_id: str) -> pb.CreateChallengeRequest:
        """The challenge that asks for it."""
        settings = pb.ChallengeSettings(
            games=1,
            variant=variant_to_proto(self.variant),
            time_control=time_control_to_proto(self.own_clock),
            opponent_time_control=time_control_to_proto(self.bot_clock),
            colors=COLORS[self.color],
            openings=[encode_moves(self.moves)] if self.moves else [],
        )
        return pb.CreateChallengeRequest(
            opponent=self.opponent, settings=settings, request_id=request_id
        )


def _clocks(settings: pb.ChallengeSettings) -> tuple[TimeControl, TimeControl]:
    own = time_control_from_proto(settings.time_control)
    if not settings.HasField("opponent_time_control"):
        return own, own
    return own, time_control_from_proto(settings.opponent_time_control)


def _number(form: Mapping[str, str], name: str, default: int) -> int:
    value = form.get(name, "")
    if not value:
        return default
    if not (value.isascii() and value.isdecimal() and len(value) <= 3):  # noqa: PLR2004 - no board is so large
        raise ValueError(f"{name} {value!r} is no number")
    return int(value)
