"""Power cuts and kills of a real server: nothing that bots were told is gone."""

import random
from contextlib import closing
from pathlib import Path

import pytest
from tests.system.power.trial import Trial

SEED = random.SystemRandom().randrange(1_000_000)
"""Another one each time."""


@pytest.mark.timeout(600)
def test_nothing_that_was_told_is_lost_or_doubled(tmp_path: Path) -> None:
    """After a power cut and a kill under 32 games; `python -m tests.system.power` tries more."""
    with closing(Trial(tmp_path, seed=SEED, lives=2, games=32)) as trial:
        lives = [trial.cut_power(), trial.kill()]
        breaches = [(life.end, breach) for life in lives for breach in life.breaches]
        assert (breaches, trial.finish()) == ([], []), f"seed {SEED}"
