"""The JSON API as people read of it: its methods, and how each is called."""

import json
import shlex
from collections.abc import Iterable, Mapping
from functools import cache, partial
from itertools import groupby

from meijin.web.api.methods import LEFT_OUT, METHODS, Method
from meijin.web.api.routes import DOCUMENT, DOCUMENT_PATH
from meijin.web.cache import LazyPage
from meijin.web.request import Page, PageRequest

SAMPLES: Mapping[str, str] = {
    "bot": "ada",
    "class_name": "autumn",
    "game_id": "17",
    "ladder": "freestyle-15x15-blitz",
    "name": "ada",
    "opponent": "bea",
}
"""What stands in the examples for a field of the path; other ones have the number 3."""


async def show(request: PageRequest) -> LazyPage:
    """List the methods, and those that the API does not offer."""
    return request.page(
        "api.html",
        services=services,
        told=contract_words,
        left_out=LEFT_OUT,
        document=DOCUMENT_PATH,
        example=partial(example, origin=request.origin),
    )


def services() -> Iterable[tuple[str, Iterable[Method]]]:
    return groupby(METHODS, lambda method: method.name.partition("/")[0])


def example(method: Method, origin: str) -> str:
    """How a method is called by curl; changes need a token, but where everybody is an operator."""
    parts = (
        SAMPLES.get(part.strip("{}"), "3") if part.startswith("{") else part
        for part in method.full_path.split("/")
    )
    path, words = "/".join(parts), ["curl"]
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


@cache
def contract_words() -> Mapping[str, str]:
    """What the contract says of its services, and of each method, by their names."""
    document = json.loads(DOCUMENT.read_bytes())
    operations = [each for path in document["paths"].values() for each in path.values()]
    return {
        **{tag["name"]: tag["description"] for tag in document["tags"]},
        **{each["operationId"].replace("_", "/"): each["summary"] for each in operations},
    }


ROUTES = (Page("/api", show),)
