"""Tests a bot against an earlier version of itself, and appends the result to the job's summary.

Everything is told by the environment:

    BOT                  the bot's file in the repository, with :ClassName where it holds several
    BASE                 the commit that has the earlier version
    ELO                  ELO0,ELO1 of the test, in normalised Elo
    GAMES                the most games, an even number
    TIME, VARIANT        what is played
    GITHUB_STEP_SUMMARY  the file of the job's summary

The status is 1 when ELO0 is accepted, and 0 when ELO1 is or when nothing was decided.
"""

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

UNDECIDED = {3, 4}
"""Exit statuses of `meijin match --sprt`: the games are used up, or the openings are."""

VERDICTS = {
    "elo0": "ELO0 is accepted: the new version is not good enough",
    "elo1": "ELO1 is accepted: the new version is good enough",
    "open": "undecided: the games are used up",
    "nothing_new": "undecided: the openings are used up, give it more",
}


def earlier_version(bot: str, base: str, folder: Path) -> str | None:
    """The bot as it was at a commit, whose files are put into a folder; nothing if it wasn't."""
    commit = _git("rev-parse", "--verify", "--end-of-options", f"{base}^{{commit}}")
    archive = _git("archive", "--format=tar", commit.decode().strip())
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(folder, filter="data")
    path, colon, name = bot.partition(":")
    return f"{folder / path}{colon}{name}" if (folder / path).is_file() else None


def summary(match: dict[str, Any], elo: str) -> str:
    """What the job's summary says of a test."""
    sprt = match["tournament"]["sprt"]
    won, drawn, lost = sprt["wins"], sprt["draws"], sprt["losses"]
    pairs, units = sum(sprt["pairs"]), round(sprt["units"])
    worth = f"{pairs} on {sprt['openings']} openings" + (f" = {units} units" * (units < pairs))
    return (
        "### Against the earlier version\n\n"
        "| ELO0,ELO1 | won | drawn | lost | pairs | LLR | |\n|---|---|---|---|---|---|---|\n"
        f"| {elo} | {won} | {drawn} | {lost} | {worth} | {sprt['llr']:.2f} "
        f"| {VERDICTS[sprt['decision']]} |\n"
    )


def is_accepted(match: dict[str, Any]) -> bool:
    """Whether the new version may stay."""
    decision: str = match["tournament"]["sprt"]["decision"]
    return decision != "elo0"


def main() -> int:
    """Play the test."""
    bot, elo = os.environ["BOT"], os.environ["ELO"]
    with tempfile.TemporaryDirectory() as folder:
        old = earlier_version(bot, os.environ["BASE"], Path(folder))
        if old is None:
            _tell("### Against the earlier version\n\nThere was no such bot then.\n")
            return 0
        command = ["meijin", "match", bot, old, "--local", "--json", f"--sprt={elo}"]
        command += [f"--games={os.environ['GAMES']}", f"--time={os.environ['TIME']}"]
        command.append(f"--variant={os.environ['VARIANT']}")
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode not in {0, *UNDECIDED}:
        return done.returncode
    match = json.loads(done.stdout)
    _tell(summary(match, elo))
    return 0 if is_accepted(match) else 1


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], stdout=subprocess.PIPE, check=True).stdout  # noqa: S607 - the runner's git


def _tell(text: str) -> None:
    """Append to the job's summary, and print the same."""
    print(text)
    with Path(os.environ["GITHUB_STEP_SUMMARY"]).open("a") as file:
        file.write(text)


if __name__ == "__main__":
    sys.exit(main())
