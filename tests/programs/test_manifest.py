"""The manifest of an archive: what it may say, and what is told of what it may not."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.programs.conftest import Refusal
from tests.programs.raw_zip import BOT, plain
from tests.programs.test_kinds import elf

from meijin.programs.archive import Contents
from meijin.programs.errors import ProgramRefusedError
from meijin.programs.manifest import Manifest, Protocol, read_manifest
from meijin.programs.requirements import read_requirements


@pytest.mark.parametrize(
    ("source", "manifest"),
    [
        ('bot = "bot.py"', Manifest(bot="bot.py")),
        ('bot = "./src/bot.py:Ada"\nversion = "2"', Manifest(bot="src/bot.py:Ada", version="2")),
        ('command = ["python3", "main.py"]', Manifest(command=("python3", "main.py"))),
        (
            'engine = "pbrain-ada"\nprotocol = "gtp"\nrules = ["renju"]\n[options]\na = 1\nb = true',
            Manifest(
                engine="pbrain-ada",
                protocol=Protocol.GTP,
                rules=("renju",),
                options=(("a", "1"), ("b", "true")),
            ),
        ),
    ],
)
def test_manifest_is_read(source: str, manifest: Manifest) -> None:
    assert read_manifest(source.encode()) == manifest


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("", "no bot, command or engine"),
        ('bto = "bot.py"', 'unknown key "bto"; did you mean "bot"'),
        ('"\\u001b" = 1', "unknown key"),
        ('bot = "a.py"\nengine = "b"', "it has bot and engine"),
        ('bot = "a.py"\nrules = ["renju"]', "rules is of an engine alone"),
        ('bot = "a.py"\nprotocol = "gtp"', "protocol is of an engine alone"),
        ('command = ["a"]\n[options]\na = 1', "options are of a bot or an engine"),
        ("command = []", "command is no list"),
        ('command = "python3 main.py"', "command is no list"),
        ("command = [1]", "command is no text"),
        ('command = ["a\\n"]', "command is no text"),
        ("bot = 1", "bot is no text"),
        ('bot = "bot.txt"', "is no Python file"),
        ('bot = "bot.py:"', "is no Python file"),
        ('bot = "bot.py:a-b"', "is no Python file"),
        ('bot = "../bot.py"', "is no file of the archive"),
        ('bot = "/bot.py"', "is no file of the archive"),
        ('engine = ""', "is no file of the archive"),
        ('engine = "."', "is no file of the archive"),
        ('engine = "a"\nprotocol = "gomokup"', 'unknown; did you mean "gomocup"'),
        ('engine = "a"\nrules = ["renjoo"]', 'unknown; did you mean "renju"'),
        ('engine = "a"\noptions = 1', "options is no table"),
        ('engine = "a"\n[options]\n"a b" = 1', "is no name of an option"),
        ('engine = "a"\n[options]\n"--token" = 1', "is no name of an option"),
        ('engine = "a"\n[options]\na = [1]', "no text or number"),
        ('engine = "a"\n[options]\na = "x\\ny"', "no text of at most"),
        ('engine = "a"\n[options]\na = 0x' + "f" * 9000, "no text or number"),
        ('engine = "a"\n[options]\na = ' + "9" * 9000, "it is no TOML"),
        ('engine = "a"\nversion = "' + "v" * 41 + '"', "version is no text"),
        ("a = " + "[" * 9000, "it is no TOML"),
        ("bot =", "it is no TOML"),
    ],
)
def test_manifest_that_can_not_be_is_refused(source: str, why: str) -> None:
    with pytest.raises(ProgramRefusedError) as caught:
        read_manifest(source.encode())
    assert why in str(caught.value)
    assert str(caught.value).isprintable()


@settings(max_examples=200)
@given(source=st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)))
def test_any_bytes_are_a_manifest_or_refused(source: bytes) -> None:
    try:
        read_manifest(source)
    except ProgramRefusedError as error:
        assert error.where == "meijin.toml"  # noqa: PT017 - both are right


@pytest.mark.parametrize(
    ("manifest", "why"),
    [
        (b'bot = "ada.py"', 'names "ada.py", and it is not there'),
        (b'engine = "pbrain"', 'names "pbrain", and it is not there'),
        (b'engine = "bot.py"', "it is no Linux program"),
        (b'command = ["./run"]', 'names "run", and it is not there'),
        (b'command = ["/bin/sh"]', "is no file of the archive"),
        (b'bot = "bot.py:Grace"', "no bot Grace; it has Ada"),
        (b"x" * (17 << 10), "at most 16384"),
    ],
)
def test_manifest_of_what_is_not_there_is_refused(
    manifest: bytes, why: str, refusal: Refusal
) -> None:
    assert why in str(refusal(plain({"bot.py": BOT, "meijin.toml": manifest}), "ada.zip"))


def test_engine_of_an_archive_is_looked_at(examined: Callable[[bytes, str], Contents]) -> None:
    data = plain({"a/b/pbrain": elf(), "a/meijin.toml": b'engine = "b/pbrain"'})
    contents = examined(data, "ada.zip")
    assert (contents.top, contents.manifest.engine) == ("a/", "b/pbrain")
    assert contents.linkage is not None


@pytest.mark.parametrize(
    "line",
    [
        "numpy",
        "numpy>=2,<3",
        "numpy == 2.1.*",
        "numpy[fast, more]~=2.0",
        "numpy (>=2)",
        'numpy>=2 ; python_version >= "3.11" and sys_platform == "linux"',
    ],
)
def test_plain_requirement_is_taken(line: str) -> None:
    assert read_requirements(f"{line}  # a note\r\n\n# another\n".encode()) == (line,)


@pytest.mark.parametrize(
    "line",
    [
        "-r other.txt",
        "-e .",
        "--index-url https://example.org",
        "--find-links=/etc",
        "numpy @ file:///etc/passwd",
        "numpy@https://example.org/numpy.whl",
        "https://example.org/numpy.whl",
        "git+https://example.org/numpy",
        "./numpy.whl",
        "/numpy.whl",
        "numpy --hash=sha256:00",
        "numpy \\",
        "numpy; --pre",
        "numpy>=2\x00",
        "numpy\x1b[2J",
        "nump\u0443",
        "n" * 500,
        "numpy" + ",>=1" * 50,
        "[numpy]",
        "numpy; $(id)",
        "numpy; os_name == " + "'" * 3,
    ],
)
def test_requirement_that_names_a_place_or_an_option_is_refused(line: str) -> None:
    with pytest.raises(ProgramRefusedError, match="no plain requirement") as caught:
        read_requirements(line.encode())
    assert str(caught.value).isprintable()


def test_library_of_bots_is_always_there() -> None:
    """No wheelhouse needs it."""
    assert read_requirements(b"meijin[bots]>=0.1\nMeijin\nnumpy\n") == ("numpy",)


def test_requirements_without_end_are_refused() -> None:
    many = "\n".join(f"library{number}" for number in range(51))
    with pytest.raises(ProgramRefusedError, match="51 libraries; at most 50"):
        read_requirements(many.encode())


def test_requirements_of_another_encoding_are_refused() -> None:
    with pytest.raises(ProgramRefusedError, match="no UTF-8"):
        read_requirements(b"\xff\xfen\0")
