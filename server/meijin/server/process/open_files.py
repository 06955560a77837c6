"""Open files: how many the process may have, and how many of them connections may take."""

import resource

MOST = 65_536
"""More are not asked for."""

OWN_FILES = 100
"""Of the database's connections, the log, the processes around the server, the metrics."""


def allow_open_files() -> None:
    """Have as many as the system lets the process have: many a shell allows 1024 at first."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def max_connections() -> int:
    """How many connections leave the server the files that it needs itself.

    More are closed at once. Without a bound nobody would be connected any more, and the
    database could not be opened, as soon as one peer has as many sockets as there may be files.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = MOST if soft == resource.RLIM_INFINITY else soft
    return max(limit - OWN_FILES, limit // 2)
