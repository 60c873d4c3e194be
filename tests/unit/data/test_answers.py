"""What tells a message of a server, or a text that was cut off, from the file that was asked for."""

import pytest

from rankadjust.data.answers import announced_message, message_in, stops_within_a_line


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"<!DOCTYPE html><p>gone", "a web page"),
        (b"\xef\xbb\xbf \n<HTML>", "a web page"),
        (b'{"error": {"code": 404}}\n', "a JSON message"),
        (b'\xef\xbb\xbf{"a": 1}', "a JSON message"),
        (b"<?xml version='1.0'?><Error/>", "an XML message"),
        (b"<Error><Code>NoSuchKey</Code></Error>", "an XML message"),
        # Triples that look alike at the beginning.
        (b"{a}\tlikes\t{b}\n", ""),
        (b"<error>\tlikes\t<b> .\n", ""),
        (b"<http://a>\t<http://b>\t<http://c> .\n", ""),
        (b"", ""),
        (b"[" * 5000, ""),
        (b"{" * 5000, ""),
        # A message is short.
        (b'{"a": "' + b"x" * 70_000 + b'"}', ""),
    ],
)
def test_a_message(tmp_path, content, message):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert message_in(path) == message


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("text/html; charset=utf-8", "train.txt", "a web page"),
        ("Application/JSON", "train.txt", "a JSON message"),
        ("application/json", "train.json", ""),
        ("text/plain", "train.txt", ""),
        ("", "train.txt", ""),
    ],
)
def test_an_announced_message(kind, name, message):
    assert announced_message({"Content-Type": kind}, name) == message


@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
@pytest.mark.parametrize("lines", [1, 1000])
def test_every_cut_of_a_last_line_is_seen(tmp_path, encoding, lines):
    line = ("bücher\tlikes\té日本\n" if encoding == "utf-8" else "a\tlikes\tb\n").encode(encoding)
    text, path = line * lines, tmp_path / "file"
    for cut in range(1, len(line)):
        path.write_bytes(text[:-cut])
        assert stops_within_a_line(path), cut
    path.write_bytes(text)
    assert not stops_within_a_line(path)


@pytest.mark.parametrize("content", [b"", b"a\r", b"a\r\n", b"PK\0\1\2", bytes(range(256)) * 40])
def test_what_is_no_cut_text(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    assert not stops_within_a_line(path)
