"""What a host can't do without, and how a check is printed."""

import pytest

from meijin.programs.sandbox.abilities import (
    REQUIRED,
    Ability,
    CannotHostError,
    Finding,
    report,
    require,
)


def findings(lacking: Ability | None = None) -> list[Finding]:
    return [
        Finding(ability, is_limited=ability is not lacking, how="by a test", advice="test less")
        for ability in Ability
    ]


@pytest.mark.parametrize("ability", Ability)
def test_host_needs_memory_processes_and_network_limited(ability: Ability) -> None:
    """Without one of these it refuses, in words that name it and what to do; others may lack."""
    require(findings())
    if ability not in REQUIRED:
        require(findings(ability))
        return
    with pytest.raises(CannotHostError) as refused:
        require(findings(ability))
    told = f"{ability.value} can't be limited (by a test): test less"
    assert str(refused.value) == f"this machine can't host programs: {told}"


def test_report_says_what_to_do_where_something_lacks() -> None:
    lines = report("bubblewrap", findings(Ability.MEMORY)).splitlines()
    assert lines[0] == "sandbox: bubblewrap"
    assert lines[1].split() == ["memory", "NO", "by", "a", "test"]
    assert lines[2].strip() == "test less"
    assert lines[3].split() == ["processes", "yes", "by", "a", "test"]
    assert len(lines) == len(Ability) + 2


def test_one_reason_is_told_once() -> None:
    """Where nothing can be limited the same thing is to be done about all of it."""
    found = [
        Finding(ability, is_limited=False, how="by a test", advice="ask") for ability in Ability
    ]
    with pytest.raises(CannotHostError) as refused:
        require(found)
    told = "memory, processes and network can't be limited (by a test): ask"
    assert str(refused.value) == f"this machine can't host programs: {told}"
    assert report("docker", found).count("by a test") == 1
    assert report("docker", found).count("as above") == len(Ability) - 1
