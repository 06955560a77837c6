from meijin.cli.bot.doctor.wrapped import wrapped_engine


def test_no_engine() -> None:
    """Other programs are bots."""
    assert wrapped_engine(["node", "bot.js"]) is None
