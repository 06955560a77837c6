"""The command `meijin`, with a journal that is never small enough: games are written anew all the time."""

from meijin.cli.main import main
from meijin.server.match.journal import compaction
from meijin.server.match.live import segments

compaction.BYTES_AT_REST = 0
compaction.BYTES_PER_PORTION = 1
segments.ENTRIES_PER_SEGMENT = 2

if __name__ == "__main__":
    main()
