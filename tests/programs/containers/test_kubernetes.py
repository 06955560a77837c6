"""Programs as Pods of an API server that runs nothing."""

import asyncio
import resource
import socket
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.conftest import until
from tests.programs.containers.conftest import IMAGE
from tests.programs.containers.fake_cluster import (
    FakeCluster,
    ended,
    host_pod,
    serving,
    waiting,
)

from meijin.programs.containers.container_command import ContainerSettings
from meijin.programs.containers.kubernetes import probe
from meijin.programs.containers.kubernetes.api import Cluster, KubernetesError
from meijin.programs.containers.kubernetes.manifests import (
    PodPlan,
    job_manifest,
    network_policy,
    pod_manifest,
)
from meijin.programs.containers.kubernetes.pods import HostPod
from meijin.programs.containers.kubernetes.sandbox import KubernetesSandbox
from meijin.programs.kinds import ProgramLimits
from meijin.programs.sandbox.abilities import Ability, CannotHostError, require
from meijin.programs.sandbox.running import Cause, End, Launch, Running

LACKING = {Ability.CPU_TIME, Ability.FREEZE, Ability.FILES}
"""What Kubernetes never does."""
ADA = "ada"
LIFETIME = timedelta(minutes=3)
RELEASE = "1.34"
NO_SCHEMAS = "the schemas are not here: pip install kubernetes-validate"
DEPLOY = Path(__file__).parents[3] / "deploy/kubernetes-host.yml"
DEPLOYED: list[dict[str, Any]] = list(yaml.safe_load_all(DEPLOY.read_text()))


@pytest.fixture
def cluster(tmp_path: Path) -> FakeCluster:
    return FakeCluster(tmp_path)


@pytest.fixture
def api(cluster: FakeCluster, tmp_path: Path) -> Iterator[Cluster]:
    with serving(cluster, tmp_path) as api:
        yield api


@pytest.fixture
async def sandbox(cluster: FakeCluster, api: Cluster) -> AsyncIterator[KubernetesSandbox]:
    async with KubernetesSandbox(cluster=api) as sandbox:
        cluster.created.clear()
        cluster.deleted.clear()
        yield sandbox
    assert (cluster.programs, cluster.jobs) == ([], {})


def launch(folder: Path, **more: Any) -> Launch:
    return Launch("Seat-1", ["python3", "bot.py"], folder / "tree", folder / "socket", **more)


@pytest.fixture(params=[None, LIFETIME], ids=["pod", "job"])
def either(request: pytest.FixtureRequest, tmp_path: Path) -> Launch:
    """What becomes a Pod, and what becomes a Job."""
    return launch(tmp_path, lifetime=request.param)


async def end_of(program: Running) -> End:
    async with asyncio.timeout(60):
        return await program.wait()


def lacking(sandbox: KubernetesSandbox) -> set[Ability]:
    found = sandbox.check()
    assert [finding.ability for finding in found] == list(Ability)
    assert all(finding.advice for finding in found if not finding.is_limited)
    return {finding.ability for finding in found if not finding.is_limited}


# -- what is checked ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "log", "lacks"),
    [
        (ended(137, "OOMKilled"), b'{"connects": false, "threads": 1000}\n', set()),
        (ended(0), b'{"connects": false, "threads": 1000}\n', {Ability.MEMORY}),
        (
            ended(137, "OOMKilled"),
            b'{"connects": false, "threads": %d}\n' % probe.MOST_THREADS,
            {Ability.PROCESSES},
        ),
        (
            ended(137, "OOMKilled"),
            b'{"connects": true, "threads": 1000}\n',
            {Ability.NETWORK},
        ),
    ],
    ids=["all", "memory", "processes", "network"],
)
def test_host_believes_what_its_probe_has_tried(
    cluster: FakeCluster, api: Cluster, status: dict[str, Any], log: bytes, lacks: set[Ability]
) -> None:
    """Not what the API accepts: a node may ignore a limit, and a network a policy."""
    cluster.probe_status, cluster.probe_log = status, log
    sandbox = KubernetesSandbox(cluster=api)
    assert lacking(sandbox) == LACKING | lacks
    assert cluster.programs == []
    if lacks:
        with pytest.raises(CannotHostError, match="a probe"):
            require(sandbox.check())


def test_probe_is_under_the_policy_of_programs(cluster: FakeCluster, api: Cluster) -> None:
    KubernetesSandbox(cluster=api).check()
    (policy,) = cluster.policies.values()
    (made,) = cluster.created
    assert (
        made["metadata"]["labels"].items() >= policy["spec"]["podSelector"]["matchLabels"].items()
    )
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert not {"ingress", "egress"} & policy["spec"].keys()


def test_policy_that_is_there_is_taken(cluster: FakeCluster, api: Cluster) -> None:
    for _ in range(2):
        assert lacking(KubernetesSandbox(cluster=api)) == LACKING
    assert len(cluster.policies) == 1


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (("GET", "pods"), "GET is refused"),
        (("POST", "pods"), "POST is refused"),
        (("POST", "networkpolicies"), "POST is refused"),
    ],
    ids=str,
)
def test_missing_right_is_told(
    cluster: FakeCluster, api: Cluster, refused: tuple[str, str], words: str
) -> None:
    cluster.refusals[refused] = 403
    with pytest.raises(CannotHostError, match=rf"{words}.*service account may create"):
        require(KubernetesSandbox(cluster=api).check())


def test_probe_that_does_not_start_is_told(cluster: FakeCluster, api: Cluster) -> None:
    cluster.probe_status = waiting("ErrImagePull", "meijin:1 is not there")
    with pytest.raises(CannotHostError, match="meijin:1 is not there"):
        require(KubernetesSandbox(cluster=api).check())
    assert cluster.programs == []


def test_host_needs_files_that_others_see(cluster: FakeCluster, api: Cluster) -> None:
    cluster.pods["host"]["spec"]["volumes"] = []
    with pytest.raises(CannotHostError, match="persistentVolumeClaim"):
        require(KubernetesSandbox(cluster=api).check())


def test_kata_is_refused(api: Cluster) -> None:
    """A socket of the host's can't be reached from a virtual machine."""
    sandbox = KubernetesSandbox(ContainerSettings(runtime="kata-qemu"), api)
    with pytest.raises(CannotHostError, match="virtual machine"):
        require(sandbox.check())


def test_no_pod_is_no_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    with pytest.raises(CannotHostError, match="this is no Pod"):
        require(KubernetesSandbox().check())


def test_api_server_is_that_of_the_environment(tmp_path: Path) -> None:
    """Its certificate is checked by what the Pod is given; without one nobody is asked."""
    environ = {
        "KUBERNETES_SERVICE_HOST": "fd00::1",
        "KUBERNETES_SERVICE_PORT": "443",
        "HOSTNAME": "host",
    }
    with pytest.raises(KubernetesError, match="no service account"):
        Cluster.from_environment(environ, tmp_path)


def test_probe_says_how_far_it_comes(capsys: pytest.CaptureFixture[str]) -> None:
    """It reaches a server that is there, and none that is not; limits of threads are seen."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert probe.connects("127.0.0.1", port)
    assert not probe.connects("127.0.0.1", port)
    assert probe.count_threads(0) == 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    probe.fill(before * 1024 + (32 << 20))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > before
    assert capsys.readouterr().out == ""


# -- what is created ------------------------------------------------------------------------


async def test_pod_is_kept_from_all_but_its_own_files(
    sandbox: KubernetesSandbox, cluster: FakeCluster, tmp_path: Path
) -> None:
    cluster.status = ended(0)
    await end_of(await sandbox.start(launch(tmp_path)))
    (made,) = cluster.created
    spec, container = made["spec"], made["spec"]["containers"][0]
    assert made["metadata"]["ownerReferences"][0]["uid"] == "1-2"
    assert spec["automountServiceAccountToken"] is False
    assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "privileged": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"]["limits"] == {"cpu": "1", "memory": str(256 << 20)}
    assert container["image"] == "meijin:1"
    assert container["command"] == ["python3", "bot.py"]
    assert container["volumeMounts"][1:] == [
        {"name": "files", "mountPath": "/bot", "subPath": "host/tree", "readOnly": True},
        {"name": "files", "mountPath": "/run/arena", "subPath": "host/socket", "readOnly": True},
    ]


async def test_image_runs_its_own_command(
    sandbox: KubernetesSandbox, cluster: FakeCluster, tmp_path: Path
) -> None:
    """And sees the socket alone."""
    cluster.status = ended(0)
    await end_of(await sandbox.start(launch(tmp_path, image=IMAGE)))
    (made,) = cluster.created
    (container,) = made["spec"]["containers"]
    assert container["image"] == IMAGE
    assert not {"command", "workingDir"} & container.keys()
    assert [mount["mountPath"] for mount in container["volumeMounts"]] == ["/tmp", "/run/arena"]


async def test_program_with_a_lifetime_is_a_job_of_the_same_pod(
    sandbox: KubernetesSandbox, cluster: FakeCluster, tmp_path: Path
) -> None:
    """It runs once, for as long as it may, and goes with the host's Pod."""
    for lifetime in (None, LIFETIME):
        await (await sandbox.start(launch(tmp_path, lifetime=lifetime))).stop()
    pod, job = cluster.created
    spec = dict(job["spec"])
    assert spec.pop("template") == {
        "metadata": {"labels": pod["metadata"]["labels"]},
        "spec": pod["spec"],
    }
    assert job["metadata"] == {**pod["metadata"], "name": job["metadata"]["name"]}
    assert (spec["completions"], spec["backoffLimit"]) == (1, 0)
    assert spec["activeDeadlineSeconds"] == LIFETIME.total_seconds()
    assert spec["ttlSecondsAfterFinished"] > 0


@pytest.mark.parametrize("tree", ["", "tree"], ids=["image", "program"])
@pytest.mark.parametrize("runtime_class", ["", "gvisor"])
def test_manifests_are_what_kubernetes_takes(tmp_path: Path, tree: str, runtime_class: str) -> None:
    """By its schema, without a field that it does not know."""
    schemas = pytest.importorskip("kubernetes_validate", reason=NO_SCHEMAS)
    plan = PodPlan(
        name=ADA,
        image=IMAGE,
        limits=ProgramLimits(),
        command=("python3",) if tree else (),
        environment={"HOME": "/tmp"},
        claim="programs",
        tree=tree,
        socket_folder="socket",
        runtime_class=runtime_class,
    )
    host = HostPod.parse(host_pod(tmp_path))
    made = (pod_manifest(plan, host), job_manifest(plan, host, LIFETIME), network_policy())
    for manifest in made:
        schemas.validate(manifest, RELEASE, strict=True)


async def test_role_gives_the_rights_that_are_used(
    sandbox: KubernetesSandbox, cluster: FakeCluster, tmp_path: Path
) -> None:
    """And no other ones."""
    for lifetime in (None, LIFETIME):
        await (await sandbox.start(launch(tmp_path, lifetime=lifetime))).stop()
    (role,) = (each for each in DEPLOYED if each["kind"] == "Role")
    given = {
        (resource, verb)
        for rule in role["rules"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    assert given == cluster.used


@pytest.mark.parametrize("manifest", DEPLOYED, ids=[each["kind"] for each in DEPLOYED])
def test_deployed_manifests_are_what_kubernetes_takes(manifest: dict[str, Any]) -> None:
    pytest.importorskip("kubernetes_validate", reason=NO_SCHEMAS).validate(
        manifest, RELEASE, strict=True
    )


async def test_files_that_no_other_pod_sees_are_the_hosts_fault(
    sandbox: KubernetesSandbox, cluster: FakeCluster, tmp_path: Path
) -> None:
    elsewhere = Launch("seat", ["python3"], Path("/elsewhere"), tmp_path)
    end = await end_of(await sandbox.start(elsewhere))
    assert end.cause is Cause.LAUNCH
    assert "TMPDIR" in end.words
    assert cluster.created == []


# -- what becomes of it ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "cause_and_words"),
    [
        (ended(7), (Cause.EXITED, "status 7")),
        (ended(0, "Completed"), (Cause.EXITED, "status 0")),
        (ended(134), (Cause.SIGNAL, "SIGABRT")),
        (ended(137, "OOMKilled"), (Cause.MEMORY, "256 MiB")),
    ],
    ids=["status", "end", "signal", "memory"],
)
async def test_end_is_told(
    sandbox: KubernetesSandbox,
    cluster: FakeCluster,
    either: Launch,
    status: dict[str, Any],
    cause_and_words: tuple[Cause, str],
) -> None:
    """What it wrote before is kept, and its Pod is removed, or its Job."""
    program = await sandbox.start(either)
    await until(lambda: "up" in program.lines)
    (name,) = cluster.programs
    cluster.end(name, status)
    end = await end_of(program)
    cause, words = cause_and_words
    assert end.cause is cause
    assert words in end.words
    assert program.usage().output_bytes == len("up\n")
    assert (cluster.programs, cluster.jobs) == ([], {})


async def test_deadline_of_a_job_is_told(
    sandbox: KubernetesSandbox, cluster: FakeCluster, tmp_path: Path
) -> None:
    """Also where its Pod is seen to end before the Job says why."""
    program = await sandbox.start(launch(tmp_path, lifetime=LIFETIME))
    cluster.used.clear()
    (name,) = cluster.programs
    cluster.end_container(name, ended(143))
    await until(lambda: ("jobs", "get") in cluster.used)
    cluster.expire(*cluster.jobs)
    end = await end_of(program)
    assert end.cause is Cause.LIFETIME
    assert end.words == "it lasted longer than 180 s"


async def test_deadline_before_the_start_is_the_hosts_fault(
    sandbox: KubernetesSandbox, cluster: FakeCluster, tmp_path: Path
) -> None:
    cluster.status = {"phase": "Pending"}
    starting = asyncio.create_task(sandbox.start(launch(tmp_path, lifetime=LIFETIME)))
    await until(lambda: len(cluster.programs) == 1)
    cluster.expire(*cluster.jobs)
    end = await end_of(await starting)
    assert end.cause is Cause.LAUNCH
    assert end.words == "it was not started within 180 s"


@pytest.mark.parametrize(
    ("status", "cause"),
    [
        (waiting("ImagePullBackOff", "no such image"), Cause.LAUNCH),
        (ended(128, "StartError", 'exec: "x": executable file not found'), Cause.COMMAND),
        (ended(128, "StartError", "no room for a network"), Cause.LAUNCH),
        ({"phase": "Failed", "reason": "OutOfcpu", "message": "no core is free"}, Cause.LAUNCH),
    ],
    ids=["image", "command", "runtime", "room"],
)
async def test_pod_that_does_not_start_is_told(
    sandbox: KubernetesSandbox,
    cluster: FakeCluster,
    tmp_path: Path,
    status: dict[str, Any],
    cause: Cause,
) -> None:
    cluster.status = status
    end = await end_of(await sandbox.start(launch(tmp_path)))
    told = status.get("message") or next(iter(status["containerStatuses"][0]["state"].values()))
    assert end.cause is cause
    assert end.words in (told, told["message"] if isinstance(told, dict) else told)
    assert cluster.programs == []


async def test_deleted_pod_is_the_hosts_fault(
    sandbox: KubernetesSandbox, cluster: FakeCluster, tmp_path: Path
) -> None:
    program = await sandbox.start(launch(tmp_path))
    (name,) = cluster.programs
    cluster.delete(name, "0")
    assert (await end_of(program)).cause is Cause.LAUNCH


@pytest.mark.parametrize(("grace_s", "given"), [(0, "1"), (5, "5")])
async def test_stop_gives_a_grace_of_whole_seconds(
    sandbox: KubernetesSandbox, cluster: FakeCluster, either: Launch, grace_s: int, given: str
) -> None:
    """Never none: the API would forget a Pod that still runs."""
    program = await sandbox.start(either)
    async with asyncio.timeout(60):
        end = await program.stop(timedelta(seconds=grace_s))
    assert end.cause is Cause.ASKED
    assert [each for _, each in cluster.deleted] == [given]


async def test_flood_ends_it(
    sandbox: KubernetesSandbox, cluster: FakeCluster, tmp_path: Path
) -> None:
    cluster.log = b"x" * 2000
    program = await sandbox.start(launch(tmp_path, limits=ProgramLimits(output_bytes=1000)))
    assert (await end_of(program)).cause is Cause.OUTPUT


async def test_next_start_removes_what_a_killed_host_left(
    cluster: FakeCluster, api: Cluster, tmp_path: Path
) -> None:
    """Its own alone: Pods and Jobs of other hosts stay."""
    for name, uid in (("left", "1-2"), ("other", "3")):
        host = replace(HostPod.parse(host_pod(tmp_path)), uid=uid)
        plan = PodPlan(name=name, image=IMAGE, limits=ProgramLimits())
        cluster.create(pod_manifest(plan, host))
        cluster.create_job(job_manifest(plan, host, LIFETIME))
    async with KubernetesSandbox(cluster=api):
        assert (cluster.programs, [*cluster.jobs]) == (["other"], ["other"])


async def test_api_server_that_is_away_ends_no_program(
    sandbox: KubernetesSandbox, cluster: FakeCluster, tmp_path: Path
) -> None:
    """It is asked again until it answers."""
    program = await sandbox.start(launch(tmp_path))
    await until(lambda: "up" in program.lines)
    (name,) = cluster.programs
    cluster.refusals["GET", "pods"] = 503
    cluster.end(name, ended(3))
    await asyncio.sleep(0.05)  # what must not happen has no event
    cluster.refusals.clear()
    assert (await end_of(program)).status == 3
