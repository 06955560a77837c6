"""An API server of Kubernetes that runs nothing: its Pods do what a test says."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from meijin.programs.containers.kubernetes.api import Cluster

NAMESPACE = "/namespaces/arena/"
PODS = f"/api/v1{NAMESPACE}pods"
JOBS = f"/apis/batch/v1{NAMESPACE}jobs"
POLICIES = f"/apis/networking.k8s.io/v1{NAMESPACE}networkpolicies"
JOB_LABEL = "batch.kubernetes.io/job-name"
TOKEN = "token-of-the-host"
VERBS = {"GET": "get", "POST": "create", "DELETE": "delete"}
VERBS_OF_ALL = {"GET": "list", "POST": "create", "DELETE": "deletecollection"}
RUNNING: dict[str, Any] = {"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]}


def host_pod(folder: Path) -> dict[str, Any]:
    """The host's Pod, with a part of a claim at a folder."""
    return {
        "metadata": {"name": "host", "uid": "1-2"},
        "spec": {
            "nodeName": "node",
            "containers": [
                {
                    "image": "meijin:1",
                    "volumeMounts": [
                        {"name": "files", "mountPath": str(folder), "subPath": "host"},
                        {"name": "token", "mountPath": "/var/run/secrets"},
                    ],
                }
            ],
            "volumes": [
                {"name": "files", "persistentVolumeClaim": {"claimName": "programs"}},
                {"name": "token", "projected": {}},
            ],
        },
        "status": RUNNING,
    }


def ended(code: int, reason: str = "Error", message: str = "") -> dict[str, Any]:
    """The status of a Pod whose container has ended."""
    state = {"terminated": {"exitCode": code, "reason": reason, "message": message}}
    return {"phase": "Failed" if code else "Succeeded", "containerStatuses": [{"state": state}]}


def waiting(reason: str, message: str = "") -> dict[str, Any]:
    """The status of a Pod whose container does not start."""
    state = {"waiting": {"reason": reason, "message": message}}
    return {"phase": "Pending", "containerStatuses": [{"state": state}]}


class FakeCluster:
    """What there is in the namespace ``arena``, and what becomes of what is created there."""

    def __init__(self, folder: Path) -> None:
        self.pods = {"host": host_pod(folder)}
        self.jobs: dict[str, dict[str, Any]] = {}
        self.policies: dict[str, Any] = {}
        self.created: list[dict[str, Any]] = []
        self.deleted: list[tuple[str, str]] = []
        """Names and how long each was given, in seconds."""
        self.status = RUNNING
        """Of a program's Pod that is created next."""
        self.log = b"up\n"
        self.probe_status = ended(137, "OOMKilled")
        self.probe_log = b'{"connects": false, "threads": 1000}\n'
        self.refusals: dict[tuple[str, str], int] = {}
        """Methods and kinds that are answered with an error of HTTP."""
        self.used: set[tuple[str, str]] = set()
        """The rights that were needed: resources and verbs."""
        self.changed = threading.Condition()

    def end(self, name: str, status: dict[str, Any]) -> None:
        """Have a Pod end, and its Job with it."""
        self.end_container(name, status)
        is_complete = status["phase"] == "Succeeded"
        self._end_job(self.pods[name], "Complete" if is_complete else "Failed")

    def end_container(self, name: str, status: dict[str, Any]) -> None:
        """Have the container of a Pod end, of which its Job does not know yet."""
        with self.changed:
            self.pods[name]["status"] = status
            self.changed.notify_all()

    def _end_job(self, pod: dict[str, Any], kind: str) -> None:
        job = self.jobs.get(pod["metadata"]["labels"].get(JOB_LABEL, ""), {})
        job.setdefault("status", {"conditions": [{"type": kind, "status": "True"}]})

    def expire(self, name: str) -> None:
        """Have a Job reach its deadline: the cluster ends its Pod."""
        late = {"type": "FailureTarget", "status": "True", "reason": "DeadlineExceeded"}
        self.jobs[name]["status"] = {"conditions": [late]}
        self.delete_labelled(JOB_LABEL, name)

    @property
    def programs(self) -> list[str]:
        """The Pods besides the host's."""
        return [name for name in self.pods if name != "host"]

    def labelled(self, label: str, value: str) -> list[str]:
        """The Pods that have a label."""
        return [
            name
            for name in self.programs
            if self.pods[name]["metadata"]["labels"].get(label) == value
        ]

    def find(self, label: str, value: str) -> dict[str, Any]:
        """The Pods that have a label; a Job makes its own once somebody has missed it."""
        items = [self.pods[name] for name in self.labelled(label, value)]
        job = self.jobs.get(value)
        if job is not None and not items and "status" not in job:
            name, template = f"{value}-x", job["spec"]["template"]
            labels = {**template["metadata"]["labels"], JOB_LABEL: value}
            metadata = {"name": name, "labels": labels}
            self.pods[name] = {**template, "metadata": metadata, "status": self.status}
        return {"kind": "PodList", "items": items}

    def create(self, pod: dict[str, Any]) -> dict[str, Any]:
        name = pod["metadata"]["name"]
        status = self.probe_status if "probe" in name else self.status
        with self.changed:
            self.created.append(pod)
            self.pods[name] = {**pod, "status": status}
        return self.pods[name]

    def create_job(self, job: dict[str, Any]) -> dict[str, Any]:
        self.created.append(job)
        return self.jobs.setdefault(job["metadata"]["name"], job)

    def delete(self, name: str, grace: str) -> dict[str, Any] | None:
        with self.changed:
            pod = self.pods.pop(name, None)
            if pod is not None:
                self.deleted.append((name, grace))
                self._end_job(pod, "Failed")
            self.changed.notify_all()
        return pod

    def delete_labelled(self, label: str, value: str, grace: str = "") -> None:
        for name in self.labelled(label, value):
            self.delete(name, grace)

    def delete_job(self, name: str, propagation: str) -> dict[str, Any] | None:
        """Delete a Job, which leaves its Pod where nothing else is asked for."""
        job = self.jobs.pop(name, None)
        if job is not None and propagation in ("Foreground", "Background"):
            self.delete_labelled(JOB_LABEL, name)
        return job

    def delete_labelled_jobs(self, label: str, value: str, propagation: str) -> None:
        for name, job in [*self.jobs.items()]:
            if job["metadata"]["labels"].get(label) == value:
                self.delete_job(name, propagation)

    def wait_for_end(self, name: str) -> None:
        def is_over() -> bool:
            return name not in self.pods or self.pods[name]["status"] != RUNNING

        with self.changed:
            self.changed.wait_for(is_over, timeout=60)


class _Handler(BaseHTTPRequestHandler):
    server: "_Server"

    def log_message(self, *_: object) -> None: ...

    def _answer(self, answer: dict[str, Any] | None, status: int = 200) -> None:
        self.send_response(status if answer is not None else 404)
        self.end_headers()
        self.wfile.write(json.dumps(answer or {"message": "not found"}).encode())

    def _query(self) -> dict[str, str]:
        return {name: values[0] for name, values in parse_qs(urlsplit(self.path).query).items()}

    def _is_refused(self, path: str) -> bool:
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            self._answer({"message": "Unauthorized"}, 401)
            return True
        resource, *names = path.partition(NAMESPACE)[2].split("/")
        verb = (VERBS if names else VERBS_OF_ALL)[self.command]
        self.server.cluster.used.add(("/".join([resource, *names[1:]]), verb))
        status = self.server.cluster.refusals.get((self.command, resource), 0)
        if status:
            self._answer({"message": f"{self.command} is refused"}, status)
        return status != 0

    def do_GET(self) -> None:
        cluster, path, query = self.server.cluster, urlsplit(self.path).path, self._query()
        if self._is_refused(path):
            return
        if path == PODS:
            self._answer(cluster.find(*query["labelSelector"].split("=")))
            return
        if path.startswith(JOBS):
            self._answer(cluster.jobs.get(path.removeprefix(f"{JOBS}/")))
            return
        name, _, part = path.removeprefix(f"{PODS}/").partition("/")
        if part != "log":
            self._answer(cluster.pods.get(name))
            return
        self.send_response(200)
        self.end_headers()
        self.wfile.write(cluster.probe_log if "probe" in name else cluster.log)
        self.wfile.flush()
        cluster.wait_for_end(name)

    def do_POST(self) -> None:
        cluster, path = self.server.cluster, urlsplit(self.path).path
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._is_refused(path):
            return
        if path == PODS:
            self._answer(cluster.create(body), 201)
        elif path == JOBS:
            self._answer(cluster.create_job(body), 201)
        elif path == POLICIES and body["metadata"]["name"] in cluster.policies:
            self._answer({"message": "already exists"}, 409)
        else:
            cluster.policies[body["metadata"]["name"]] = body
            self._answer(body, 201)

    def do_DELETE(self) -> None:
        cluster, path, query = self.server.cluster, urlsplit(self.path).path, self._query()
        if self._is_refused(path):
            return
        grace, propagation = query.get("gracePeriodSeconds", ""), query.get("propagationPolicy", "")
        label, _, value = query.get("labelSelector", "").partition("=")
        if path == PODS:
            cluster.delete_labelled(label, value, grace)
            self._answer({"kind": "PodList"})
        elif path == JOBS:
            cluster.delete_labelled_jobs(label, value, propagation)
            self._answer({"kind": "JobList"})
        elif path.startswith(JOBS):
            self._answer(cluster.delete_job(path.removeprefix(f"{JOBS}/"), propagation))
        else:
            self._answer(cluster.delete(path.removeprefix(f"{PODS}/"), grace))


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, cluster: FakeCluster) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.cluster = cluster


@contextmanager
def serving(cluster: FakeCluster, folder: Path) -> Iterator[Cluster]:
    """Serve a cluster; how its host's Pod sees it."""
    token = folder / "token"
    token.write_text(f"{TOKEN}\n")
    server = _Server(cluster)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Cluster(f"http://127.0.0.1:{server.server_port}", "arena", "host", token)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
