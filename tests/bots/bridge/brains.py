"""Brains that speak the Gomocup protocol, one that behaves and many that don't.

    python -S -E brains.py MODE

A mode is the name of a class. They start quickly and import little.
"""

import os
import signal
import sys
import time


class Brain:
    """Does all that the protocol demands, and plays on the first empty cell."""

    end = "\n"

    def __init__(self) -> None:
        self.size = (15, 15)
        self.stones: set[tuple[int, int]] = set()
        self.is_over = False

    def say(self, text: str) -> None:
        """Write a line."""
        sys.stdout.write(text + self.end)
        sys.stdout.flush()

    def run(self) -> None:
        """Answer until END or the end of the input."""
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
        self.say('name="plain", version="1.5", author="the tests", country="-"')

    def on_start(self, rest: str) -> None:
        if not 5 <= int(rest) <= 20:
            self.say("ERROR unsupported size")
            return
        self.size = (int(rest), int(rest))
        self.stones = set()
        self.say("OK")

    def on_rectstart(self, rest: str) -> None:
        width, _, height = rest.partition(",")
        self.size = (int(width), int(height))
        self.stones = set()
        self.say("OK")

    def on_restart(self, rest: str) -> None:
        self.stones = set()
        self.say("OK")

    def on_info(self, rest: str) -> None:
        pass

    def on_begin(self, rest: str) -> None:
        self.move()

    def on_turn(self, rest: str) -> None:
        self.add(rest)
        self.move()

    def on_board(self, rest: str) -> None:
        self.stones = set()
        while (line := sys.stdin.readline().strip()) != "DONE":
            self.add(line)
        self.move()

    def on_takeback(self, rest: str) -> None:
        x, _, y = rest.partition(",")
        self.stones.discard((int(x), int(y)))
        self.say("OK")

    def on_end(self, rest: str) -> None:
        self.is_over = True

    def add(self, text: str) -> None:
        """Put a stone on the board."""
        x, y = text.split(",")[:2]
        self.stones.add((int(x), int(y)))

    def choose(self) -> tuple[int, int]:
        """The first empty cell."""
        width, height = self.size
        cells = ((x, y) for y in range(height) for x in range(width))
        return next(cell for cell in cells if cell not in self.stones)

    def move(self) -> None:
        """Choose and answer."""
        x, y = self.choose()
        self.stones.add((x, y))
        self.say(f"{x},{y}")


class MuteAbout(Brain):
    """Never answers ABOUT."""

    def on_about(self, rest: str) -> None:
        pass


class Cr(Brain):
    """Ends lines with CR."""

    end = "\r"


class Crlf(Brain):
    """Ends lines with CR and LF."""

    end = "\r\n"


class NoEnd(Brain):
    """Ends no line at all."""

    end = ""


class Spaces(Brain):
    """Writes spaces around the comma."""

    def move(self) -> None:
        x, y = self.choose()
        self.stones.add((x, y))
        self.say(f"  {x} , {y} ")


class Suggest(Brain):
    """Suggests moves."""

    def move(self) -> None:
        x, y = self.choose()
        self.say(f"SUGGEST {x},{y}")

    def on_play(self, rest: str) -> None:
        self.add(rest)
        self.say(rest)


class ShySuggest(Suggest):
    """Suggests moves, and knows no PLAY."""

    def on_play(self, rest: str) -> None:
        self.add(rest)
        self.say("UNKNOWN PLAY")


class Flood(Brain):
    """Writes megabytes of messages before each move."""

    def move(self) -> None:
        for _ in range(200):
            sys.stdout.write(("MESSAGE " + "blah " * 20 + "\n") * 100)
        sys.stdout.write("MESSAGE depth 9 ev 77\n")
        super().move()


class EndlessFlood(Brain):
    """Writes messages and no move."""

    def move(self) -> None:
        while True:
            sys.stdout.write(("MESSAGE " + "blah " * 20 + "\n") * 100)


class LongLine(Brain):
    """Writes a line of megabytes before each move."""

    def move(self) -> None:
        for _ in range(32):
            sys.stdout.write("MESSAGE " + "x" * 65536)
        self.say("")
        super().move()


class EndlessLine(Brain):
    """Writes a line that doesn't end."""

    def move(self) -> None:
        while True:
            sys.stdout.write("x" * 65536)


class Bytes(Brain):
    """Writes bytes that are no UTF-8, and NULs."""

    def move(self) -> None:
        sys.stdout.flush()
        sys.stdout.buffer.write(b"MESSAGE \xff\xfe\x80 \xc3(\n\0\n\0")
        sys.stdout.buffer.flush()
        super().move()


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


class Twice(Brain):
    """Answers with two moves."""

    def move(self) -> None:
        super().move()
        width, height = self.size
        self.say(f"{width - 1},{height - 1}")


class HalfLine(Brain):
    """Writes half a line, waits, and writes the rest."""

    def move(self) -> None:
        x, y = self.choose()
        self.stones.add((x, y))
        for part in (f"{x}", ",", f"{y}\n"):
            sys.stdout.write(part)
            sys.stdout.flush()
            time.sleep(0.05)


class HalfForEver(Brain):
    """Writes half a line and nothing more."""

    def move(self) -> None:
        sys.stdout.write("7,")
        sys.stdout.flush()
        time.sleep(600)


class Early(Brain):
    """Writes moves that nobody asked for."""

    def on_start(self, rest: str) -> None:
        self.say("3,3")
        super().on_start(rest)
        self.say("4,4")

    def move(self) -> None:
        super().move()
        self.say("OK")
        self.say("5,5")


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


class Hangs(Brain):
    """Never moves."""

    def move(self) -> None:
        time.sleep(600)


class Yixin(Brain):
    """Thinks until it is told to stop."""

    is_thinking = False

    def on_about(self, rest: str) -> None:
        self.say('name="Yixin of the tests", version="9"')

    def move(self) -> None:
        self.is_thinking = True

    def on_yxstop(self, rest: str) -> None:
        super().move()


class Banner(Brain):
    """Presents itself before anybody asks."""

    def run(self) -> None:
        self.say("=== the brain of the tests ===")
        self.say("")
        self.say("ready?")
        super().run()


class HangsFirst(Brain):
    """Never begins a game, and answers what others have begun."""

    def on_begin(self, rest: str) -> None:
        time.sleep(600)


class HangsAtRestart(Brain):
    """Never gets ready for a second game."""

    def on_restart(self, rest: str) -> None:
        time.sleep(600)


class DiesThird(Brain):
    """Ends at its third move."""

    moves = 0

    def move(self) -> None:
        self.moves += 1
        if self.moves == 3:
            sys.stderr.write("out of ideas\n")
            sys.exit(7)
        super().move()

    def on_restart(self, rest: str) -> None:
        self.say("UNKNOWN")


class Crashes(DiesThird):
    """Crashes at its third move."""

    def move(self) -> None:
        self.moves += 1
        if self.moves == 3:
            os.abort()
        Brain.move(self)


class Traceback(Brain):
    """Ends with much to say, in colour."""

    def move(self) -> None:
        for number in range(100):
            sys.stderr.write(f"line {number} \x1b[31m" + "x" * 300 + "\n")
        sys.stderr.write("ValueError: no move\n")
        sys.exit(1)


class DiesAfterMove(Brain):
    """Moves, and ends."""

    def move(self) -> None:
        super().move()
        sys.exit(3)


class DiesAtStart(Brain):
    """Ends at once."""

    def run(self) -> None:
        sys.stderr.write("no licence\n")
        sys.exit(2)


class Occupied(Brain):
    """Plays where a stone is."""

    def choose(self) -> tuple[int, int]:
        return min(self.stones, default=(0, 0))


class OffBoard(Brain):
    """Plays off the board."""

    def choose(self) -> tuple[int, int]:
        return (self.size[0], 3)


class Negative(Brain):
    """Plays off the board, on the other side."""

    def choose(self) -> tuple[int, int]:
        return (-1, 3)


class Refuses(Brain):
    """Answers every position with ERROR."""

    def move(self) -> None:
        self.say("ERROR I don't like it")


class Says(Brain):
    """Says why it ends."""

    def move(self) -> None:
        self.say("MESSAGE the licence server is away")
        sys.exit(1)


class NoTurn(Brain):
    """Understands positions by BOARD alone."""

    def on_turn(self, rest: str) -> None:
        self.say("ERROR no TURN here")


class PicksOnInfo(Brain):
    """Answers INFO with UNKNOWN."""

    def on_info(self, rest: str) -> None:
        self.say("UNKNOWN command")


class NoRestart(Brain):
    """Knows no RESTART."""

    def on_restart(self, rest: str) -> None:
        self.say("UNKNOWN")


class ClosesOutput(Brain):
    """Closes its output and lives on."""

    def move(self) -> None:
        os.close(1)
        time.sleep(600)


class Screams(Brain):
    """Writes megabytes to its standard error."""

    def move(self) -> None:
        for _ in range(64):
            os.write(2, b"aaah! " * 8192)
        super().move()


class ManyBytes(Brain):
    """Takes more memory than it has."""

    def move(self) -> None:
        try:
            self.hoard = bytearray(1 << 30)
        except MemoryError:
            sys.stderr.write("no memory\n")
            sys.exit(9)
        super().move()


class Tells(Brain):
    """Tells what it may use."""

    def move(self) -> None:
        cores = len(os.sched_getaffinity(0))
        self.say(f"MESSAGE depth {cores}")
        super().move()


class Counted(Brain):
    """Writes down that it was started."""

    def run(self) -> None:
        with open(os.environ["MEIJIN_TEST_STARTS"], "a") as file:
            file.write("started\n")
        super().run()


class CountedOnce(Counted):
    """Plays one game in a process."""

    def on_restart(self, rest: str) -> None:
        self.say("UNKNOWN")


class Floats(Brain):
    """Writes numbers that are no integers."""

    def move(self) -> None:
        self.say("7.0,7.0")


class WideDigits(Brain):
    """Writes digits that aren't ASCII."""

    def move(self) -> None:
        sys.stdout.buffer.write("\uff17,\uff17\n".encode())
        sys.stdout.buffer.flush()


class NeverFlushes(Brain):
    """Keeps what it says to itself until its end."""

    def move(self) -> None:
        x, y = self.choose()
        self.stones.add((x, y))
        sys.stdout.write(f"{x},{y}\n")


class StopsItself(Brain):
    """Suspends itself."""

    def move(self) -> None:
        os.kill(os.getpid(), signal.SIGSTOP)
        super().move()


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


class ClosesInput(Brain):
    """Closes its input after its first move, and lives on."""

    def move(self) -> None:
        super().move()
        os.close(0)
        time.sleep(600)


class KillsItself(Brain):
    """Kills itself at its turn."""

    def move(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class KillsParent(Brain):
    """Kills the process that started it."""

    def move(self) -> None:
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(600)


class Wide(Brain):
    """Writes UTF-16, with its byte order mark."""

    is_first = True

    def say(self, text: str) -> None:
        line = (text + "\r\n").encode("utf-16" if self.is_first else "utf-16-le")
        self.is_first = False
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


class Prompts(Brain):
    """Writes a prompt after each answer."""

    def say(self, text: str) -> None:
        super().say(text)
        sys.stdout.write("> ")
        sys.stdout.flush()


class LateOk(Brain):
    """Takes its time to set up a board."""

    def on_start(self, rest: str) -> None:
        time.sleep(0.3)
        super().on_start(rest)


class Zombies(Brain):
    """Starts children and never buries them."""

    def move(self) -> None:
        for _ in range(20):
            if os.fork() == 0:
                os._exit(0)
        super().move()


class Swap2(Brain):
    """Knows swap2, and takes black."""

    def on_swap2board(self, rest: str) -> None:
        self.stones = set()
        while (line := sys.stdin.readline().strip()) != "DONE":
            self.add(line)
        self.open(len(self.stones))

    def open(self, stones: int) -> None:
        """Answer for an opening of so many stones."""
        self.say("SWAP" if stones else "7,7 8,8 9,9")


class Swap2Stays(Swap2):
    """Stays with white."""

    def open(self, stones: int) -> None:
        if stones:
            self.move()
        else:
            super().open(stones)


class Swap2More(Swap2):
    """Places two stones more, and lets the opponent choose."""

    def open(self, stones: int) -> None:
        if stones == 3:
            self.say("0,0 1,0")
        else:
            super().open(stones)


class AllSwaps(Swap2):
    """Knows swap and swap1 too."""

    on_swapboard = Swap2.on_swap2board

    def on_swap1stboard(self, rest: str) -> None:
        stones = 0
        while sys.stdin.readline().strip() != "DONE":
            stones += 1
        self.say("SWAP" if stones else "7,7")


class Swap2Once(Swap2):
    """Answers once, and then knows nothing of it."""

    has_answered = False

    def open(self, stones: int) -> None:
        if self.has_answered:
            self.say("UNKNOWN command")
        else:
            self.has_answered = True
            super().open(stones)


class Swap2Few(Swap2):
    """Places too few stones."""

    def open(self, stones: int) -> None:
        self.say("7,7 8,8")


class Swap2Many(Swap2):
    """Places too many stones in answer to three."""

    def open(self, stones: int) -> None:
        self.say("7,7 8,8 9,9" if stones == 0 else "0,0 1,1 2,2")


class Swap2Occupied(Swap2):
    """Places two stones on one point, and moves where a stone is."""

    def open(self, stones: int) -> None:
        x, y = min(self.stones, default=(7, 7))
        self.say(f"{x},{y}" if stones else "7,7 8,8 7,7")


class Swap2Off(Swap2):
    """Places stones off the board."""

    def open(self, stones: int) -> None:
        self.say("-1,3 99,0" if stones else "7,7 8,8 40,9")


class Swap2Hangs(Swap2):
    """Never answers."""

    def open(self, stones: int) -> None:
        time.sleep(600)


class Swap2Dies(Swap2):
    """Ends in the opening."""

    def open(self, stones: int) -> None:
        sys.stderr.write("no book\n")
        sys.exit(4)


class Swap2Garbage(Swap2):
    """Says what is no answer."""

    def open(self, stones: int) -> None:
        self.say("I'd rather not")


MODES = {
    kind.__name__: kind
    for kind in list(vars().values())
    if isinstance(kind, type) and issubclass(kind, Brain)
}

if __name__ == "__main__":
    MODES[sys.argv[1]]().run()
