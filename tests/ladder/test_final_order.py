"""How sure a settled order is, in words."""

import re

from tests.ladder.test_pairing import state_of, table_of
from tests.store.league import BLACK, NOON, WHITE, League

from meijin.ladder.final_order import UNKNOWN, order_words
from meijin.ladder.refresh import refresh
from meijin.ladder.statistics.pairing.stopping_rule import StoppingRule


def words(league: League, *numbers: int, rule: StoppingRule) -> str:
    assert refresh(league.database, league.ladder_id, lambda: NOON)
    return order_words(table_of(league, *numbers, rule=rule), state_of(league), rule)


def test_words_name_the_chance_and_the_weakest_pair(league: League) -> None:
    """Bot 0 beats bot 1, which is hardly better than bot 2."""
    league.finish(*[(0, 1, BLACK), (1, 0, WHITE)] * 40)
    league.finish(*[(1, 2, BLACK), (2, 1, BLACK)] * 10, (1, 2, BLACK), (2, 1, WHITE))
    said = words(league, 0, 1, 2, rule=StoppingRule(0.95, 10.0))
    sure, zone, first, second = re.match(  # type: ignore[union-attr]
        r"the order is sure to ([\d.]+) % but for differences below (\d+) Elo; "
        r"least sure: \S+-bot-(\d) before \S+-bot-(\d) \(\d+ Elo ± \d+\)$",
        said,
    ).groups()
    assert 0 < float(sure) < 95
    assert (zone, first, second) == ("10", "1", "2")


def test_words_of_the_first(league: League) -> None:
    league.finish(*[(0, 1, BLACK), (1, 0, WHITE)] * 40)
    said = words(league, 0, 1, rule=StoppingRule(0.95, top=1))
    assert re.match(r"the first 1 are sure to 9[\d.]+ %; least sure: ", said)


def test_where_games_link_nobody_nothing_is_known(league: League) -> None:
    league.finish((0, 1, BLACK), (2, 3, BLACK))
    assert words(league, 0, 1, 2, 3, rule=StoppingRule(0.95)) == UNKNOWN
