"""What is tuned, as people write it."""

import pytest

from meijin.local.tuning.parameter import Parameter, parse_parameters, tried_values


def test_ends_say_whether_values_are_integers() -> None:
    """They start in the middle, or where the side has them."""
    depth, margin = parse_parameters(["depth=1..9", "option.margin=0.5..2.0"], {"depth": "3"})
    assert depth == Parameter("depth", 1, 9, 3, is_integer=True)
    assert margin == Parameter("margin", 0.5, 2, 1.25, is_integer=False)


@pytest.mark.parametrize(
    ("texts", "options", "words"),
    [
        (["depth"], {}, '"depth" is no range'),
        (["depth=1"], {}, "write it as NAME=1..9"),
        (["depth=a..9"], {}, '"a" in "depth=a..9" is no number'),
        (["depth=1..inf"], {}, '"inf"'),
        (["depth=9..1"], {}, "wrong way round"),
        (["depth=3..3"], {}, "one value"),
        (
            ["depth=1..9"],
            {"depth": "2.5"},
            r"starts at 2.5, and 1..9 is of integers; write 1.0..9.0",
        ),
        (["depth=1..9"], {"depth": "12"}, "depth starts at 12, which is not in 1..9"),
        (["depth=1..9", "depth=2..5"], {}, "depth has two ranges"),
    ],
)
def test_what_is_no_range_is_refused(texts: list[str], options: dict[str, str], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_parameters(texts, options)


def test_values_are_tried_before_a_game() -> None:
    """Of floats one between the ends too, which a side that wants integers refuses."""
    integers = parse_parameters(["depth=1..9"], {})
    assert tried_values(integers) == {"low": {"depth": "1"}, "high": {"depth": "9"}}
    floats = parse_parameters(["depth=1..9", "margin=1.0..2.0"], {})
    assert tried_values(floats)["between"] == {"depth": "4", "margin": "1.38197"}


def test_integers_have_the_value_as_their_mean() -> None:
    """They are rounded by chance, and never leave the range."""
    depth = Parameter("depth", 1, 9, 3, is_integer=True)
    texts = [depth.text(4.25, at / 100) for at in range(100)]
    assert (texts.count("4"), texts.count("5")) == (75, 25)
    assert (depth.text(9, 0.99), depth.text(1, 0.0), depth.text(4.6)) == ("9", "1", "5")
