"""The folder of a new bot: it plays by itself, and uploads as it is."""

from collections.abc import Mapping
from pathlib import Path

from meijin.bots import bot_source
from meijin.cli.errors import CommandError

_README = """\
# {name}

A bot for the Meijin arena. `bot.py` is the bot: `choose` returns where it plays.

    meijin bot doctor bot.py                     # what an arena would find
    meijin play bot.py random --games 10         # games here
    meijin bot upload . --as {name}{space}# the arena runs it
    meijin bot run bot.py                        # or it runs here, and connects

An arena that runs it has no network for it, 256 MiB of memory and a scratch folder; its log is
`meijin bot program log`. Libraries that it needs stand in `requirements.txt`, one a line; the
arena has those that its operator has chosen.
"""

_REQUIREMENTS = """\
# Libraries that the bot imports besides meijin itself, one a line, such as: numpy
"""

_MANIFEST = """\
# What the arena starts.
bot = "bot.py"
version = "1"
"""


def project_files(name: str) -> Mapping[str, str]:
    """The files of a bot's folder, by their names.

    Raises:
        ValueError: no bot can be called so.
    """
    source = bot_source(name)
    space = " " * max(1, 20 - len(name))
    return {
        "bot.py": source,
        "meijin.toml": _MANIFEST,
        "requirements.txt": _REQUIREMENTS,
        "README.md": _README.format(name=name, space=space),
    }


def write_project(name: str, folder: Path) -> None:
    """Make the folder of a bot; one that has files already is left alone.

    Raises:
        CommandError: it can't be made, or no bot can be called so.
    """
    try:
        files = project_files(name)
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise CommandError(f"{folder} is not empty; give another --dir")
        for each, text in files.items():
            (folder / each).write_text(text, encoding="utf-8")
    except ValueError as error:
        raise CommandError(str(error)) from None
    except FileExistsError:
        raise CommandError(f"{folder} exists, and is no folder; give another --dir") from None
    except OSError as error:
        raise CommandError(f"can't write {folder}: {error.strerror}") from None
