"""Downloads of ladders: CSV for spreadsheets, and JSON as the contract has it."""

from collections.abc import Callable

from google.protobuf.json_format import MessageToJson
from google.protobuf.message import Message

from meijin.web.drafts import Draft

CSV = "text/csv; charset=utf-8"
JSON = "application/json"


def csv_draft(name: str, write: Callable[[], str], *messages: Message) -> Draft:
    """A file that a browser keeps under a name."""
    return Draft(messages, write, CSV, f"{name}.csv")


def json_draft(write: Callable[[], str], *messages: Message) -> Draft:
    """An answer for programs."""
    return Draft(messages, write, JSON)


def message_json(message: Message) -> str:
    """A message in protobuf's JSON mapping; what is not set is left out."""
    text: str = MessageToJson(message, indent=None)
    return text
