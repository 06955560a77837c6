"""What the server refuses."""

from datetime import timedelta

import pytest

from meijin.server.errors import InvalidRequestError, MeijinError, invalid_request


def test_a_reason_has_one_status_code() -> None:
    """Who reads the one knows the other: no two errors have the same."""
    reasons = [each.reason for each in MeijinError.__subclasses__()]
    assert len(set(reasons)) == len(reasons)


def test_a_value_is_refused_with_its_field() -> None:
    """What is wrong is said by whoever reads it; Python has two errors for the caller's mistake."""
    with (
        pytest.raises(InvalidRequestError, match=r"^seed: invalid literal"),
        invalid_request("seed"),
    ):
        int("x")
    with pytest.raises(InvalidRequestError, match=r"^lifetime: "), invalid_request("lifetime"):
        timedelta(days=10**10)
    with pytest.raises(InvalidRequestError, match=r"^no such day$"), invalid_request():
        raise ValueError("no such day")
