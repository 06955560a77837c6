"""Formats and their settings by the contract's names."""

import pytest

from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.formats import (
    format_field,
    format_from_proto,
    format_names,
    format_to_proto,
    options_from_proto,
    parse_option,
    set_options,
)


def test_names_come_from_the_enum() -> None:
    """In words of small letters, both ways."""
    assert format_names()[:2] == ["round-robin", "gauntlet"]
    for name in format_names():
        assert format_from_proto(format_to_proto(name)) == name
    assert format_from_proto(pb.TOURNAMENT_FORMAT_UNSPECIFIED) == "round-robin"
    assert format_field("round-robin") == "round_robin"


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="no tournament format 99"):
        format_from_proto(99)  # type: ignore[arg-type]  # a later one


def test_options_are_what_is_set() -> None:
    """Enum values as words; what is left out is not there, but for what may be 0 on purpose."""
    message = pb.TournamentSettings(sprt=pb.Sprt(elo1=10, scale=pb.SPRT_SCALE_LOGISTIC))
    assert options_from_proto(message, "sprt") == {"elo1": 10.0, "scale": "logistic"}
    none = pb.TournamentSettings(knockout=pb.KnockoutSettings(extra_pairs=0))
    assert options_from_proto(none, "knockout") == {"extra_pairs": 0}
    assert options_from_proto(pb.TournamentSettings(), "sprt") is None
    assert options_from_proto(pb.TournamentSettings(), "gauntlet") is None
    written = pb.TournamentSettings()
    set_options(written, "sprt", {"elo1": 10.0, "scale": "logistic"})
    assert written == message


def test_options_of_another_format_are_refused() -> None:
    message = pb.TournamentSettings(ladder=pb.LadderRun())
    with pytest.raises(ValueError, match="ladder: for the format LADDER and no other"):
        options_from_proto(message, "sprt")


@pytest.mark.parametrize(
    ("name", "field", "text", "value"),
    [
        ("knockout", "pairs", "3", 3),
        ("sprt", "elo1", "2.5", 2.5),
        ("swiss", "seeding", "given", "given"),
    ],
)
def test_options_are_read_from_text(name: str, field: str, text: str, value: object) -> None:
    """As the kind of the field says."""
    assert parse_option(name, field, text) == value


@pytest.mark.parametrize(
    ("name", "field", "text", "words"),
    [
        ("knockout", "legs", "3", 'has no setting "legs"; there are: seeding, pairs, extra_pairs'),
        ("gauntlet", "pairs", "3", "there are: none"),
        ("knockout", "pairs", "two", 'pairs is a number, not "two"'),
        ("swiss", "seeding", "lot", 'seeding is ladder or given, not "lot"'),
    ],
)
def test_what_is_no_option_is_refused(name: str, field: str, text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_option(name, field, text)
