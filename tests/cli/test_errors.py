import pytest
from sqlalchemy.exc import ArgumentError, OperationalError, StatementError

from meijin.cli.errors import unusable_database


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OperationalError("SELECT", {}, Exception("it is locked\nby somebody")), "it is locked"),
        (OperationalError("SELECT", {}, Exception("\n it is gone")), "it is gone"),
        (OperationalError("SELECT", {}, TimeoutError()), "TimeoutError"),
        (StatementError("no value for x", "SELECT", {}, None), "no value for x"),
        (ArgumentError("oracle is none of those"), "oracle is none of those"),
    ],
)
def test_an_unusable_database_has_a_reason(error: Exception, reason: str) -> None:
    assert str(unusable_database(error)) == f"the database can't be used: {reason}"
