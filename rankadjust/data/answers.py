"""Answers of servers: whether what came is a message instead of the file, or stops in the middle of a line."""

import json
from collections.abc import Mapping
from pathlib import Path

# A message is short; a file of triples that begins like one is not.
_LONGEST_MESSAGE = 1 << 16
_KINDS = {
    "text/html": "a web page",
    "application/xhtml+xml": "a web page",
    "application/json": "a JSON message",
    "application/problem+json": "a JSON message",
    "application/xml": "an XML message",
    "text/xml": "an XML message",
}
_MESSAGE_FILES = {"a web page": (".html", ".htm"), "a JSON message": (".json",), "an XML message": (".xml",)}


def announced_message(headers: Mapping[str, str], name: str) -> str:
    """Return 'a web page', 'a JSON message' or 'an XML message' where the headers of an answer announce one, else ''.

    name: of the file that was asked for; one that ends in .json may be JSON.
    """
    kind = headers.get("Content-Type", "").partition(";")[0].strip().lower()
    message = _KINDS.get(kind, "")
    return "" if message and name.lower().endswith(_MESSAGE_FILES[message]) else message


def message_in(path: Path) -> str:
    """Return 'a web page', 'a JSON message' or 'an XML message' where a file holds one, else ''."""
    with path.open("rb") as file:
        start = file.read(_LONGEST_MESSAGE + 1)
    text = start.removeprefix(b"\xef\xbb\xbf").strip()
    lower = text[:1024].lower()
    if lower.startswith((b"<!doctype html", b"<html")):
        return "a web page"
    if len(start) > _LONGEST_MESSAGE:
        return ""
    if lower.startswith(b"<?xml") or (lower.startswith(b"<error") and lower.endswith(b">")):
        return "an XML message"
    return "a JSON message" if lower.startswith(b"{") and _is_json(text) else ""


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def stops_within_a_line(path: Path) -> bool:
    """Return whether a file is text whose last line has no end, as text that was cut off mostly has none."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 4096))
        end = file.read()
    return bool(end) and not end.endswith((b"\n", b"\r")) and b"\0" not in end and _is_text(end)


def _is_text(end: bytes) -> bool:
    try:
        # The first character may have begun before these bytes.
        end.lstrip(bytes(range(0x80, 0xC0))).decode()
    except UnicodeDecodeError as error:
        return error.reason == "unexpected end of data"
    return True
