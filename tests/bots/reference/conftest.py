"""Settings of the tests of `meijin.bots.reference`."""

from hypothesis import settings

# A busy machine is no failure: the default deadline is 200 ms per example.
settings.register_profile("reference", deadline=None)
settings.load_profile("reference")
