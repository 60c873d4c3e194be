r"""Text from somebody else's file made safe to show: on a terminal, in a log, in an error.

A terminal obeys escape sequences, and characters that turn the direction of writing make a line look different from its
content. So these are shown as escapes: ESC as \x1b, RIGHT-TO-LEFT OVERRIDE as \u202e. Letters of every
script, accents, emoji and blanks of every width stay.
"""

import json
import re

# Control characters, lone surrogates, and the invisible characters that change lines, directions or order. The joiners
# U+200C and U+200D stay: Persian, Hindi and emoji need them.
_INVISIBLE = (
    r"\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    r"\U000e0000-\U000e007f"
)
_IN_A_LINE = re.compile(f"[{_INVISIBLE}]")
_IN_A_TEXT = re.compile(f"(?![\n\t])[{_INVISIBLE}]")
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
# An error says at its end what to do, so that it is its middle that is left out.
_LONGEST = 1500
_END = 300
_LEFT_OUT = " […] "


def visible(text: str) -> str:
    """Return a text of lines with every invisible character but line feeds and tabs as its escape."""
    return _IN_A_TEXT.sub(_escape, text)


def visible_json(text: str) -> str:
    """Return JSON of the same data, with JSON's own escape for every invisible character."""
    return _IN_A_TEXT.sub(lambda match: json.dumps(match[0])[1:-1], text)


def one_line(text: str) -> str:
    """Return a text on one line: all invisible characters as escapes, the middle left out where it is very long."""
    shown = _IN_A_LINE.sub(_escape, text)
    if len(shown) > _LONGEST:
        return f"{shown[: _LONGEST - _END - len(_LEFT_OUT)]}{_LEFT_OUT}{shown[-_END:]}"
    return shown


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    plain = f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return _NAMED.get(character, plain)
