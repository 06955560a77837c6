"""What a person asks to play, as the settings of the challenge that asks a bot for it."""

from datetime import timedelta

from meijin.game import FREE, TimeControl, encode_moves
from meijin.v1 import challenge_service_pb2 as pb
from meijin.web.forms import Fields, variant_of
from meijin.web.pages.play.position import Position
from meijin.web.play.person_game import PersonGame
from meijin.web.refusals import bad_request
from meijin.web.wording import text
from meijin.wire.values import opening_rule_to_proto, time_control_to_proto, variant_to_proto

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
"""A person's; where an opening rule is played, who begins has black so far."""


USUAL = {
    "bot": "",
    "rule": "freestyle",
    "size": "15",
    "line": "5",
    "opening_rule": "free",
    "color": "black",
    "bot_time": BOT_TIMES[1],
    "clock": CLOCKS[0],
}
"""What the form says where neither an address nor a person has filled it in."""

PRESETS = {
    "quick": {},
    "renju": {"rule": "renju"},
    "serious": {"opening_rule": "swap2", "bot_time": "10", "clock": "10m+10s"},
}
"""Terms that are to be had at once, by what is not usual in them."""


def asked_settings(fields: Fields, position: Position | None = None) -> pb.ChallengeSettings:
    """What a form asks for.

    Args:
        position: Where the game begins; ``None`` for the empty board of the form's variant.

    Raises:
        ValueError: it can't be played.
    """
    color, clock = (fields.get(name) or USUAL[name] for name in ("color", "clock"))
    if color not in COLORS:
        raise ValueError(text("play.no_color", color=color))
    if position is not None and position.board.is_over:
        raise ValueError(text("play.over_there"))
    return pb.ChallengeSettings(
        games=1,
        variant=variant_of(fields) if position is None else variant_to_proto(position.variant),
        openings=[encode_moves(position.board.moves)] if position and position.ply else (),
        time_control=time_control_to_proto(
            CASUAL_CLOCK if clock == CLOCKS[0] else TimeControl.parse(clock)
        ),
        opponent_time_control=time_control_to_proto(
            TimeControl.parse(f"{fields.get('bot_time') or USUAL['bot_time']}/move")
        ),
        colors=COLORS[color],
    )


def rematch_settings(game: PersonGame, settings: pb.ChallengeSettings) -> pb.ChallengeSettings:
    """The game that was played, with the colours changed."""
    return _changed(settings, game.color.other.name.lower())


def undone_settings(game: PersonGame, settings: pb.ChallengeSettings) -> pb.ChallengeSettings:
    """The game as it was before the person's last stone.

    Raises:
        Refusal: the person has none on the board.
    """
    if game.last_own_ply is None:
        raise bad_request(text("play.nothing_to_undo"))
    moves = game.moves[: game.last_own_ply]
    undone = _changed(settings, game.color.name.lower(), *([encode_moves(moves)] if moves else []))
    undone.variant.opening_rule = opening_rule_to_proto(FREE)
    return undone


def _changed(settings: pb.ChallengeSettings, color: str, *openings: bytes) -> pb.ChallengeSettings:
    changed = pb.ChallengeSettings()
    changed.CopyFrom(settings)
    changed.colors = COLORS[color]
    changed.openings[:] = openings
    return changed
