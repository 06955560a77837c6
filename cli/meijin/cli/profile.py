"""The profile: which server the commands talk to, and how, as `meijin login` keeps it."""

import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from meijin.cli.errors import CommandError
from meijin.cli.files import make_folder, write_private
from meijin.local.connection import Server
from meijin.wire.channel import Security
from meijin.wire.contract import (
    CA_VARIABLE,
    CLIENT_CERTIFICATE_VARIABLE,
    CLIENT_KEY_VARIABLE,
    DEFAULT_SERVER,
    OPERATOR_TOKEN_VARIABLE,
    PLAINTEXT_VARIABLE,
    SERVER_VARIABLE,
)

PROFILE_VARIABLE = "MEIJIN_PROFILE"
"""Names the profile, where one is not enough."""


def _hidden(variable: str, *flags: str) -> Any:  # noqa: ANN401 - as typer has it
    return typer.Option(*flags, envvar=variable, hidden=True, show_default=False)


TokenOption = Annotated[str | None, _hidden(OPERATOR_TOKEN_VARIABLE, "--token")]


@dataclass(frozen=True, slots=True)
class Profile:
    """A server, and what is needed to talk to it; what is empty is not said."""

    server: Annotated[str, _hidden(SERVER_VARIABLE, "--server", "-s")] = ""
    ca: Annotated[Path | None, _hidden(CA_VARIABLE)] = None
    client_certificate: Annotated[Path | None, _hidden(CLIENT_CERTIFICATE_VARIABLE)] = None
    client_key: Annotated[Path | None, _hidden(CLIENT_KEY_VARIABLE)] = None
    plaintext: Annotated[bool, _hidden(PLAINTEXT_VARIABLE, "--plaintext")] = False
    token: TokenOption = None
    """An operator's or an owner's."""
    data: Annotated[Path | None, typer.Option(hidden=True)] = None
    """The folder of a server on this machine, which has left its operator's token there."""

    @property
    def endpoint(self) -> Server:
        security = Security(self.ca, self.client_certificate, self.client_key, self.plaintext)
        return Server(self.server or DEFAULT_SERVER, security, self.data)

    def over(self, kept: "Profile") -> "Profile":
        """This one, with what it does not say from the one that is kept.

        What is kept of one server is of no use for another, and a token least of all.
        """
        if self.server not in {"", kept.server}:
            return self
        said = {name: value for name, value in asdict(self).items() if value != _UNSAID[name]}
        return replace(kept, **said)


_UNSAID = asdict(Profile())


def profile_path() -> Path:
    """The file, in the user's folder of settings; one of several where a variable names it."""
    name = os.environ.get(PROFILE_VARIABLE) or "profile"
    return Path(typer.get_app_dir("meijin")) / f"{name}.json"


def read_profile() -> Profile:
    path = profile_path()
    try:
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        names = ("ca", "client_certificate", "client_key", "data")
        paths = {name: Path(kept[name]) for name in names if kept[name]}
        return Profile(**kept | paths)
    except FileNotFoundError:
        return Profile()
    except OSError as error:
        raise CommandError(f"can't read {path}: {error.strerror}") from None
    except (ValueError, TypeError, KeyError):
        raise CommandError(f"{path} is damaged; remove it, and log in anew") from None


def write_profile(profile: Profile) -> Path:
    """Keep a profile where its owner alone may read it, and tell where that is."""
    path = profile_path()
    make_folder(path.parent)
    plain = {
        name: str(value.resolve()) if isinstance(value, Path) else value
        for name, value in asdict(profile).items()
    }
    write_private(path, f"{json.dumps(plain)}\n", is_new=False)
    return path
