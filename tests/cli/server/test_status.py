from datetime import UTC, datetime, timedelta

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from meijin.cli.server.status import EXPIRY_WARNING, ago, problems, rows, warnings
from meijin.v1.status_service_pb2 import GetStatusResponse

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)


def stamp(before: timedelta) -> Timestamp:
    message = Timestamp()
    message.FromDatetime(NOON - before)
    return message


@pytest.mark.parametrize(
    ("past", "text"),
    [
        (timedelta(0), "0 s"),
        (timedelta(seconds=-3), "0 s"),
        (timedelta(seconds=61), "1 min 1 s"),
        (timedelta(hours=2, minutes=5, seconds=9), "2 h 5 min"),
        (timedelta(days=40, hours=1), "40 d 1 h"),
    ],
)
def test_ago(past: timedelta, text: str) -> None:
    assert ago(stamp(past), NOON) == text


def test_a_server_that_is_fine() -> None:
    response = GetStatusResponse(
        version="1.2.3",
        start_time=stamp(timedelta(hours=3)),
        connected_bots=12,
        running_games=5,
        pending_games=7,
        running_tournaments=1,
        outdated_ladders=1,
        oldest_run_time=stamp(timedelta(seconds=8)),
        queued_jobs=0,
        backup_time=stamp(timedelta(hours=1)),
    )
    assert problems(response) == []
    assert dict(rows(response, NOON)) == {
        "serving": "yes",
        "up for": "3 h",
        "bots connected": "12",
        "tournaments": "1",
        "games": "5 running, 7 pending",
        "ladders": "1 being updated, the oldest run is 8 s old",
        "jobs queued": "0",
        "last backup": "1 h ago",
    }


@pytest.mark.parametrize(
    ("response", "words", "serving"),
    [
        (GetStatusResponse(queued_jobs=0, draining=True), "about to stop", "no"),
        (GetStatusResponse(queued_jobs=0, store_failing=True), "no commits", "no"),
        (GetStatusResponse(), "queue does not answer", "yes"),
    ],
)
def test_what_is_not_fine_is_a_sentence(
    response: GetStatusResponse, words: str, serving: str
) -> None:
    (sentence,) = problems(response)
    assert words in sentence
    shown = dict(rows(response, NOON))
    assert shown["serving"] == serving
    assert (shown["ladders"], shown["last backup"]) == ("can't be read", "none")


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (EXPIRY_WARNING, []),
        (EXPIRY_WARNING - timedelta(seconds=1), ["expires in 13 d 23 h; renew it"]),
        (timedelta(0), ["has expired; renew it"]),
    ],
)
def test_a_certificate_that_expires_soon_is_warned_of(left: timedelta, words: list[str]) -> None:
    response = GetStatusResponse(queued_jobs=0, certificate_expire_time=stamp(-left))
    assert warnings(response, NOON) == [f"the certificate {each}" for each in words]
    assert problems(response) == []
    response = GetStatusResponse(client_ca_expire_time=stamp(-left))
    assert warnings(response, NOON) == [f"the clients' authority {each}" for each in words]
