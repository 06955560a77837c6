"""A ladder whose games are real ones: five in a row, a resignation, a forfeit, a repeat, a void."""

from datetime import timedelta
from pathlib import Path

from tests.store.league import BLACK, NOON, WHITE, League

from meijin.game import Ending, Result
from meijin.ladder.refresh import refresh
from meijin.store import Database

DAYS = 4
GAMES = 14
"""A day."""
FORFEITED, RESIGNED, REPEATED = 3, 4, 12
"""Among the games of each day, from 0 on; the one after the last of these is the same."""
VOID = 9
SIDE = 15


def five(result: Result, place: int) -> tuple[int, ...]:
    """The moves of a game on 15x15 that ends with five in a row, others for each place to 99."""
    row, column = divmod(place, 10)
    black = [SIDE * row + column + each for each in range(5)]
    white = [cell + 2 * SIDE for cell in black]
    if result is WHITE:
        black[-1] += 4 * SIDE
    moves = [cell for both in zip(black, white, strict=True) for cell in both]
    return tuple(moves if result is WHITE else moves[:-1])


def play(league: League, day: int, number: int) -> None:
    """A game of a day."""
    same = min(number, REPEATED)
    black, white = same % 5, (same + 1 + same // 5) % 5
    result = WHITE if (same // 2 + day) % 3 == 1 else BLACK
    moves = five(result, 20 * day + same)
    if number in {FORFEITED, RESIGNED}:
        moves = moves[:-1]
    is_forfeit = number == FORFEITED
    game = (black, white, result)
    league.finish(game, line=moves, opening_plies=2, day=day, forfeit=is_forfeit)
    if number == RESIGNED:
        league.change_game(day * GAMES + number + 1, ending=Ending.RESIGN)


def play_days(league: League) -> None:
    """Play the days, each with a run at its end; after the last one an idle version comes."""
    for day in range(DAYS):
        if day == 1:
            league.renew(1, "2.0")
            league.set_anchors(0, 3)
        for number in range(GAMES):
            play(league, day, number)
        if day == DAYS - 1:
            league.void(VOID)
        publish(league, day)
    league.renew(4, "3.0")


def publish(league: League, day: int) -> None:
    time = NOON + timedelta(days=day, hours=6)
    refresh(league.database, league.ladder_id, lambda: time)


def made_ladder(path: Path) -> League:
    """The ladder, in a new file."""
    with Database(f"sqlite:///{path}") as database:
        database.migrate()
        league = League(database)
        play_days(league)
    return league
