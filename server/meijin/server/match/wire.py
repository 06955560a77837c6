"""The play stream on the wire: bots' messages are read and the server's are made here alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache

from meijin.game import (
    OPENING_RULES,
    Choose,
    Placement,
    Task,
    TimeControl,
    Variant,
    decode_moves,
    encode_moves,
)
from meijin.game import Analysis as SearchAnalysis
from meijin.server.errors import (
    InvalidRequestError,
    ProtocolError,
    TooManyActionsError,
    invalid_request,
)
from meijin.server.match.arbiter.arbiter import Arbiter
from meijin.server.match.live.commands import (
    Actions,
    Analysis,
    Command,
    Evaluation,
    Failure,
    Goodbye,
    Hello,
    KnownGame,
    OpeningPlay,
    Pong,
)
from meijin.server.match.live.evaluations import MAX_OUTSTANDING, Asked
from meijin.server.match.live.live_game import LiveGame, Participant
from meijin.server.match.live.session import SPARE_ACTIONS, Delivery, Notice, NoticeReason, Welcome
from meijin.store.bots import EngineRow
from meijin.store.schema import GameId
from meijin.v1 import play_service_pb2 as pb
from meijin.wire import (
    Capabilities,
    capabilities_from_proto,
    color_from_proto,
    color_to_proto,
    outcome_to_proto,
    time_control_to_proto,
    variant_to_proto,
)
from meijin.wire.contract import (
    MAX_GAMES_AT_ONCE,
    MAX_HARDWARE,
    MAX_NODES_PER_SECOND,
    MAX_PV,
    PROTOCOL_VERSION,
)
from meijin.wire.enums import enum_table
from meijin.wire.text import check_text, plain_text

MAX_LABEL = 40
MAX_DIGEST = 64
"""Characters."""

MAX_SETTINGS, MAX_SETTING, MAX_SETTINGS_BYTES = 64, 500, 4096
"""Entries of an engine's configuration, characters of each, and bytes of all."""

MAX_PV_BYTES = 2 * MAX_PV
"""Kept of an expected line: two for each ply."""

MAX_STONES = 1 + max(rule.most_stones for rule in OPENING_RULES.values())
"""Read of a placement: one more than any opening asks for, so that too many stay too many."""

MAX_EVALUATIONS = MAX_OUTSTANDING + SPARE_ACTIONS
"""Answers outside of games that a message may hold."""

MILLISECOND = timedelta(milliseconds=1)

MAX_ID_DIGITS = 19
"""Of a game's id, which has 64 bits."""

NOTICE_REASONS = enum_table(NoticeReason, pb.NoticeReason)


# -- what bots say ------------------------------------------------------------------


def hello_from_proto(request: pb.PlayRequest) -> Hello:
    """Read a stream's first message.

    Raises:
        ProtocolError: it is no hello, or one of another protocol version.
        InvalidRequestError: a field has a value that it can't have.
    """
    if request.WhichOneof("command") != "hello":
        raise ProtocolError("the first message must be a hello")
    hello = request.hello
    if hello.protocol_version != PROTOCOL_VERSION:
        raise ProtocolError(
            f"this server speaks protocol {PROTOCOL_VERSION}, you sent {hello.protocol_version}"
        )
    return Hello(
        bot_name=hello.bot_name,
        engine=replace(
            engine_from_proto(hello.engine),
            hardware=hardware_from_proto(hello.hardware),
            nodes_per_second=_speed_from_proto(hello.nodes_per_second),
        ),
        capabilities=requested_capabilities(hello.capabilities),
        resume_session_id=hello.resume_session_id,
        known_games=KnownGames(hello.known_games),
    )


class KnownGames(Mapping[GameId, KnownGame]):
    """What a hello tells of games, each read when it is looked up: mostly none of them ever is.

    To read all that fit into a message takes 6 ms, which any peer could ask for with every hello.
    """

    def __init__(self, told: Mapping[str, pb.KnownGame]) -> None:
        self._told = told

    def __getitem__(self, game_id: GameId) -> KnownGame:
        key = str(game_id)
        if key not in self._told:  # else the map would make an empty one
            raise KeyError(game_id)
        told = self._told[key]
        answered = told.answered_crc if told.HasField("answered_crc") else None
        return KnownGame(told.ply, told.moves_crc, answered)

    def __iter__(self) -> Iterator[GameId]:
        """The ids; what can be none is left out."""
        return (GameId(int(key)) for key in self._told if _is_id(key))

    def __len__(self) -> int:
        return len(self._told)


def _is_id(text: str) -> bool:
    """Whether a text is a game's id, as the server writes it."""
    is_number = text.isdecimal() and text.isascii() and text[0] != "0"
    return is_number and len(text) <= MAX_ID_DIGITS


def requested_capabilities(message: pb.Capabilities) -> Capabilities:
    """What a bot says that it can play.

    Raises:
        InvalidRequestError: the sizes contradict each other, or it asks for too many games.
    """
    if message.max_games > MAX_GAMES_AT_ONCE:
        raise InvalidRequestError(
            f"capabilities: max_games {message.max_games} is above {MAX_GAMES_AT_ONCE}"
        )
    with invalid_request("capabilities"):
        return capabilities_from_proto(message)


def engine_from_proto(message: pb.Engine) -> EngineRow:
    """The program behind a bot; without a digest its label tells versions apart.

    Raises:
        InvalidRequestError: a field is too long, or holds a control character.
    """
    for field, text, most in (
        ("engine.version", message.version, MAX_LABEL),
        ("engine.digest", message.digest, MAX_DIGEST),
    ):
        if len(text) > most:
            raise InvalidRequestError(f"{field} is longer than {most} characters")
        with invalid_request(field):
            check_text(text)
    return EngineRow(
        label=message.version,
        digest=message.digest or f"version:{message.version}",
        configuration=configuration_from_proto(message.configuration),
    )


def hardware_from_proto(text: str) -> str:
    """What a bot says that it runs on, without control characters.

    Raises:
        InvalidRequestError: it is too long.
    """
    if len(text) > MAX_HARDWARE:
        raise InvalidRequestError(f"hardware is longer than {MAX_HARDWARE} characters")
    return plain_text(text).strip()


def _speed_from_proto(nodes_per_second: int) -> int:
    if nodes_per_second > MAX_NODES_PER_SECOND:
        message = f"nodes_per_second {nodes_per_second} is above {MAX_NODES_PER_SECOND}"
        raise InvalidRequestError(message)
    return nodes_per_second


def configuration_from_proto(lines: Sequence[str]) -> tuple[str, ...]:
    """An engine's settings; each of its versions keeps them for ever.

    Raises:
        InvalidRequestError: there are too many, or one is too long.
    """
    if len(lines) > MAX_SETTINGS:
        message = f"engine.configuration has {len(lines)} entries; at most {MAX_SETTINGS}"
        raise InvalidRequestError(message)
    if any(len(line) > MAX_SETTING for line in lines):
        message = f"engine.configuration: an entry is longer than {MAX_SETTING} characters"
        raise InvalidRequestError(message)
    size = sum(len(line.encode()) for line in lines)
    if size > MAX_SETTINGS_BYTES:
        message = f"engine.configuration has {size} bytes; at most {MAX_SETTINGS_BYTES}"
        raise InvalidRequestError(message)
    return tuple(map(plain_text, lines))


def command_from_proto(request: pb.PlayRequest, max_actions: int) -> Command:
    """Read a message after the hello.

    Raises:
        InvalidRequestError: it is not expected here.
        TooManyActionsError: it holds too many actions; none of them is looked at.
    """
    command = request.WhichOneof("command")
    if command == "actions":
        actions = request.actions
        count = len(actions.plays) + len(actions.resigns) + len(actions.failures)
        count += len(actions.placements) + len(actions.choices)
        if count > max_actions:
            raise TooManyActionsError(f"{count} actions in a message, and games for {max_actions}")
        if len(actions.evaluations) > MAX_EVALUATIONS:
            message = (
                f"{len(actions.evaluations)} evaluations in a message; at most {MAX_EVALUATIONS}"
            )
            raise TooManyActionsError(message)
        return actions_from_proto(actions)
    if command == "pong":
        return Pong(request.pong.sequence)
    if command == "goodbye":
        return Goodbye()
    raise InvalidRequestError(f"{command or 'an empty message'} is not expected here")


def actions_from_proto(message: pb.Actions) -> Actions:
    """Read what a bot does in its games."""
    return Actions(
        plays=[
            (
                play.game,
                play.ply,
                play.cell,
                analysis_from_proto(play.analysis) if play.HasField("analysis") else None,
                play.thinking_us,
            )
            for play in message.plays
        ],
        resigns=[resign.game for resign in message.resigns],
        failures=[_failure_from_proto(failure) for failure in message.failures],
        openings=_openings_from_proto(message) if message.placements or message.choices else (),
        evaluations=[evaluation_from_proto(each) for each in message.evaluations]
        if message.evaluations
        else (),
    )


def evaluation_from_proto(message: pb.Evaluation) -> Evaluation:
    """Read what a bot found outside of games; its line is as long as one that is kept."""
    analysis = None
    if message.HasField("analysis"):
        said = message.analysis
        analysis = SearchAnalysis(said.score, said.depth, said.nodes, _line(said.pv))
    return Evaluation(
        message.evaluation,
        message.cell if message.HasField("cell") else None,
        analysis,
        message.failure,
        message.thinking_us,
    )


def _openings_from_proto(message: pb.Actions) -> list[OpeningPlay]:
    """Read actions of openings.

    Raises:
        InvalidRequestError: a side is no colour.
    """
    openings = [
        OpeningPlay(
            each.game, each.ply, Placement(tuple(each.cells[:MAX_STONES])), each.thinking_us
        )
        for each in message.placements
    ]
    with invalid_request("choices"):
        openings += [
            OpeningPlay(each.game, each.ply, Choose(color_from_proto(each.color)), each.thinking_us)
            for each in message.choices
        ]
    return openings


def _failure_from_proto(message: pb.Failure) -> Failure:
    is_suppliers = message.cause == pb.FAILURE_CAUSE_SUPPLIER
    return Failure(message.game, message.message, is_suppliers, message.traceback)


def analysis_from_proto(message: pb.Analysis) -> Analysis:
    """Read what a bot thought."""
    return {
        "score": message.score,
        "depth": message.depth,
        "nodes": message.nodes,
        "pv": list(_line(message.pv)),
    }


def _line(pv: bytes) -> Sequence[int]:
    """The beginning of an expected line."""
    return decode_moves(pv[: min(len(pv) // 2 * 2, MAX_PV_BYTES)])


# -- what the server says -----------------------------------------------------------


def delivery_to_proto(delivery: Delivery, player: Participant) -> list[pb.PlayResponse]:
    """Make the messages that carry what is sent to a player at once, in their order."""
    messages = []
    if delivery.welcome is not None:
        messages.append(pb.PlayResponse(welcome=welcome_to_proto(delivery.welcome)))
    if delivery.has_events:
        messages.append(_events_to_proto(delivery, player))
    if delivery.ping:
        messages.append(pb.PlayResponse(ping=pb.Ping(sequence=delivery.ping)))
    if delivery.is_draining:
        messages.append(pb.PlayResponse(draining=pb.Draining()))
    if delivery.paused is not None:
        duration_ms = int(delivery.paused.duration.total_seconds() * 1000)
        paused = pb.Paused(reason=delivery.paused.reason, duration_ms=duration_ms)
        messages.append(pb.PlayResponse(paused=paused))
    return messages


def welcome_to_proto(welcome: Welcome) -> pb.Welcome:
    """Make the answer to a hello."""
    return pb.Welcome(
        session_id=welcome.session_id,
        bot_name=welcome.bot_name,
        grace_ms=int(welcome.grace.total_seconds() * 1000),
        running_games=welcome.running_games,
        notice=welcome.notice,
    )


def _events_to_proto(delivery: Delivery, player: Participant) -> pb.PlayResponse:
    message = pb.PlayResponse()
    events = message.events
    if delivery.ended:  # for most messages are of turns alone, and three empty lists take 3 us
        events.ended.extend(game_ended_to_proto(game) for game in delivery.ended)
    if delivery.started:
        events.started.extend(game_started_to_proto(game, player) for game in delivery.started)
    if delivery.notices:
        events.notices.extend(notice_to_proto(notice) for notice in delivery.notices)
    if delivery.choices:
        events.choices.extend(side_chosen_to_proto(game, player) for game in delivery.choices)
    if delivery.evaluations:
        events.evaluations.extend(evaluation_to_proto(asked) for asked in delivery.evaluations)
    _add_turns(events, delivery.turns)
    return message


def evaluation_to_proto(asked: Asked) -> pb.EvaluationRequested:
    """Make a question outside of games."""
    search = asked.search
    return pb.EvaluationRequested(
        evaluation=asked.number,
        variant=variant_to_proto(search.board.variant),
        moves=encode_moves(search.board.moves),
        time_ms=search.time // MILLISECOND,
        nodes=search.nodes,
    )


def _add_turns(events: pb.Events, turns: Sequence[tuple[LiveGame, int]]) -> None:
    """Add turns field by field: faster than all by keyword, 0.45 to 0.6 microseconds each."""
    add = events.turns.add
    for game, own_ns in turns:
        arbiter = game.arbiter
        moves = arbiter.board.moves
        ply = len(moves)
        turn = add()
        turn.game = game.number
        turn.ply = ply
        turn.moves = encode_moves(moves)
        turn.own_clock_ms = own_ns // 1_000_000
        turn.opponent_clock_ms = arbiter.clock.left_ns(arbiter.turns[~ply & 1]) // 1_000_000
        charge = arbiter.credits[arbiter.turns[ply & 1]].charge
        if charge is not None:
            raw_ns, lag_ns, charged_ns = charge
            told = turn.charge
            told.raw_us = raw_ns // 1000
            told.lag_us = lag_ns // 1000
            told.charged_us = charged_ns // 1000
        if arbiter.task is not None:
            _set_task(turn, arbiter, arbiter.task)


def _set_task(turn: pb.TurnRequested, arbiter: Arbiter, task: Task) -> None:
    """Say what a turn of an opening asks for; its seat has both parities of the ply."""
    turn.opponent_clock_ms = arbiter.clock.left_ns(task.seat.other) // 1_000_000
    turn.task.stones = task.stones
    turn.task.may_choose = task.may_choose


@lru_cache(maxsize=64)
def _terms(variant: Variant, own: TimeControl, opponents: TimeControl) -> pb.GameStarted:
    """What is the same for all games of a tournament: making it anew costs 10 microseconds."""
    terms = pb.GameStarted(
        variant=variant_to_proto(variant), time_control=time_control_to_proto(own)
    )
    if opponents != own:
        terms.opponent_time_control.CopyFrom(time_control_to_proto(opponents))
    return terms


def game_started_to_proto(game: LiveGame, player: Participant) -> pb.GameStarted:
    """Make a game's start, or its going on, for one of its players."""
    seat = game.seat(player)
    own, opponents = game.time_control(seat), game.time_control(seat.other)
    terms = _terms(game.run.variant, own, opponents)
    message = pb.GameStarted(
        game=game.number,
        game_id=str(game.id),
        variant=terms.variant,
        time_control=terms.time_control,
        color=color_to_proto(game.color(seat)),
        opponent=game.player(seat.other).name,
        moves=encode_moves(game.committed_moves),
    )
    if opponents != own:
        message.opponent_time_control.CopyFrom(terms.opponent_time_control)
    return message


def side_chosen_to_proto(game: LiveGame, player: Participant) -> pb.SideChosen:
    """Make the choice of a side for one of its players."""
    return pb.SideChosen(game=game.number, color=color_to_proto(game.color(game.seat(player))))


def game_ended_to_proto(game: LiveGame) -> pb.GameEnded:
    """Make a game's end for its players."""
    outcome = game.arbiter.outcome
    assert outcome is not None
    return pb.GameEnded(
        game=game.number,
        outcome=outcome_to_proto(outcome),
        moves=encode_moves(game.arbiter.board.moves),
    )


def notice_to_proto(notice: Notice) -> pb.Notice:
    """Make a notice that an action had no effect."""
    return pb.Notice(
        game=notice.game,
        ply=notice.ply,
        reason=NOTICE_REASONS[notice.reason],
        detail=notice.detail,
        evaluation=notice.evaluation,
    )
