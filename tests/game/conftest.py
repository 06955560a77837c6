"""Settings of the tests of `meijin.game`."""

from hypothesis import settings

# A busy machine is no failure: the default deadline is 200 ms per example.
settings.register_profile("game", deadline=None)
settings.load_profile("game")
