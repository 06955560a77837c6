from pathlib import Path

import pytest

from meijin.cli.access.tokens import secret_output
from meijin.cli.errors import CommandError
from meijin.v1 import token_service_pb2 as pb

SECRET = "mj_secret"


def made() -> pb.CreateTokenResponse:
    return pb.CreateTokenResponse(secret=SECRET)


@pytest.mark.parametrize("as_json", [False, True])
def test_a_saved_secret_is_its_owners_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], *, as_json: bool
) -> None:
    """And is printed nowhere."""
    file = tmp_path / "token"
    secret_output(made, lambda _: "token 1", file).show(as_json=as_json)
    assert (file.read_text(), file.stat().st_mode & 0o777) == (f"{SECRET}\n", 0o600)
    printed = "".join(capsys.readouterr())
    assert SECRET not in printed
    assert as_json or printed == f"token 1 is in {file}\n"


def test_a_new_secret_takes_no_other_files_place(tmp_path: Path) -> None:
    """It isn't even made; one that replaces another does."""
    file = tmp_path / "token"
    file.write_text("another\n")
    with pytest.raises(CommandError, match="exists; give another file"):
        secret_output(lambda: pytest.fail("made"), str, file)
    secret_output(made, lambda _: "token 1", file, is_new=False)
    assert file.read_text() == f"{SECRET}\n"
