"""`meijin certificate`."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from meijin.cli.command import option
from meijin.cli.errors import CommandError, needed_parts
from meijin.cli.output import console

if TYPE_CHECKING:
    from meijin.server.certificates import Authority, KeyPair

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
"""What a server is called on its own machine."""
AUTHORITY, SERVER = "ca", "server"
"""What the files of the authority, and those of the server, are called."""
AUTHORITY_NAME = "Meijin authority for trials"
AUTHORITY_VALIDITY = timedelta(days=3650)
MAX_DAYS = 3650


def certificate(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Names and addresses that the server is reached by.", metavar="NAME"),
    ] = None,
    client: Annotated[
        str | None, "Make a client's certificate instead, in files of this name."
    ] = None,
    folder: Annotated[Path, "Where the files are written."] = Path("certificates"),
    days: Annotated[int, option("How long the certificate is valid.", 1, MAX_DAYS)] = 365,
) -> None:
    """Make a certificate for trials, by an authority of one's own.

    The authority is made with the first certificate and signs all later ones in the folder. No
    file is overwritten. A server that strangers use wants a certificate by a public authority.
    """
    if client is not None and names:
        raise CommandError("NAME is for a server's certificate, --client for a client's; give one")
    with needed_parts():
        from meijin.server.certificates import Authority  # noqa: PLC0415 - as in serve
        from meijin.server.errors import CertificateError  # noqa: PLC0415 - likewise
    wanted = list(dict.fromkeys([*(names or ()), *LOCAL_NAMES]))
    try:
        files = _make(Authority, folder, wanted, client, days)
    except FileExistsError as error:
        raise CommandError(f"{error.filename} exists; move it away, or give --folder") from None
    except OSError as error:
        raise CommandError(f"can't write {error.filename}: {error.strerror}") from None
    except (CertificateError, ValueError) as error:
        raise CommandError(str(error)) from None
    if client is None:
        _say(f"they are for {', '.join(wanted)}")
        _say(f"serve with them: meijin serve --certificate {files[0]} --key {files[1]}")
    else:
        _say(f"connect with them: --client-certificate {files[0]} --client-key {files[1]}")


def _make(
    made_by: "type[Authority]", folder: Path, names: list[str], client: str | None, days: int
) -> tuple[Path, Path]:
    now, validity = datetime.now(UTC), timedelta(days=days)
    kept = _files(folder, AUTHORITY)
    authority = made_by.read(*kept) if any(file.exists() for file in kept) else None
    signer = authority or made_by.make(AUTHORITY_NAME, now=now, validity=AUTHORITY_VALIDITY)
    if client is None:
        made = signer.server_pair(names, now=now, validity=validity)
    else:
        made = signer.client_pair(client, now=now, validity=validity)
    folder.mkdir(parents=True, exist_ok=True)
    if authority is None:
        _write(signer.pair, folder, AUTHORITY)
        _say(f"clients are to trust {kept[0]}; keep {kept[1]} secret")
    return _write(made, folder, client or SERVER)


def _files(folder: Path, name: str) -> tuple[Path, Path]:
    return folder / f"{name}.pem", folder / f"{name}-key.pem"


def _write(pair: "KeyPair", folder: Path, name: str) -> tuple[Path, Path]:
    files = _files(folder, name)
    pair.write(*files)
    _say(f"wrote {files[0]} and {files[1]}, valid until {pair.end:%Y-%m-%d}")
    return files


def _say(line: str) -> None:
    console.print(line, soft_wrap=True)
