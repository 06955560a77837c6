"""Brains that speak the Gomocup protocol, one that behaves and many that don't.

    python -S -E brains.py MODE

A mode is the name of a class or of one of VARIATIONS. They start quickly and import little.
"""

# Lambdas do one thing after another.
# mypy: disable-error-code=func-returns-value

import itertools
import os
import signal
import sys
import time

OWN, OTHER = 1, 2
"""Whose a stone is."""


class Brain:
    """Does all that the protocol demands, and plays on the first empty cell."""

    name = "plain"
    end = "\n"

    def __init__(self) -> None:
        self.size = (15, 15)
        self.stones: dict[tuple[int, int], int] = {}
        self.is_over = False

    def say(self, text: str) -> None:
        sys.stdout.write(text + self.end)
        sys.stdout.flush()

    def run(self) -> None:
        while not self.is_over and (line := sys.stdin.readline()):
            word, _, rest = line.strip().partition(" ")
            handler = getattr(self, "on_" + word.lower(), None)
            if not word:
                continue
            if handler is None:
                self.say("UNKNOWN")
            else:
                handler(rest)

    def on_about(self, rest: str) -> None:
        self.say(f'name="{self.name}", version="1.5", author="the tests", country="-"')

    def on_start(self, rest: str) -> None:
        if 5 <= int(rest) <= 20:
            self.on_rectstart(f"{rest},{rest}")
        else:
            self.say("ERROR unsupported size")

    def on_rectstart(self, rest: str) -> None:
        width, _, height = rest.partition(",")
        self.size = (int(width), int(height))
        Brain.on_restart(self, rest)

    def on_restart(self, rest: str) -> None:
        self.stones = {}
        self.say("OK")

    def on_info(self, rest: str) -> None:
        pass

    def on_begin(self, rest: str) -> None:
        self.move()

    def on_turn(self, rest: str) -> None:
        self.add(rest)
        self.move()

    def on_board(self, rest: str) -> None:
        self.read_stones()
        self.move()

    def on_end(self, rest: str) -> None:
        self.is_over = True

    def read_stones(self) -> None:
        self.stones = {}
        while (line := sys.stdin.readline().strip()) != "DONE":
            self.add(line)

    def add(self, text: str) -> None:
        """Put down a stone ``x,y``, the opponent's unless its side follows."""
        x, y, side, *_ = (*map(int, text.split(",")), OTHER)
        self.stones[x, y] = side

    def choose(self) -> tuple[int, int]:
        width, height = self.size
        cells = ((x, y) for y in range(height) for x in range(width))
        return next(cell for cell in cells if cell not in self.stones)

    def move(self) -> None:
        x, y = self.choose()
        self.stones[x, y] = OWN
        self.say(f"{x},{y}")


class Gtp(Brain):
    """Speaks GTP instead; whoever asks for a move has the engine's colour."""

    letters = "ABCDEFGHJKLMNOPQRSTUVW"

    def run(self) -> None:
        colors: dict[tuple[int, int], str] = {}
        while not self.is_over and (line := sys.stdin.readline()):
            command, *words = line.upper().split() or [""]
            sign, text = "=", ""
            if command == "BOARDSIZE":
                sign, text = ("=", "") if 9 <= int(words[0]) <= 19 else ("?", "unacceptable size")
                self.size = (int(words[0]), int(words[0]))
            elif command == "CLEAR_BOARD":
                colors = {}
            elif command == "PLAY":
                column, row = self.letters.index(words[1][0]), int(words[1][1:])
                colors[column, self.size[1] - row] = words[0]
            elif command == "GENMOVE":
                self.stones = {
                    at: OWN if color == words[0] else OTHER for at, color in colors.items()
                }
                x, y = self.choose()
                colors[x, y] = words[0]
                text = f"{self.letters[x]}{self.size[1] - y}"
            elif command in {"NAME", "VERSION"}:
                text = {"NAME": self.name, "VERSION": "0.3"}[command]
            elif command == "QUIT":
                self.is_over = True
            elif command not in {"TIME_SETTINGS", "TIME_LEFT"}:
                sign, text = "?", "unknown command"
            self.say(f"{sign} {text}\n")


class Stubborn(Brain):
    """Ignores END, SIGTERM, SIGINT and the end of its input."""

    def run(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        super().run()
        while True:
            time.sleep(60)

    def on_end(self, rest: str) -> None:
        pass


class Deaf(Brain):
    """Throws away what comes within 30 ms after its move."""

    def run(self) -> None:
        self.input = b""
        while True:
            while b"\n" not in self.input:
                data = os.read(0, 65536)
                if not data:
                    return
                self.input += data
            line, _, self.input = self.input.partition(b"\n")
            word, _, rest = line.decode().strip().partition(" ")
            if word == "END":
                return
            getattr(self, "on_" + word.lower())(rest)

    def move(self) -> None:
        super().move()
        time.sleep(0.03)
        os.set_blocking(0, False)
        try:
            os.read(0, 65536)
        except BlockingIOError:
            pass
        os.set_blocking(0, True)
        self.input = b""


class CpuClock(Brain):
    """Thinks by a clock that counts processor time, up to its limit."""

    limit = 0.1

    def on_info(self, rest: str) -> None:
        key, _, value = rest.partition(" ")
        if key == "timeout_turn":
            self.limit = int(value) / 1000

    def move(self) -> None:
        start = time.process_time()
        while time.process_time() - start < self.limit:
            pass
        super().move()


class Forks(Brain):
    """Starts a child, one in a session of its own, and a grandchild whose parent has gone."""

    def on_start(self, rest: str) -> None:
        super().on_start(rest)
        if os.fork() == 0:
            time.sleep(600)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(600)
            os._exit(0)


class DiesThird(Brain):
    """Ends at its third move."""

    moves = 0

    def on_start(self, rest: str) -> None:
        self.moves = 0
        super().on_start(rest)

    def move(self) -> None:
        self.moves += 1
        if self.moves == 3:
            self.fail()
        super().move()

    def fail(self) -> None:
        sys.stderr.write("out of ideas\n")
        sys.exit(7)

    def on_restart(self, rest: str) -> None:
        self.say("UNKNOWN")


class LeavesDaemon(DiesThird):
    """Leaves a daemon behind that keeps its output open, and ends at its third move."""

    def on_start(self, rest: str) -> None:
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(600)
            os._exit(0)
        os.wait()
        super().on_start(rest)


class Swap2(Brain):
    """Knows swap2, and takes black."""

    def on_swap2board(self, rest: str) -> None:
        self.read_stones()
        self.open(len(self.stones))

    def open(self, stones: int) -> None:
        self.say("SWAP" if stones else "7,7 8,8 9,9")


class Swap2Once(Swap2):
    """Answers once, and then knows nothing of it."""

    has_answered = False

    def open(self, stones: int) -> None:
        if self.has_answered:
            self.say("UNKNOWN command")
        else:
            self.has_answered = True
            super().open(stones)


def hoards(self: Brain) -> None:
    try:
        hoard.append(bytearray(1 << 30))
    except MemoryError:
        sys.exit(ends(9, "no memory"))
    Brain.move(self)


def fills(self: Brain, rest: str) -> None:
    """Make tables of all the memory that it is told of."""
    key, _, value = rest.partition(" ")
    if key == "max_memory" and int(value):
        hoard[:] = [bytearray(int(value))]


hoard: list[bytearray] = []


def ends(status: int, words: str) -> int:
    """A status to exit with, after words on the standard error."""
    os.write(2, f"{words}\n".encode())
    return status


def counted(self: Brain) -> None:
    with open(os.environ["MEIJIN_TEST_STARTS"], "a") as file:
        file.write("started\n")
    Brain.run(self)


def early(self: Brain, rest: str) -> None:
    self.say("3,3")
    Brain.on_start(self, rest)
    self.say("4,4")


def half_heard(self: Brain, rest: str) -> None:
    """Complain of a part of what was told, and think about the rest."""
    if self.stones:
        self.say(f"ERROR Unknown command: {rest.split(maxsplit=1)[0].upper()}")


class Counts(Brain):
    """Says how many moves this process has made."""

    moves = 0

    def move(self) -> None:
        self.moves += 1
        self.say(f"MESSAGE depth {self.moves}")
        super().move()


class DiesOnce(Brain):
    """Ends in its first game, and loads for long when it is started again."""

    def run(self) -> None:
        self.has_died = os.path.exists(os.environ["MEIJIN_TEST_STARTS"])
        if self.has_died:
            time.sleep(2)
        super().run()

    def on_turn(self, rest: str) -> None:
        if len(self.stones) > 3 and not self.has_died:
            open(os.environ["MEIJIN_TEST_STARTS"], "w").close()
            sys.exit(3)
        super().on_turn(rest)


class WhoSwap2(Swap2):
    """Reads the stones of an opening with their sides alone; without them it sees none."""

    def read_stones(self) -> None:
        self.stones = {}
        while (line := sys.stdin.readline().strip()) != "DONE":
            if line.count(",") < 2:
                self.say("ERROR Color is not a valid value")
            else:
                self.add(line)


class Skilled(Brain):
    """Makes five in a row on its edge, after as many idle moves as its skill is away from 4."""

    infos = ("timeout_turn", "timeout_match", "time_left", "game_type", "rule", "folder")
    """It says so where it is told of something else."""
    skill = 4

    def on_info(self, rest: str) -> None:
        key, _, value = rest.partition(" ")
        if key == "skill":
            self.skill = int(value)
        elif key not in self.infos:
            self.say(f"MESSAGE Unknown Info Parameter: {key.upper()}")

    def choose(self) -> tuple[int, int]:
        edge, idle = (0, 2) if len(self.stones) % 2 == 0 else (14, 12)
        own = [row for (_, row), side in self.stones.items() if side == OWN]
        wasted = own.count(idle)
        return (2 * wasted, idle) if wasted < abs(self.skill - 4) else (own.count(edge), edge)


THREE = "7,7 8,8 9,9"
BLAH = ("MESSAGE " + "blah " * 20 + "\n") * 100
LONG = 600
"""Seconds, longer than any test."""

VARIATIONS: dict[type[Brain], dict[str, dict[str, object]]] = {
    Brain: {
        # What it writes, and how.
        "NoEnd": {"end": ""},
        "Flood": {
            "move": lambda self: (
                *(self.say(BLAH) for _ in range(200)),
                self.say("MESSAGE depth 9 ev 77"),
                Brain.move(self),
            )
        },
        "Screams": {
            "move": lambda self: (
                *(os.write(2, b"aaah! " * 8192) for _ in range(64)),
                Brain.move(self),
            )
        },
        "Twice": {"move": lambda self: (Brain.move(self), self.say("14,14"))},
        "Early": {
            "on_start": early,
            "move": lambda self: (Brain.move(self), self.say("OK\n5,5")),
        },
        "PicksOnInfo": {"on_info": lambda self, _: self.say("UNKNOWN command")},
        "Tells": {
            "move": lambda self: (
                self.say(f"MESSAGE depth {len(os.sched_getaffinity(0))}"),
                Brain.move(self),
            )
        },
        # What it knows.
        "MuteAbout": {"on_about": lambda *_: None},
        "NoRestart": {"on_restart": lambda self, _: self.say("UNKNOWN")},
        "SilentRestart": {"on_restart": lambda *_: None},
        "Suggests": {
            "say": lambda self, text: Brain.say(
                self, f"SUGGEST {text}" if text[0].isdigit() else text
            ),
        },
        "TakesSix": {
            "choose": lambda self: (7, 7) if (7, 7) not in self.stones else Brain.choose(self)
        },
        "NoTurn": {"on_turn": lambda self, _: self.say("ERROR no such command")},
        "HalfHeard": {"on_info": half_heard},
        "Counted": {"run": counted},
        "Yixin": {
            "name": "Yixin of the tests",
            "move": lambda _: None,
            "on_yxstop": lambda self, _: Brain.move(self),
        },
        # What is no move, or none that may be played.
        "EndlessFlood": {"move": lambda self: [self.say(BLAH) for _ in itertools.count()]},
        "EndlessLine": {
            "move": lambda _: [sys.stdout.write("x" * 65536) for _ in itertools.count()]
        },
        "HalfForEver": {"end": "", "move": lambda self: (self.say("7,"), time.sleep(LONG))},
        "SilentStart": {"on_start": lambda *_: None},
        "Mumbles": {
            "move": lambda self: (self.say(f"so far {len(self.stones)} stones"), Brain.move(self))
        },
        "Garbage": {"move": lambda self: self.say("banana split")},
        "NeverFlushes": {"move": lambda _: sys.stdout.write("7,7\n")},
        "Refuses": {"move": lambda self: self.say("ERROR I don't like it")},
        "OffBoard": {"choose": lambda self: (self.size[0], 3)},
        # When it comes, and when it ends.
        "Hangs": {"move": lambda _: time.sleep(LONG)},
        "HangsFirst": {"on_begin": lambda *_: time.sleep(LONG)},
        "HangsAt19": {
            "on_start": lambda self, rest: (
                time.sleep(LONG if rest == "19" else 0),
                Brain.on_start(self, rest),
            )
        },
        "HangsAtRestart": {"on_restart": lambda *_: time.sleep(LONG)},
        "StopsItself": {
            "move": lambda self: (os.kill(os.getpid(), signal.SIGSTOP), Brain.move(self))
        },
        "DiesAtStart": {"run": lambda _: sys.exit(ends(2, "no licence"))},
        "DiesAtRestart": {"on_restart": lambda *_: sys.exit(5)},
        "Nuls": {"end": "\0\n\0"},
        "DiesAfterMove": {"move": lambda self: (Brain.move(self), sys.exit(3))},
        "Says": {
            "move": lambda self: (self.say("MESSAGE the licence server is away"), sys.exit(1))
        },
        "Traceback": {
            "move": lambda _: (
                *(ends(1, f"line {number} \x1b[31m" + "x" * 300) for number in range(100)),
                sys.exit(ends(1, "ValueError: no move")),
            )
        },
        "ManyBytes": {"move": hoards},
        "FillsTables": {"on_info": fills},
        "ClosesOutput": {"move": lambda _: (os.close(1), time.sleep(LONG))},
        "ClosesInput": {"move": lambda self: (os.close(0), Brain.move(self), time.sleep(LONG))},
        "KillsParent": {
            "move": lambda _: (os.kill(os.getppid(), signal.SIGKILL), time.sleep(LONG))
        },
    },
    DiesThird: {"Crashes": {"fail": lambda _: os.abort()}},
    Swap2: {
        "AllSwaps": {
            "on_swapboard": Swap2.on_swap2board,
            "on_swap1stboard": lambda self, _: (
                self.read_stones(),
                self.say("SWAP" if self.stones else "7,7"),
            ),
        },
        "Swap2Stays": {"open": lambda self, stones: self.move() if stones else self.say(THREE)},
        "Swap2More": {
            "open": lambda self, stones: self.say({0: THREE, 3: "0,0 1,0"}.get(stones, "SWAP"))
        },
        "Swap2Occupied": {
            "open": lambda self, stones: self.say(
                "{},{}".format(*min(self.stones)) if stones else "7,7 8,8 7,7"
            )
        },
        "Swap2First": {"open": lambda self, stones: self.say("ERROR" if stones else THREE)},
        "Swap2Hangs": {"open": lambda *_: time.sleep(LONG)},
        "Swap2Dies": {"open": lambda *_: sys.exit(ends(4, "no book"))},
    },
}
"""Those that differ from others in little, by their names."""

MODES = {
    kind.__name__: kind
    for kind in list(vars().values())
    if isinstance(kind, type) and issubclass(kind, Brain)
}
for base, kinds in VARIATIONS.items():
    MODES |= {name: type(name, (base,), parts) for name, parts in kinds.items()}

if __name__ == "__main__":
    MODES[sys.argv[1]]().run()
