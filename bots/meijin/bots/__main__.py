"""`python -m meijin.bots BOT [NAME=VALUE]...`: `meijin bot run`, without what a command line needs.

An arena that runs bots of others starts them so: in half the time.
"""

import sys
from collections.abc import Sequence

from meijin.bots.builtin.catalogue import load_bot
from meijin.bots.sdk.errors import BotLoadError
from meijin.bots.sdk.runner import run


def main(words: Sequence[str]) -> None:
    """Play as the bot that the first word names, with the options that the others give.

    Raises:
        SystemExit: there is no such bot, or the server refuses it.
    """
    spec, *options = words
    try:
        bot = load_bot(spec, options)
    except BotLoadError as error:
        raise SystemExit(f"meijin: {error}") from None
    run(bot)


if __name__ == "__main__":
    main(sys.argv[1:])
