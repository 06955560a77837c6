"""All metrics of a server, put together."""

from importlib.metadata import version

from prometheus_client import CollectorRegistry, Info, ProcessCollector, disable_created_metrics
from prometheus_client.registry import Collector


def make_registry(*collectors: Collector) -> CollectorRegistry:
    """A registry of the process, the release and `collectors`."""
    # Else each count has a second line, of when it was first made.
    disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    ProcessCollector(registry=registry)
    Info("meijin_build", "The release that runs.", registry=registry).info(
        {"version": version("meijin")}
    )
    for collector in collectors:
        registry.register(collector)
    return registry
