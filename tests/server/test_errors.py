"""What the server refuses."""

from datetime import timedelta

import pytest

from meijin.server.errors import InvalidRequestError, invalid_request


def test_a_value_is_refused_with_its_field() -> None:
    """What is wrong with it is said by whoever reads it."""
    with (
        pytest.raises(InvalidRequestError, match=r"^seed: invalid literal"),
        invalid_request("seed"),
    ):
        int("x")


def test_a_value_that_is_too_large_to_be_read_is_refused() -> None:
    """Python has another error for it, which is the caller's mistake as well."""
    with pytest.raises(InvalidRequestError, match=r"^lifetime: "), invalid_request("lifetime"):
        timedelta(days=10**10)


def test_a_sentence_that_names_its_field_stands_alone() -> None:
    """Nothing is put before it."""
    with pytest.raises(InvalidRequestError, match=r"^no such day$"), invalid_request():
        raise ValueError("no such day")
