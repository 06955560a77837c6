"""What calls are refused, as one table over one server: the error names the field or the thing."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp
from tests.server_in_test import FIVE, SMALL, ServerInTest

from meijin.game import SWAP2, TimeControl, Variant, encode_moves
from meijin.v1 import game_pb2
from meijin.v1 import tournament_service_pb2 as pb
from meijin.wire.values import time_control_to_proto, variant_to_proto

SHARED = {"requests_per_second": 1000}
Code = grpc.StatusCode
INVALID, MISSING = Code.INVALID_ARGUMENT, Code.NOT_FOUND

GET_GAME, LIST_GAMES = "GameService/GetGame", "GameService/ListGames"
REGISTER, CREATE = "BotService/RegisterBot", "TournamentService/CreateTournament"
EXPLORE = "OpeningService/Explore"
SLOW, FAST = (time_control_to_proto(TimeControl.parse(text)) for text in ("600+1", "60"))
CLOCKS: dict[str, Any] = {"unrated": True, "time_controls": [SLOW, FAST]}
RULES = pb.Adjudication(
    resign=pb.ResignRule(score=100, moves=2), draw=pb.DrawRule(score=0, moves=3, from_ply=2)
)
LATER_RULE = game_pb2.Variant(rule=7)  # type: ignore[arg-type]  # of a later release
SETTINGS: dict[str, Any] = {
    "bots": ("ada", "bob"),
    "rounds": 2,
    "variant": variant_to_proto(SMALL),
    "time_control": time_control_to_proto(TimeControl.parse("600")),
}


def tournament(**changes: Any) -> dict[str, Any]:
    """The fields of a request for a tournament that is like others but for these settings."""
    return {"settings": pb.TournamentSettings(**(SETTINGS | changes))}


def explore(**changes: Any) -> dict[str, Any]:
    return {"variant": variant_to_proto(Variant(width=5, height=5)), **changes}


UNKNOWN_GAMES = [
    (f"GameService/{method}", {"game_id": game_id}, code, words)
    for method in ("GetGame", "ExportGame")
    for game_id, code, words in (
        ("99", MISSING, "99"),
        ("", INVALID, "game_id"),
        ("x", INVALID, "x"),
    )
]
VOID_GAME = "GameService/VoidGame"
VOIDS = [
    (VOID_GAME, {"game_id": "99", "reason": "x"}, MISSING, "no game 99"),
    (VOID_GAME, {"game_id": "x", "reason": "x"}, INVALID, "game_id"),
    (VOID_GAME, {"game_id": "99", "reason": " \0"}, INVALID, "reason: say in a sentence"),
]
LISTS_OF_GAMES = [
    (LIST_GAMES, {"bot": "nobody"}, MISSING, 'no bot "nobody"'),
    (LIST_GAMES, {"opponent": "nobody"}, MISSING, 'no bot "nobody"'),
    (LIST_GAMES, {"tournament_id": "x"}, INVALID, "tournament_id"),
    (LIST_GAMES, {"tournament_id": "x" * 100_000}, INVALID, "tournament_id"),
    (LIST_GAMES, {"page_token": "x"}, INVALID, "page_token"),
    (LIST_GAMES, {"page_size": 1001}, INVALID, "page_size"),
    (LIST_GAMES, {"state": 9}, INVALID, "state: there is no GameState 9"),
    (LIST_GAMES, {"ladder": "caro"}, MISSING, "ladder"),
    (LIST_GAMES, {"start_time": Timestamp(seconds=2**60)}, INVALID, "start_time"),
]
BOTS = [
    *(
        (REGISTER, fields, INVALID, "1 to 40 letters")
        for fields in ({"name": ""}, {"name": "a b"}, {"name": "a" * 41})
    ),
    (REGISTER, {"name": "a", "owner": "e\n"}, INVALID, "1 to 40 letters"),
    (REGISTER, {"name": "ada"}, Code.ALREADY_EXISTS, '"ada"'),
    ("BotService/GetBot", {"name": "nobody"}, MISSING, 'no bot "nobody"'),
    ("BotService/ListBotVersions", {"name": "nobody"}, MISSING, 'no bot "nobody"'),
    ("BotService/ListBots", {"search": "a" * 61}, INVALID, "61 characters; at most 60"),
]
SETTINGS_REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    ({"bots": []}, "bots: a tournament needs at least two"),
    ({"bots": ["ada"]}, "bots: a tournament needs at least two"),
    ({"bots": ["ada", "ada"]}, 'bots: "ada" is named twice'),
    ({"bots": ["ada"] * 1001}, "number of bots 1001 is above 1000"),
    ({"rounds": 1_000_001}, "rounds 1000001"),
    ({"format": 9}, "format 9"),
    ({"name": "n" * 101}, "name is longer than 100"),
    ({"name": "a\x1b[2J"}, "name: character 2 is a control character"),
    ({"seed": 2**53}, "seed"),
    ({"max_games": 2**31}, "max_games"),
    ({"variant": game_pb2.Variant(width=23)}, "variant: width 23"),
    ({"variant": LATER_RULE}, "variant: this release of meijin knows no rule 7"),
    ({"variant": game_pb2.Variant(height=2**32 - 1)}, "variant: "),
    ({"time_control": game_pb2.TimeControl()}, "time_control: a time control needs"),
    *(
        ({"time_control": control}, "time_control: ")
        for control in (
            game_pb2.TimeControl(increment=Duration(seconds=1)),
            game_pb2.TimeControl(initial=Duration(seconds=-1)),
            game_pb2.TimeControl(initial=Duration(seconds=2**62)),
            game_pb2.TimeControl(per_move=Duration(seconds=10**7)),
        )
    ),
    ({"max_faults": 1_000_001}, "max_faults 1000001 is above 1000000"),
    (
        {"time_control": time_control_to_proto(TimeControl.parse("60+86400"))},
        "time_control: ",
    ),
    ({"openings": [b""] * 1001}, "number of openings 1001 is above 1000"),
    ({"openings": [b"\0"]}, "openings: 1 bytes"),
    ({"openings": [encode_moves((1, 1))]}, "openings: "),
    ({"openings": [encode_moves((25,))]}, "openings: "),
    ({"openings": [encode_moves(FIVE)]}, "openings: "),
    (
        CLOCKS | {"unrated": False},
        "time_controls: games with different clocks are of no ladder's class",
    ),
    (
        CLOCKS | {"format": pb.TOURNAMENT_FORMAT_KNOCKOUT, "rounds": 0},
        "time_controls: ties of a knockout go on with a faster clock of both",
    ),
    (
        CLOCKS | {"time_controls": [SLOW, FAST, SLOW]},
        "time_controls: 3 for 2 bots; give one for each, in their order",
    ),
    (
        CLOCKS | {"time_controls": [game_pb2.TimeControl(), SLOW]},
        "time_controls: a time control needs an initial time",
    ),
    (
        {"adjudication": RULES},
        "adjudication: ladders count games that are played to their end",
    ),
    (
        {"adjudication": pb.Adjudication(), "unrated": True},
        "adjudication: an adjudication needs",
    ),
    (
        {"adjudication": pb.Adjudication(resign=pb.ResignRule(score=1)), "unrated": True},
        "adjudication: resign: resign moves 0 is out of range: 1 to 100",
    ),
)


def sprt(**test: Any) -> dict[str, Any]:
    return {"format": pb.TOURNAMENT_FORMAT_SPRT, "rounds": 0, "sprt": pb.Sprt(**test)}


def ladder(**rule: Any) -> dict[str, Any]:
    return {"format": pb.TOURNAMENT_FORMAT_LADDER, "rounds": 0, "ladder": pb.LadderRun(**rule)}


SWISS = {"format": pb.TOURNAMENT_FORMAT_SWISS, "rounds": 0}
KNOCKOUT = {"format": pb.TOURNAMENT_FORMAT_KNOCKOUT, "rounds": 0}
GAUNTLET = {"format": pb.TOURNAMENT_FORMAT_GAUNTLET}
NOBODY_S = variant_to_proto(replace(SMALL, opening_rule=SWAP2))
"""Of which no bot here plays the openings."""
FORMATS_REFUSED: tuple[tuple[dict[str, Any], str], ...] = (
    (sprt() | {"sprt": None}, "the format SPRT needs the test's hypotheses"),
    (sprt(elo1=10) | GAUNTLET, "sprt: for the format SPRT and no other"),
    (sprt(elo1=10) | {"bots": ["ada", "bob", "eve"]}, "a test is between two, not 3"),
    (sprt(elo1=10) | {"rounds": 2}, "a test has none"),
    (sprt(elo0=10, elo1=0), "elo0 10 is not below elo1 0"),
    (sprt(elo0=0, elo1=math.nan), "is not below elo1 nan"),
    (sprt(elo0=0, elo1=201), "within -200 and 200"),
    (sprt(elo1=10, alpha=0.5), "alpha 0.5 is not between 0 and 0.5"),
    (sprt(elo1=10, beta=-1), "beta -1 is not between 0 and 0.5"),
    (sprt(elo1=10, most_games=7), "most_games 7 is odd"),
    (sprt(elo1=10, most_games=1_000_002), "most_games 1000002 is above 1000000"),
    (sprt(elo1=10, scale=9), "sprt.scale: there is no 9"),
    (sprt(elo1=10, unit=9), "sprt.unit: there is no 9"),
    (ladder() | {"bots": ["ada"]}, "at least two bots"),
    (ladder() | {"unrated": True}, "unrated: a ladder's games are rated"),
    (ladder() | {"rounds": 2}, "rounds: a ladder has none"),
    (ladder(confidence=1.0), "confidence 1"),
    (ladder(most_games=1_000_001), "most_games"),
    (ladder(confidence=0.9, within=-1.0), "within -1"),
    (ladder(confidence=0.9, within=1001.0), "within 1001"),
    (ladder(confidence=0.9, within=math.nan), "within nan"),
    (ladder(confidence=0.9, top=2), "top 2 is not below 2 bots"),
    (ladder(within=10.0), "need ladder.confidence"),
    (ladder(top=1), "need ladder.confidence"),
    (ladder(final=True), "without an end"),
    (ladder() | GAUNTLET, "ladder:"),
    (
        ladder(most_games=4, final=True) | {"bots": [], "variant": NOBODY_S},
        "are connected; it takes two",
    ),
    (KNOCKOUT | {"rounds": 2}, "rounds: a knockout has as many as its bots need"),
    (KNOCKOUT | {"swiss": pb.SwissSettings()}, "swiss: for the format SWISS and no"),
    (SWISS | {"knockout": pb.KnockoutSettings()}, "knockout: for the format KNOCKOUT"),
    (
        KNOCKOUT | {"knockout": pb.KnockoutSettings(pairs=1_000_000)},
        "1000003 pairs of games a tie make up to 2000006 games; at most 1000000",
    ),
    (SWISS | {"rounds": 1_000_000}, "rounds 1000000 is above 1: then all have met"),
    (
        SWISS | {"swiss": pb.SwissSettings(seeding=9)},  # type: ignore[arg-type]  # a later one
        "swiss.seeding: there is no 9",
    ),
)
TOURNAMENTS = [
    ("TournamentService/GetTournament", {"tournament_id": "99"}, MISSING, "99"),
    ("TournamentService/GetTournament", {"tournament_id": "x"}, INVALID, "x"),
    *(
        ("TournamentService/UpdateTournament", {"tournament_id": key, "state": 3}, code, key)
        for key, code in (("99", MISSING), ("x", INVALID))
    ),
    (CREATE, {**tournament(), "request_id": "r" * 101}, INVALID, "request_id"),
    (CREATE, tournament(bots=["ada", "cleo"]), MISSING, 'no bot "cleo"'),
    *(
        (CREATE, tournament(**changes), INVALID, words)
        for changes, words in SETTINGS_REFUSED + FORMATS_REFUSED
    ),
]
OPENINGS = [
    (EXPLORE, explore(**changes), INVALID, words)
    for changes, words in (
        ({"moves": b"1"}, "moves: 1 bytes are no list of moves"),
        ({"moves": encode_moves([0, 0])}, "moves: "),
        ({"moves": encode_moves([25])}, "moves: "),
        ({"moves": encode_moves([*FIVE, 20])}, "moves: "),
        ({"moves": encode_moves(range(13))}, "moves: 13 moves; openings are counted to 12"),
        ({"moves": bytes(1 << 16)}, "moves: 32768 moves; openings are counted to 12"),
        ({"strength": 99}, "strength: there is no StrengthBand 99"),
        ({"variant": game_pb2.Variant(width=99)}, "variant: width 99 is out of range"),
    )
]
TOKENS = [
    ("TokenService/CreateToken", fields, INVALID, words)
    for fields, words in (
        ({"kind": "TOKEN_KIND_PERSON"}, "a person gets a token by coming in; none is made"),
        ({"kind": "TOKEN_KIND_BOT"}, "name the bot that the token is for"),
        ({"kind": "TOKEN_KIND_OWNER"}, "name the owner that the token is for"),
        ({"kind": "TOKEN_KIND_READ", "name": "eve"}, "a token of kind read is nobody's own"),
        ({"kind": 99}, "kind: there is no TokenKind 99"),
    )
]
INVITATIONS = [
    ("OwnerService/CreateInvitation", fields, INVALID, words)
    for fields, words in (
        ({"uses": 1001}, "uses 1001 is not between 1 and 1000"),
        ({"quota": 10_001}, "quota 10001 is not between 1 and 10000"),
        ({"lifetime": Duration()}, "lifetime is not between 0 and 365 days"),
        ({"lifetime": Duration(seconds=366 * 86_400)}, "lifetime is not between 0 and 365 days"),
    )
]
REASONS = {
    INVALID: "INVALID_REQUEST",
    MISSING: "NOT_FOUND",
    Code.ALREADY_EXISTS: "NAME_TAKEN",
}


@pytest.mark.parametrize(
    ("method", "fields", "code", "words"),
    [
        *(*UNKNOWN_GAMES, *VOIDS, *LISTS_OF_GAMES, *BOTS),
        *(*TOURNAMENTS, *OPENINGS, *TOKENS, *INVITATIONS),
    ],
)
async def test_what_can_not_be_is_refused(
    shared: ServerInTest, method: str, fields: dict[str, Any], code: Code, words: str
) -> None:
    """In words that say what is wrong, and nothing is made."""
    for name in {"ada", "bob", "eve"} - await shared.connected():
        await shared.bot(name)
    end = await shared.refusal(method, **fields)
    assert (end.code, end.reason) == (code, REASONS[code])
    assert words in end.details
    assert not (await shared.ask("TournamentService/ListTournaments")).tournaments
