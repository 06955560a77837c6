"""A GTP engine that plays Gomoku on the first empty vertex, from below."""

import sys

LETTERS = "ABCDEFGHJKLMNOPQRSTUVW"


def main() -> None:
    """Answer until quit."""
    size = 19
    stones: set[str] = set()
    for line in sys.stdin:
        command, *words = line.split() or [""]
        sign, text = "=", ""
        if command == "boardsize":
            sign, text = ("=", "") if 9 <= int(words[0]) <= 19 else ("?", "unacceptable size")
            size = int(words[0])
        elif command == "clear_board":
            stones = set()
        elif command == "play":
            stones.add(words[1].upper())
        elif command == "genmove":
            names = (f"{letter}{row + 1}" for row in range(size) for letter in LETTERS[:size])
            text = next(name for name in names if name not in stones)
            stones.add(text)
        elif command in {"name", "version"}:
            text = {"name": "first", "version": "0.3"}[command]
        elif command not in {"time_settings", "time_left", "quit"}:
            sign, text = "?", "unknown command"
        print(f"{sign} {text}\n", flush=True)
        if command == "quit":
            return


main()
