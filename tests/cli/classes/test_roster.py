from pathlib import Path

import pytest

from meijin.cli.classes.roster import RosterEntry, names_of, read_roster
from meijin.cli.errors import CommandError
from meijin.v1 import class_service_pb2 as pb

ADA, MEIJIN = RosterEntry("Ada Lovelace", "17", "ada@example.org"), RosterEntry("名人", "18")


def test_two_of_one_name_are_told_apart() -> None:
    names = {"bob": "Bob", "bob-2": "Bob", "ada": "Ada"}
    students = [pb.Student(handle=key, display_name=name) for key, name in names.items()]
    assert list(names_of(students).values()) == ["Bob (bob)", "Bob (bob-2)", "Ada"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_spreadsheets_write_is_read(
    tmp_path: Path, encoding: str, delimiter: str, end: str
) -> None:
    rows = (
        ("ID", "Name", "E-Mail", "Group"),
        ("17", '"Ada Lovelace"', "ada@example.org", '"a, b; c"'),
        ("", "", "", ""),
        ("18", "名人", "", "b"),
    )
    path = tmp_path / "names.csv"
    text = "".join(delimiter.join(row) + end for row in rows)
    path.write_bytes(text.encode(encoding))
    assert read_roster(path) == [ADA, MEIJIN]


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("name\nAda\nGrace\n", ["name Ada", "name Grace"]),
        ("name,id\nAda,1\nAda,2\n", ["id 1", "id 2"]),
    ],
)
def test_names_are_enough_where_they_differ(tmp_path: Path, text: str, keys: list[str]) -> None:
    path = tmp_path / "names.csv"
    path.write_text(text)
    assert [each.key for each in read_roster(path)] == keys
    with pytest.raises(CommandError, match=r"can't read .*none\.csv: No such file"):
        read_roster(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "names.csv is empty; its first line has the titles: name,id,mail"),
        (b"name\n", "names.csv names nobody; write a student a line"),
        (b"Ada\nGrace\n", 'names.csv:1: no column is called "name"; write a line such as name,id'),
        (b"name\nAda\nGrace\nAda\n", "names.csv:4: Ada stands in line 2 too; give each an id"),
        (b"name,id\nAda,1\nEve,1\n", "names.csv:3: id 1 stands in line 2 too; give each an id"),
        ("name\nJürgen\n".encode("latin-1"), 'names.csv:2: this is not UTF-8; save the table as "'),
        (b"name\nA\x1b[2Jda\n", "names.csv:2: character 2 of a display name can't be printed"),
        (b"name,id\n,7\n", "names.csv:2: a display name has 1 to 60 characters, and this 0"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "names.csv"
    path.write_bytes(data)
    with pytest.raises(CommandError) as caught:
        read_roster(path)
    assert message in str(caught.value)
