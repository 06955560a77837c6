"""Tables of bots."""

from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from meijin.cli.bot_lists import age_text, bot_table
from meijin.v1 import bot_service_pb2 as pb

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


def rows(*bots: pb.Bot) -> list[list[str]]:
    """The cells of the table's rows."""
    made = bot_table(bots, NOW)
    return [list(row) for row in zip(*(column.cells for column in made.columns), strict=True)]


def test_what_a_bot_has_come_to() -> None:
    """A rating where a run has one, and what it plays now while it is there."""
    ada = pb.Bot(
        name="ada",
        version="1.2",
        owner="grace",
        connected=True,
        running_games=3,
        capabilities=pb.Bot().capabilities.__class__(max_games=64),
        rating=1234.5,
        games=17,
        nodes_per_second=1_230_000,
    )
    gone = pb.Bot(name="bob", games=2)
    gone.last_seen_time.FromDatetime(NOW - timedelta(hours=30))
    never = pb.Bot(name="carl")
    assert rows(ada, gone, never) == [
        ["ada", "1.2", "grace", "connected", "", "1234", "17", "3", "64", "1.23M"],
        ["bob", "", "", "1 d ago", "", "", "2", "", "", ""],
        ["carl", "", "", "away", "", "", "0", "", "", ""],
    ]


def test_what_people_call_bots_has_a_column() -> None:
    """Where one of them is called otherwise."""
    ada, eve = pb.Bot(name="ada", display_name="名人"), pb.Bot(name="eve")
    assert [row[:3] for row in rows(ada, eve)] == [["ada", "名人", ""], ["eve", "", ""]]


@pytest.mark.parametrize(
    ("state", "words"), [("paused", "paused"), ("unexamined", "unexamined"), ("", "connected")]
)
def test_who_gets_no_games_is_seen(state: str, words: str) -> None:
    """Though it is there."""
    bot = pb.Bot(name="ada", connected=True)
    if state:
        setattr(bot, state, True)
    assert rows(bot)[0][3] == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.5, "now"), (59, "59 s ago"), (61, "1 min ago"), (7200, "2 h ago"), (900_000, "10 d ago")],
)
def test_ages(seconds: float, words: str) -> None:
    """In the largest unit that fits."""
    assert age_text(timedelta(seconds=seconds)) == words


@pytest.mark.parametrize("width", [80, 40])
def test_names_stay_whole_on_a_narrow_screen(width: int) -> None:
    """And so does when they were there."""
    console = Console(width=width)
    with console.capture() as captured:
        console.print(bot_table([pb.Bot(name="a-bot-of-some-length", hardware="x" * 90)], NOW))
    assert "a-bot-of-some-length" in captured.get()
    assert "away" in captured.get()
