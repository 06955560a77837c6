"""The queue of admissions on a real Valkey server, and on none."""

from __future__ import annotations

from contextlib import closing

from dramatiq import Message
from structlog.testing import capture_logs

from meijin.ladder.admission_queue import ACTOR, QUEUE, REDIS_WORDS, open_admission_queue
from meijin.ladder.job_queue import NAMESPACE, connect
from meijin.server.process.valkey import EmbeddedValkey


def test_a_job_has_the_id_of_the_program(valkey: EmbeddedValkey) -> None:
    """What a worker's actor is called with, in a queue of its own."""
    with closing(open_admission_queue(valkey.url)) as queue, connect(valkey.url) as client:
        assert queue.enqueue(7)
        assert queue.length() == 1
        (kept,) = client.hvals(f"{NAMESPACE}:{QUEUE}.msgs")
    message = Message.decode(kept)
    assert (message.queue_name, message.actor_name, message.args) == (QUEUE, ACTOR, (7,))


def test_without_redis_nobody_is_failed(no_redis: str) -> None:
    """The job is lost, and the log says once that programs wait longer."""
    with closing(open_admission_queue(no_redis)) as queue, capture_logs() as logs:
        assert not queue.enqueue(7)
        assert not queue.enqueue(8)
        assert queue.length() is None
    assert [entry["event"] for entry in logs] == [REDIS_WORDS[0]]
