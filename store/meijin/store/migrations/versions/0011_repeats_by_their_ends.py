"""Repeats that ended in another way than the first, or before anything was played, are none."""

from alembic import op

revision = "0011"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Apply the step. Ladders are computed anew by this release in any case."""
    op.execute(
        "UPDATE game SET is_repeat = length(moves) > 2 * opening_plies AND EXISTS"
        " (SELECT 1 FROM game AS earlier"
        " WHERE earlier.ladder_id = game.ladder_id AND earlier.fingerprint = game.fingerprint"
        " AND earlier.state = 'finished' AND earlier.end_sequence < game.end_sequence"
        " AND earlier.black_id = game.black_id AND earlier.white_id = game.white_id"
        " AND earlier.opening_plies = game.opening_plies AND earlier.moves = game.moves"
        " AND earlier.result = game.result AND earlier.ending = game.ending"
        " AND earlier.at_fault = game.at_fault)"
        " WHERE state = 'finished' AND is_repeat"
    )
