import pytest

from meijin.cli.classes.handles import MAX_LENGTH, handle_of
from meijin.wire.contract import check_bot_name


@pytest.mark.parametrize(
    ("name", "handle"),
    [
        ("Ada Lovelace", "ada-lovelace"),
        ("Jürgen Groß", "jurgen-gross"),
        ("Łukasz Ørsted", "lukasz-orsted"),
        ("Çağrı Işık", "cagri-isik"),  # noqa: RUF001 - what is meant
        ("O'Neill, Zoë", "oneill-zoe"),
        ("Николай Чернышевский", "nikolai-chernyshevskii"),
        ("Ελένη Παππά", "eleni-pappa"),
        ("名人 本因坊", "student-07"),
        ("محمد", "student-07"),
        ("X", "student-07"),
        ("<b>Bobby</b> '; DROP TABLE", "b-bobby-b-drop-table"),
        ("x" * 60, "x" * MAX_LENGTH),
    ],
)
def test_a_handle_is_made_of_the_name(name: str, handle: str) -> None:
    """In ASCII, without marks; where too little is left, of the place in the class."""
    assert handle_of(name, 7, ()) == handle
    check_bot_name(handle)


def test_a_handle_that_is_taken_has_a_number_behind_it() -> None:
    assert handle_of("Ada", 1, {"ada"}) == "ada-2"
    assert handle_of("Ada", 1, {"ada", "ada-2", "ada-3"}) == "ada-4"
    assert handle_of("名人", 7, {"student-07", "student-08"}) == "student-09"
