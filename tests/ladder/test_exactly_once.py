"""Every job delivered twice, workers and Redis killed: the ladder is what its games give."""

import random
from collections.abc import Sequence
from contextlib import closing

import pytest
import redis
from dramatiq import Message
from sqlalchemy import Row, select
from tests.ladder.sites import NEVER, Site, assert_published, kill
from tests.processes import eventually
from tests.store.league import RESULTS, League

from meijin.game import Result
from meijin.ladder.job_queue import connect
from meijin.ladder.jobs import make_broker
from meijin.ladder.refresh_queue import ACTOR, QUEUE
from meijin.ladder.verification.verify import verify
from meijin.server.process.valkey import EmbeddedValkey
from meijin.store.ladders.runs import KEPT_RUNS
from meijin.store.schema import RatingRun, RatingRunId

JOBS = 200
WORKERS = 3
FIRST_RUN = 10
"""After this many jobs a run is waited for: one that comes up late would take all games at once."""


class Courier:
    """Delivers every job twice, and those that Redis was away for when it is back."""

    def __init__(self, url: str, ladder_id: int) -> None:
        self._client = connect(url)
        self._broker = make_broker(self._client, "ladder")
        self._ladder_id = ladder_id
        self._waiting: list[Message[None]] = []
        self.delivered = 0

    def close(self) -> None:
        self._client.close()

    def send(self) -> None:
        """Deliver one more job, unless there is no Redis."""
        message: Message[None] = Message(QUEUE, ACTOR, (self._ladder_id,), {}, {})
        self._waiting += [message, message]
        self.catch_up()

    def catch_up(self) -> None:
        try:
            while self._waiting:
                self._broker.enqueue(self._waiting[0])
                self._waiting.pop(0)
                self.delivered += 1
        except redis.RedisError:
            return


def play(league: League, rng: random.Random) -> None:
    """Finish a game or three, some of which repeat others, and now and then a forfeit."""
    for _ in range(rng.randint(1, 3)):
        black, white = rng.sample(range(len(league.bots)), 2)
        line = (rng.randrange(20),) if rng.random() < 0.3 else None
        game = (black, white, rng.choice(RESULTS))
        league.finish(game, line=line, forfeit=game[2] is not Result.DRAW and rng.random() < 0.1)


def runs_of(league: League) -> Sequence[Row[RatingRunId, int, int]]:
    query = select(RatingRun.id, RatingRun.revision, RatingRun.cutoff).order_by(RatingRun.id)
    return league.database.read(lambda connection: connection.execute(query).all())


def assert_runs_are_in_order(runs: Sequence[Row[RatingRunId, int, int]]) -> None:
    """No revision was published twice, and none after a later one."""
    revisions, cutoffs = [run.revision for run in runs], [run.cutoff for run in runs]
    assert revisions == sorted(set(revisions))
    assert cutoffs == sorted(cutoffs)
    assert 2 <= len(runs) <= KEPT_RUNS


@pytest.mark.parametrize("seed", [1, 2])
def test_every_game_counts_exactly_once(site: Site, valkey: EmbeddedValkey, seed: int) -> None:
    """Whoever dies at whatever moment, the last run and every one before it can be verified."""
    rng = random.Random(seed)
    league = site.league
    workers = [site.start_worker(sweep=NEVER) for _ in range(WORKERS)]
    first_kill, second_kill, redis_dies = rng.sample(range(20, JOBS - 40), 3)
    redis_returns = redis_dies + rng.randint(5, 35)
    eventually(lambda: site.log.count("worker started") == WORKERS)
    with closing(Courier(valkey.url, site.league.ladder_id)) as courier:
        for number in range(JOBS):
            play(league, rng)
            courier.send()
            if number == FIRST_RUN:
                eventually(lambda: site.count_runs() > 0)
            if number in {first_kill, second_kill}:
                workers.pop(rng.randrange(len(workers))).kill()
            if number == redis_dies:
                eventually(site.is_written)
                kill(valkey)
            if number == redis_returns:
                valkey.stop()
                valkey.start()
        courier.catch_up()
        assert courier.delivered == 2 * JOBS
    eventually(lambda: not site.has_messages())
    eventually(site.is_current)
    assert_published(league)
    assert league.snapshot().tally.repeats > 0
    runs = runs_of(league)
    assert_runs_are_in_order(runs)
    for run in runs:
        assert verify(league.database, league.ladder_id, run.id).differences == ()
    (survivor,) = workers
    assert survivor.stop() == 0
    assert "Traceback" not in site.log
