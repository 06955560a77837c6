"""The picture of a position in the openings explorer."""

from meijin.web.pages.openings import LARGEST, SMALLEST, radius


def test_marks_grow_with_their_share() -> None:
    """From what a number fits into to what leaves the neighbours alone."""
    radii = [radius(share) for share in (0, 0.25, 1)]
    assert radii == sorted({SMALLEST, radii[1], LARGEST})
