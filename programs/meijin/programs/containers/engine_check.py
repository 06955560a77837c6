"""What a container engine can limit on this machine, by what it says of itself."""

from collections.abc import Sequence
from pathlib import Path

from meijin.programs.containers.container_command import OWN_IMAGE, ContainerSettings
from meijin.programs.containers.engine import Engine, EngineError
from meijin.programs.containers.engine_info import EngineInfo, read_info
from meijin.programs.sandbox.abilities import Ability, Finding

_CGROUPS = Path("/sys/fs/cgroup")
_START = "install it and start it, and let this user talk to it; see `{} info`"
_LOCAL = "run the host where the engine runs, without a virtual machine between them"
_CONTROLLERS = "let it use the control groups' controllers memory, pids, cpu and cpuset"
_DELEGATE = (
    f"{_CONTROLLERS}; without root have systemd delegate them:"
    " `Delegate=memory pids cpu cpuset` of user@.service"
)
_SWAP = "boot with swapaccount=1, or turn swap off: `swapoff --all`"
_GVISOR = ("runsc", "gvisor")
_VIRTUAL = ("kata",)


def check_engine(engine: Engine, settings: ContainerSettings) -> Sequence[Finding]:
    """What containers are limited in."""
    try:
        info = read_info(engine)
    except (EngineError, ValueError) as error:
        return _nothing(str(error), _START.format(engine.program))
    why, advice = _failure(engine, info, settings)
    return _nothing(why, advice) if why else _findings(engine, info, settings)


def _nothing(how: str, advice: str) -> Sequence[Finding]:
    return [Finding(ability, is_limited=False, how=how, advice=advice) for ability in Ability]


def _failure(engine: Engine, info: EngineInfo, settings: ContainerSettings) -> tuple[str, str]:
    """Why no program can be started, and what to do; both empty where one can be."""
    runtime, image = settings.runtime, settings.image or OWN_IMAGE
    if not info.is_local:
        return "its containers can't reach a socket of this machine", _LOCAL
    if any(name in runtime for name in _VIRTUAL):
        return f"a program can't reach its socket from {runtime}'s virtual machine", "take runsc"
    if runtime and info.runtimes and runtime not in info.runtimes:
        there = ", ".join(info.runtimes)
        return f"the engine has no runtime {runtime}", f"register it, or take one of {there}"
    try:
        engine.ask("image", "inspect", "--format", "{{.Id}}", image)
    except EngineError:
        build = f"`{engine.program} build --tag {image} .` in a checkout"
        return f"there is no image {image}", f"make it by {build}, or name one by --image"
    return "", ""


def _findings(engine: Engine, info: EngineInfo, settings: ContainerSettings) -> Sequence[Finding]:
    name = f"{engine.program} {info.version}"
    is_bounded = info.has_swap or not _has_swap()
    memory = "a memory limit without swap" if is_bounded else "programs can take all of the swap"
    return [
        Finding(
            Ability.MEMORY,
            is_limited=info.has_memory and is_bounded,
            how=memory if info.has_memory else f"{name} has no controller of memory",
            advice=_SWAP if info.has_memory else _DELEGATE,
        ),
        _finding(Ability.PROCESSES, info.has_processes, f"{name}'s limit of processes", _DELEGATE),
        _sure(Ability.NETWORK, "a network namespace with nothing but a loopback of its own"),
        _finding(Ability.CPU, info.has_cpu, "a quota of one core, and a chosen one", _DELEGATE),
        _finding(Ability.CPU_TIME, _CGROUPS.is_dir(), "the container's control group", _LOCAL),
        _finding(Ability.FREEZE, info.has_freezer, f"`{engine.program} pause`", _DELEGATE),
        _sure(Ability.SCRATCH, "a tmpfs of limited size, charged to its memory"),
        _check_calls(info, settings),
        _sure(Ability.FILES, "RLIMIT_NOFILE"),
        _sure(
            Ability.TREE, f"the image {settings.image or OWN_IMAGE} and its own files, read-only"
        ),
    ]


def _check_calls(info: EngineInfo, settings: ContainerSettings) -> Finding:
    if any(name in settings.runtime for name in _GVISOR):
        how = (
            f"{settings.runtime}, a kernel of its own; it has to be registered with"
            " --host-uds=open, or no program reaches its socket"
        )
        return _sure(Ability.SYSCALLS, how)
    own = "the engine's seccomp profile"
    if info.seccomp_profile is not None:
        own += ", without namespaces"
    how = own if settings.seccomp is None else f"the profile {settings.seccomp}"
    advice = "let the engine use its default profile, or install gVisor and take --runtime runsc"
    return _finding(Ability.SYSCALLS, info.has_seccomp, how, advice)


def _finding(ability: Ability, is_limited: bool, how: str, advice: str) -> Finding:  # noqa: FBT001 - named beside it
    return Finding(ability, is_limited, how if is_limited else f"no {how}", advice)


def _sure(ability: Ability, how: str) -> Finding:
    return Finding(ability, is_limited=True, how=how)


def _has_swap() -> bool:
    return len(Path("/proc/swaps").read_text().splitlines()) > 1
