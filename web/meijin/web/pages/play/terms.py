"""What a person asks to play, as the settings of the challenge that asks a bot for it."""

from datetime import timedelta

from meijin.game import FREE, TimeControl, encode_moves
from meijin.v1 import challenge_service_pb2 as pb
from meijin.web.forms import Fields, variant_of
from meijin.web.play.person_game import PersonGame
from meijin.web.refusals import bad_request, refusing_values
from meijin.web.wording import text
from meijin.wire.values import opening_rule_to_proto, time_control_to_proto

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


def asked_settings(fields: Fields) -> pb.ChallengeSettings:
    """What a form asks for.

    Raises:
        Refusal: it can't be played.
    """
    color, clock = fields.get("color", "black"), fields.get("clock") or CLOCKS[0]
    with refusing_values():
        settings = pb.ChallengeSettings(
            games=1,
            variant=variant_of(fields),
            time_control=time_control_to_proto(
                CASUAL_CLOCK if clock == CLOCKS[0] else TimeControl.parse(clock)
            ),
            opponent_time_control=time_control_to_proto(
                TimeControl.parse(f"{fields.get('bot_time') or '1'}/move")
            ),
        )
    if color not in COLORS:
        raise bad_request(text("play.no_color", color=color))
    settings.colors = COLORS[color]
    return settings


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
