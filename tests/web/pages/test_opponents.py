"""Whom one may play: their cards, and their strength in a word."""

from meijin.v1 import bot_service_pb2 as pb
from meijin.v1.play_service_pb2 import Capabilities
from meijin.web.pages.play.opponents import SHOWN, Opponent, opponents, strengths_of
from meijin.web.pages.play.terms import USUAL, asked_settings

TERMS = asked_settings(USUAL)


def bot(name: str, rating: float | None = None) -> pb.Bot:
    capabilities = Capabilities(max_games=3)
    return pb.Bot(name=name, rating=rating, capabilities=capabilities)


def test_words_are_by_the_strongest_that_is_there() -> None:
    """On whatever ladder; none where nobody is rated, or all are about as strong."""
    rated = {"a": 2095.0, "b": 1945.0, "c": 1745.0, "d": 1495.0, "e": 1245.0, "f": 1151.0}
    bots = [bot(name, rating) for name, rating in rated.items()]
    words = ["master", "master", "strong", "medium", "easy", "beginner"]
    assert strengths_of([*bots, bot("g")]) == dict(zip(rated, words, strict=True))
    assert strengths_of([bot("g", 1500.0), bot("h", 1899.0)]) == strengths_of([bot("i")]) == {}


def test_of_many_some_of_every_strength_have_cards() -> None:
    """The one that was chosen is the first of them, and the strongest is there."""
    bots = [bot(f"bot-{number}", number) for number in range(1000)]
    shown = [each.bot.name for each in opponents(bots, "bot-17", TERMS)]
    assert len(shown) == SHOWN
    assert shown[0] == "bot-17"
    assert shown[-1] == "bot-999"
    assert len(set(shown)) == SHOWN


def test_who_cannot_play_comes_last_and_says_why() -> None:
    away = bot("large")
    away.capabilities.min_board_size = away.capabilities.max_board_size = 20
    found = opponents([away, bot("usual")], "", TERMS)
    assert [each.bot.name for each in found] == ["usual", "large"]
    assert [each.objection for each in found] == ["", "needs boards of at least 20x20"]


def test_half_of_the_places_are_for_people() -> None:
    """Rounded up; one that says nothing of places has one."""
    busy = {running: bot("ada") for running in range(4)}
    for running, each in busy.items():
        each.running_games = running
    assert [Opponent(each, "", "").is_free for each in busy.values()] == [True, True, False, False]
    assert Opponent(pb.Bot(), "", "").is_free
