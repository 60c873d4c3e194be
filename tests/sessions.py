"""Read terminal sessions from Markdown: the commands and their output, so that a test can run them."""

import re


def sessions(markdown: str) -> list[tuple[str, str]]:
    r"""Return command and output of each `$ command` in the blocks marked ```console; a \ continues a line."""
    blocks = re.findall(r"^```console\n(.*?)^```$", markdown, flags=re.DOTALL | re.MULTILINE)
    parts = [part for block in blocks for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]]
    lines = [re.sub(r"\\\n\s*", "", part).partition("\n") for part in parts]
    return [(command, output.rstrip("\n")) for command, _, output in lines]
