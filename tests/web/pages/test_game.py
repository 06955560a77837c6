"""The page of a game."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from datetime import timedelta

import pytest
from tests.game.board.test_forbidden import CROSS, RENJU
from tests.web.browsing import ORIGIN, Answer
from tests.web.pages.game_messages import NOON, game_message
from tests.web.prepared import browse

from meijin.game import (
    GOMOKU,
    SWAP2,
    Analysis,
    Choose,
    Color,
    Decision,
    Ending,
    GameEngine,
    GameRecord,
    Outcome,
    Party,
    TimeControl,
    Variant,
)
from meijin.game.records.record import parse_position
from meijin.v1 import fault_service_pb2, game_pb2, game_service_pb2
from meijin.web.pages.games.view import GamePage
from meijin.wire.values import time_to_proto

MOVES = parse_position("h8i9h9i8h7i7h6i6h5", GOMOKU)
SECOND = timedelta(seconds=1)
RECORD = GameRecord(
    GOMOKU,
    "ann",
    "bob",
    moves=MOVES,
    times=(SECOND,) * 9,
    raw_times=(SECOND * 2,) * 9,
    analysis=(None,) * 4 + (Analysis(-30, 9, 4000, MOVES[4:6]),) + (None,) * 4,
    opening_plies=2,
    time_control=TimeControl.parse("60+0.5"),
    outcome=Outcome(Ending.FIVE, Color.BLACK),
)
GAME_CLOCK = TimeControl.parse("60")
CHANCES = game_service_pb2.GetChancesResponse(
    black=game_service_pb2.ChanceMap(scale=50), white=game_service_pb2.ChanceMap(scale=100)
)
HOSTILE = "</title><script>alert(1)</script>\N{RIGHT-TO-LEFT OVERRIDE}\x1b"


async def look(
    record: GameRecord | game_pb2.Game, path: str = "/games/17", *faults: fault_service_pb2.Fault
) -> Answer:
    game = game_message(record) if isinstance(record, GameRecord) else record
    browsing = browse(
        GetGame=game_service_pb2.GetGameResponse(game=game),
        GetChances=CHANCES,
        ListFaults=fault_service_pb2.ListFaultsResponse(faults=faults),
    )
    return await browsing.get(path)


async def page(
    record: GameRecord | game_pb2.Game, path: str = "/games/17", *faults: fault_service_pb2.Fault
) -> str:
    answer = await look(record, path, *faults)
    assert answer.status == 200, answer.text
    return answer.text


def stones(text: str) -> int:
    return len(re.findall(r'<circle class="(?:black|white)"', text))


async def test_the_whole_game_is_shown() -> None:
    """Its end, its moves with times and words, and where it belongs."""
    text = await page(RECORD)
    assert stones(text) == 9
    assert "Black wins by five" in text
    assert text.count('class="win"') == 1
    for part in ("60+0.5", "freestyle 15x15", 'href="/tournaments/5"', "freestyle-15x15-blitz"):
        assert part in text
    assert '<td class="line" data-field="line">h7 i7</td>' in text
    assert text.count("<tr data-ply=") == 10


async def test_an_unknown_score_is_no_nought() -> None:
    """Neither in the table nor for the chart."""
    said = (None,) * 4 + (Analysis(depth=9),) + (None,) * 4
    text = await page(replace(RECORD, analysis=said))
    assert '<td class="number" data-field="score">\u2013</td>' in text
    assert "data-score" not in text


async def test_what_played_is_shown() -> None:
    """The program of each side, and the game's place in its tournament."""
    engine = GameEngine("ab12", ("depth=4", "nodes=3000"), HOSTILE, 2, 2**28)
    record = replace(
        RECORD, white_engine=engine, white_version="2", pair=3, round=5, seed=7, release="0.1.0"
    )
    text = await page(record)
    row = text.partition('id="engines"')[2].partition(">bob</bdi>")[2].partition("</tr>")[0]
    cells = re.findall(r"<bdi[^>]*>(?:<span>)?(.*?)(?:</span>)?</bdi>", row)
    assert cells[:3] == ["2", "depth=4 nodes=3000", "ab12"]
    assert "&lt;script&gt;" in cells[3]
    assert re.findall(r'<td class="number">(.*?)</td>', row) == ["2", "256 MB"]
    assert "5, pair 3, seed 7" in text
    assert "by Meijin 0.1.0" in text
    assert "5, seed 7" in await page(replace(record, pair=0))


async def test_a_link_shows_its_ply_without_scripts() -> None:
    """With links to the plies beside it; beyond the end it is the end."""
    text = await page(RECORD, "/games/17?ply=3")
    assert stones(text) == 3
    assert "3. black h9" in text
    assert 'href="/games/17?ply=2"' in text
    assert 'href="/games/17?ply=4"' in text
    assert stones(await page(RECORD, "/games/17?ply=400")) == 9
    assert stones(await page(RECORD, "/games/17?ply=0")) == 0


def test_the_move_that_decided_is_known() -> None:
    """By the scores of both bots, each in its own unit."""
    scores = (None, None, 0, 0, 0, 0, 100, -200, 150)
    said = tuple(None if score is None else Analysis(score) for score in scores)
    view = GamePage.at(game_message(replace(RECORD, analysis=said)), None, CHANCES)
    found = view.turning_point
    assert found is not None
    assert (found.ply, found.color, found.before) == (6, Color.WHITE, 0.5)
    assert found.after == pytest.approx(0.119, abs=1e-3)


@pytest.mark.parametrize("ply", ["x", "-1", "485", "1.5", "9" * 30])
async def test_a_ply_that_none_has_is_refused(ply: str) -> None:
    answer = await look(RECORD, f"/games/17?ply={ply}")
    assert answer.status == 400
    assert "ply must be a whole number from 0 to 484" in answer.text


async def test_links_to_it_have_a_picture() -> None:
    """With the address that people use, at the ply of the link."""
    text = await page(RECORD, "/games/17?ply=3")
    picture = f"{ORIGIN}/games/17.png?ply=3&amp;shape=card"
    assert f'<meta property="og:image" content="{picture}">' in text
    assert '<meta property="og:title" content="ann 1\N{EN DASH}0 bob">' in text
    assert "summary_large_image" in text


async def test_forbidden_cells_are_crossed_out() -> None:
    """In renju, at the ply shown, and told to the script for every other."""
    text = await page(GameRecord(RENJU, "ann", "bob", moves=CROSS, time_control=GAME_CLOCK))
    assert text.count('class="forbidden"') == 1
    assert f'data-forbidden="{parse_position("h8", RENJU)[0]}"' in text


async def test_the_opening_is_told_in_words() -> None:
    """Who placed which stones, and who chose a side."""
    variant = replace(GOMOKU, opening_rule=SWAP2)
    decisions = (Decision(5, Choose(Color.WHITE)),)
    text = await page(replace(RECORD, variant=variant, decisions=decisions, opening_plies=0))
    assert "bob placed 3 stones." in text
    assert "ann placed 2 more" in text
    assert "bob chose white." in text


async def test_a_forfeit_comes_with_its_evidence() -> None:
    """The ledger's entry, and where the bot failed."""
    fault = fault_service_pb2.Fault(
        kind=fault_service_pb2.FAULT_KIND_CRASH,
        detail=f"ann failed {HOSTILE}",
        create_time=time_to_proto(NOON),
        bot="ann",
        traceback=f'File "bot.py" {HOSTILE}',
    )
    fault.evidence.update({"raw_us": 1_200_000, "said": HOSTILE})
    outcome = Outcome(Ending.CRASH, Color.WHITE, Party.BLACK, detail=HOSTILE)
    text = await page(replace(RECORD, outcome=outcome), "/games/17", fault)
    assert "black forfeits: crash" in text
    assert "<dt>raw</dt><dd><bdi>1.2 s</bdi></dd>" in text
    assert "<script>alert" not in text
    assert "File &#34;bot.py&#34;" in text


async def test_why_it_was_paired_and_what_it_counts_for() -> None:
    """A reason of the ladder's, a repeat, and a void game."""
    game = game_message(RECORD)
    game.pairing_reason = "the ladder learns 0.3 bits"
    game.repeat = True
    text = await page(game)
    assert "the ladder learns 0.3 bits" in text
    assert "an earlier game of the ladder was the same" in text
    void = replace(RECORD, outcome=Outcome(Ending.VOID, None, Party.SERVER, "stood still"))
    message = game_message(void)
    message.state = game_pb2.GAME_STATE_VOID
    text = await page(message)
    assert "counts for nothing" in text
    assert "Void: server" in text


GAMES = {
    "no moves": replace(RECORD, moves=(), times=(), raw_times=(), analysis=(), opening_plies=0),
    "running": replace(RECORD, outcome=None, moves=MOVES[:4], analysis=(), times=(), raw_times=()),
    "no times": replace(RECORD, times=(), raw_times=()),
    "a cap": replace(RECORD, time_control=TimeControl.parse("5/move")),
    "two clocks": replace(RECORD, white_time_control=TimeControl.parse("1")),
    "small": GameRecord(
        Variant.parse("3x3 line 3"), "a", "b", moves=(4, 0), time_control=GAME_CLOCK
    ),
}


@pytest.mark.parametrize("name", GAMES)
async def test_every_kind_of_game_has_a_page(name: str) -> None:
    record = GAMES[name]
    for path in ("/games/17", "/embed/games/17"):
        assert stones(await page(record, path)) == len(record.moves)


async def test_the_longest_game_has_a_page() -> None:
    """With 484 stones, names of 40 characters and all lines of 64 cells."""
    cells = random.Random(1).sample(range(484), 484)
    record = GameRecord(
        Variant.parse("standard 22x22 line 22"),
        "a" * 40,
        "b" * 40,
        moves=tuple(cells),
        analysis=tuple(Analysis(10**9, 99, 10**15, tuple(cells[:64])) for _ in cells),
        time_control=GAME_CLOCK,
    )
    answer = await look(record)
    assert (answer.status, stones(answer.text)) == (200, 484)
    assert len(answer.body) < 1_000_000


async def test_a_running_game_has_its_hook() -> None:
    """For what follows it, and a row to be filled; a finished one has neither."""
    running = await page(GAMES["running"])
    assert 'data-live="game:17"' in running
    assert "<template data-row>" in running
    assert "The game is running." in running
    assert "data-live" not in await page(RECORD)


async def test_others_may_frame_the_board() -> None:
    """The frame alone; it leads to the whole game, and the page has its address to copy."""
    answer = await look(RECORD, "/embed/games/17?ply=3")
    assert "frame-ancestors *" in answer.headers["content-security-policy"]
    assert "x-frame-options" not in answer.headers
    assert stones(answer.text) == 3
    assert 'href="/games/17?ply=3"' in answer.text
    answer = await look(RECORD, "/games/17?ply=3")
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert f"{ORIGIN}/embed/games/17?ply=3" in answer.text


async def test_processor_times_have_a_column_where_they_were_measured() -> None:
    """Of the moves of hosted programs; others' are left empty."""
    message = game_message(RECORD)
    assert ">Processor</th>" not in (await look(message)).text
    message.moves[4].cpu_time.FromTimedelta(SECOND / 4)
    page = (await look(message)).text
    assert ">Processor</th>" in page
    cells = re.findall(r'data-field="cpu">([^<]*)<', page)
    assert cells == ["", "", "", "", "", "0.250", "", "", "", ""]
