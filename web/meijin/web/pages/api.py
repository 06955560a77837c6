"""The JSON API as people read of it: its methods, and how each is called."""

import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from meijin.web.api.methods import LEFT_OUT, METHODS, Method
from meijin.web.api.routes import DOCUMENT, DOCUMENT_PATH
from meijin.web.drafts import Draft
from meijin.web.routes import Page
from meijin.web.visit import Visit

SAMPLES: Mapping[str, str] = {
    "bot": "ada",
    "class_name": "autumn",
    "game_id": "17",
    "ladder": "freestyle-15x15-blitz",
    "name": "ada",
    "opponent": "bea",
}
"""What stands in the examples for a field of the path; other ones have the number 3."""


@dataclass(frozen=True, slots=True)
class MethodLine:
    """A method of the API."""

    verb: str
    path: str
    about: str
    """One sentence."""
    command: str
    """An example, by curl."""


@dataclass(frozen=True, slots=True)
class ServiceSection:
    """The methods of a service."""

    name: str
    about: str
    methods: tuple[MethodLine, ...]


@dataclass(frozen=True, slots=True)
class ApiView:
    """All methods, and those that the API does not offer."""

    services: tuple[ServiceSection, ...]
    left_out: tuple[tuple[str, str], ...]
    """Names, and why."""
    document: str
    """Where the OpenAPI document is."""


async def show(visit: Visit) -> Draft:
    """List the methods."""
    origin = visit.origin

    def view() -> ApiView:
        return ApiView(tuple(_sections(origin)), tuple(LEFT_OUT.items()), DOCUMENT_PATH)

    return visit.page("api.html", view)


def example(method: Method, origin: str) -> str:
    """How a method is called by curl; changes need a token, but where everybody is an operator."""
    path = method.full_path
    for name in _names(path):
        path = path.replace(f"{{{name}}}", SAMPLES.get(name, "3"))
    words = ["curl"]
    if method.verb == "GET":
        path += f"?{method.example}" if method.example else ""
        if path.endswith("/watch"):
            words.append("-N")
    else:
        words += ["-H", '"Authorization: Bearer $TOKEN"']
        words += ["--json", shlex.quote(method.example)] if method.example else []
        if method.verb != "POST" or not method.example:
            words += ["-X", method.verb]
    return " ".join([*words, shlex.quote(origin + path)])


def _sections(origin: str) -> Iterator[ServiceSection]:
    services, summaries = _wording()
    for name, methods in groupby(METHODS, lambda method: method.name.partition("/")[0]):
        lines = (
            MethodLine(
                method.verb, method.full_path, summaries[method.name], example(method, origin)
            )
            for method in methods
        )
        yield ServiceSection(name, services[name], tuple(lines))


def _names(path: str) -> list[str]:
    return [part.strip("{}") for part in path.split("/") if part.startswith("{")]


@cache
def _wording() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """What the contract says of its services, and of each method."""
    document = json.loads(DOCUMENT.read_bytes())
    operations = [each for path in document["paths"].values() for each in path.values()]
    services = {tag["name"]: tag["description"] for tag in document["tags"]}
    summaries = {
        operation["operationId"].replace("_", "/"): operation["summary"] for operation in operations
    }
    return services, summaries


ROUTES = (Page("/api", show),)
