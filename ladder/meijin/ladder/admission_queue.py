"""The queue of admissions: programs that were uploaded, for the worker that examines them."""

from meijin.ladder.job_queue import JobQueue, OutageLog

ACTOR = "examine_program"
QUEUE = "admission"

REDIS_WORDS = ("no Redis; programs wait longer to be examined", "Redis is back for programs")
"""What the log says of an outage of Redis, and of its end."""


def open_admission_queue(url: str) -> JobQueue:
    """The queue whose jobs are of programs, by their ids."""
    return JobQueue(url, queue=QUEUE, actor=ACTOR, outage=OutageLog(*REDIS_WORDS))
