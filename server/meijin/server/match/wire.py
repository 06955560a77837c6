"""The play stream on the wire: bots' messages are read and the server's are made here alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from meijin.game import (
    OPENING_RULES,
    Choose,
    Declare,
    Offer,
    OpeningAction,
    Placement,
    Task,
    TimeControl,
    Variant,
    decode_moves,
    encode_moves,
)
from meijin.game import Analysis as SearchAnalysis
from meijin.game.arbiter.arbiter import Arbiter
from meijin.game.rules.opening_rule import MOST_OFFERS
from meijin.server.errors import (
    InvalidRequestError,
    ProtocolError,
    TooManyActionsError,
    invalid_request,
)
from meijin.server.match.live.commands import (
    MAX_TIME_US,
    Actions,
    Analysis,
    Command,
    Evaluation,
    Failure,
    Goodbye,
    Hello,
    KnownGame,
    Measured,
    OpeningPlay,
    Pong,
)
from meijin.server.match.live.evaluations import MAX_OUTSTANDING, Asked
from meijin.server.match.live.live_game import LiveGame, Participant
from meijin.server.match.live.session import MILLISECOND, SPARE_ACTIONS, Delivery
from meijin.store.access.versions import EngineRow
from meijin.store.schema import GameId
from meijin.v1 import play_service_pb2 as pb
from meijin.wire.capabilities import capabilities_from_proto
from meijin.wire.contract import (
    MAX_GAMES_AT_ONCE,
    MAX_HARDWARE,
    MAX_MEMORY_BYTES,
    MAX_NODES_PER_SECOND,
    MAX_PV,
    MAX_THREADS,
    PROTOCOL_VERSION,
)
from meijin.wire.mapping import to_message
from meijin.wire.text import check_text, plain_text
from meijin.wire.values import (
    color_from_proto,
    color_to_proto,
    outcome_to_proto,
    time_control_to_proto,
    told_numbers,
    variant_to_proto,
)

MAX_LABEL = 40
MAX_DIGEST = 64
"""Characters."""

MAX_SETTINGS, MAX_SETTING, MAX_SETTINGS_BYTES = 64, 500, 4096
"""Entries of an engine's configuration, characters of each, and bytes of all."""

MAX_PV_BYTES = 2 * MAX_PV
"""Kept of an expected line: two for each ply."""

MAX_STONES = 1 + max(MOST_OFFERS, *(rule.most_stones for rule in OPENING_RULES.values()))
"""Read of a placement or an offer: more than any opening asks for, so that too many stay too many."""

MAX_EVALUATIONS = MAX_OUTSTANDING + SPARE_ACTIONS
"""Answers outside of games that a message may hold."""

MAX_ID_DIGITS = 19
"""Of a game's id, which has 64 bits."""


# -- what bots say ------------------------------------------------------------------


def hello_from_proto(request: pb.PlayRequest) -> Hello:
    """Read a stream's first message.

    Raises:
        ProtocolError: it is no hello, or one of another protocol version.
        InvalidRequestError: a field has a value that it can't have.
    """
    if request.WhichOneof("command") != "hello":
        raise ProtocolError("the first message must be a hello")
    hello, capabilities = request.hello, request.hello.capabilities
    if hello.protocol_version != PROTOCOL_VERSION:
        raise ProtocolError(
            f"this server speaks protocol {PROTOCOL_VERSION}, you sent {hello.protocol_version}"
        )
    _check_length("hardware", hello.hardware, MAX_HARDWARE)
    _check_most("nodes_per_second", hello.nodes_per_second, MAX_NODES_PER_SECOND)
    _check_most("capabilities: max_games", capabilities.max_games, MAX_GAMES_AT_ONCE)
    _check_given("threads", hello, MAX_THREADS)
    _check_given("memory_bytes", hello, MAX_MEMORY_BYTES)
    with invalid_request("capabilities"):
        requested = capabilities_from_proto(capabilities)
    return Hello(
        bot_name=hello.bot_name,
        engine=replace(
            engine_from_proto(hello.engine),
            hardware=plain_text(hello.hardware).strip(),
            nodes_per_second=hello.nodes_per_second,
            threads=hello.threads if hello.HasField("threads") else None,
            memory_bytes=hello.memory_bytes if hello.HasField("memory_bytes") else None,
        ),
        capabilities=requested,
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


def engine_from_proto(message: pb.Engine) -> EngineRow:
    """The program behind a bot; without a digest its label tells versions apart.

    Raises:
        InvalidRequestError: a field is too long, or holds a control character.
    """
    for field, text, most in (
        ("engine.version", message.version, MAX_LABEL),
        ("engine.digest", message.digest, MAX_DIGEST),
    ):
        _check_length(field, text, most)
        with invalid_request(field):
            check_text(text)
    return EngineRow(
        label=message.version,
        digest=message.digest or f"version:{message.version}",
        configuration=configuration_from_proto(message.configuration),
    )


def _check_length(field: str, text: str, most: int) -> None:
    if len(text) > most:
        raise InvalidRequestError(f"{field} is longer than {most} characters")


def _check_most(field: str, number: int, most: int) -> None:
    if number > most:
        raise InvalidRequestError(f"{field} {number} is above {most}")


def _check_given(field: Literal["threads", "memory_bytes"], hello: pb.Hello, most: int) -> None:
    if hello.HasField(field) and not 0 < getattr(hello, field) <= most:
        raise InvalidRequestError(
            f"{field} {getattr(hello, field)} is not in 1 to {most}; leave out what isn't known"
        )


def configuration_from_proto(lines: Sequence[str]) -> tuple[str, ...]:
    """An engine's settings; each of its versions keeps them.

    Raises:
        InvalidRequestError: there are too many, or one is too long.
    """
    size = sum(len(line.encode()) for line in lines)
    words = ""
    if len(lines) > MAX_SETTINGS:
        words = f" has {len(lines)} entries; at most {MAX_SETTINGS}"
    elif any(len(line) > MAX_SETTING for line in lines):
        words = f": an entry is longer than {MAX_SETTING} characters"
    elif size > MAX_SETTINGS_BYTES:
        words = f" has {size} bytes; at most {MAX_SETTINGS_BYTES}"
    if words:
        raise InvalidRequestError(f"engine.configuration{words}")
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
        count += len(actions.declarations) + len(actions.offers)
        count += len(actions.begun) + len(actions.measured)
        if count > max_actions:
            raise TooManyActionsError(f"{count} actions in a message, and games for {max_actions}")
        asked = len(actions.evaluations)
        if asked > MAX_EVALUATIONS:
            raise TooManyActionsError(
                f"{asked} evaluations in a message; at most {MAX_EVALUATIONS}"
            )
        return actions_from_proto(actions)
    if command == "pong":
        return Pong(request.pong.sequence)
    if command == "goodbye":
        return Goodbye()
    raise InvalidRequestError(f"{command or 'an empty message'} is not expected here")


def actions_from_proto(message: pb.Actions) -> Actions:
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
        openings=_openings_from_proto(message)
        if message.placements or message.choices or message.declarations or message.offers
        else (),
        evaluations=[evaluation_from_proto(each) for each in message.evaluations]
        if message.evaluations
        else (),
        ready=message.ready,
        begun=[(turn.game, turn.ply) for turn in message.begun] if message.begun else (),
        measured=[_measured_from_proto(each) for each in message.measured]
        if message.measured
        else (),
    )


def _measured_from_proto(message: pb.TurnMeasured) -> Measured:
    wall_us, cpu_us = (min(us, MAX_TIME_US) for us in (message.wall_us, message.cpu_us))
    return Measured(message.game, message.ply, wall_us, cpu_us, message.overstepped)


def evaluation_from_proto(message: pb.Evaluation) -> Evaluation:
    """Read what a bot found outside of games; its line is as long as one that is kept."""
    analysis = None
    if message.HasField("analysis"):
        said = message.analysis
        analysis = SearchAnalysis(*told_numbers(said), _line(said.pv))
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

    def play(
        each: pb.Placement | pb.Choose | pb.Declare | pb.Offer, action: OpeningAction
    ) -> OpeningPlay:
        return OpeningPlay(each.game, each.ply, action, each.thinking_us)

    openings = [play(each, Placement(_cells(each.cells))) for each in message.placements]
    with invalid_request("choices"):
        openings += [play(each, Choose(color_from_proto(each.color))) for each in message.choices]
    openings += [play(each, Declare(each.offers)) for each in message.declarations]
    openings += [play(each, Offer(_cells(each.cells))) for each in message.offers]
    return openings


def _cells(cells: Sequence[int]) -> tuple[int, ...]:
    return tuple(cells[:MAX_STONES])


def _failure_from_proto(message: pb.Failure) -> Failure:
    is_suppliers = message.cause == pb.FAILURE_CAUSE_SUPPLIER
    return Failure(message.game, message.message, is_suppliers, message.traceback)


def analysis_from_proto(message: pb.Analysis) -> Analysis:
    told: Analysis = {"pv": list(_line(message.pv))}
    if message.HasField("score"):
        told["score"] = message.score
    if message.HasField("depth"):
        told["depth"] = message.depth
    if message.HasField("nodes"):
        told["nodes"] = message.nodes
    return told


def _line(pv: bytes) -> Sequence[int]:
    """The beginning of an expected line."""
    return decode_moves(pv[: min(len(pv) // 2 * 2, MAX_PV_BYTES)])


# -- what the server says -----------------------------------------------------------


def delivery_to_proto(delivery: Delivery, player: Participant) -> list[pb.PlayResponse]:
    """Make the messages that carry what is sent to a player at once, in their order."""
    messages = []
    if delivery.welcome is not None:
        messages.append(pb.PlayResponse(welcome=to_message(delivery.welcome, pb.Welcome)))
    if delivery.has_events:
        messages.append(_events_to_proto(delivery, player))
    if delivery.ping:
        messages.append(pb.PlayResponse(ping=pb.Ping(sequence=delivery.ping)))
    if delivery.is_draining:
        messages.append(pb.PlayResponse(draining=pb.Draining()))
    if delivery.paused is not None:
        messages.append(pb.PlayResponse(paused=to_message(delivery.paused, pb.Paused)))
    return messages


def _events_to_proto(delivery: Delivery, player: Participant) -> pb.PlayResponse:
    message = pb.PlayResponse()
    events = message.events
    if delivery.ended:  # for most messages are of turns alone, and three empty lists take 3 us
        events.ended.extend(game_ended_to_proto(game) for game in delivery.ended)
    if delivery.started:
        events.started.extend(game_started_to_proto(game, player) for game in delivery.started)
    if delivery.notices:
        events.notices.extend(to_message(each, pb.Notice) for each in delivery.notices)
    if delivery.choices:
        events.choices.extend(side_chosen_to_proto(game, player) for game in delivery.choices)
    if delivery.evaluations:
        events.evaluations.extend(evaluation_to_proto(asked) for asked in delivery.evaluations)
    _add_turns(events, delivery.turns)
    return message


def evaluation_to_proto(asked: Asked) -> pb.EvaluationRequested:
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
    turn.opponent_clock_ms = arbiter.clock.left_ns(arbiter.seat_to_act.other) // 1_000_000
    turn.task.CopyFrom(to_message(task, pb.OpeningTask))


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
    terms = _terms(game.run.row.variant, own, opponents)
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
    return pb.SideChosen(game=game.number, color=color_to_proto(game.color(game.seat(player))))


def game_ended_to_proto(game: LiveGame) -> pb.GameEnded:
    return pb.GameEnded(
        game=game.number,
        outcome=outcome_to_proto(game.final_outcome),
        moves=encode_moves(game.arbiter.board.moves),
    )
