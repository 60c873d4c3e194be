"""A Content-Security-Policy in each page that MkDocs makes: no script but the theme's, nothing from or to elsewhere."""

import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_HEAD = '<meta charset="utf-8">'
# Tables of the documentation say in a style how their columns are aligned. The search is a worker that reads its index.
_POLICY = (
    "default-src 'none'; script-src 'self' {hashes}; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'"
)


def add_policies(site: Path) -> None:
    """Put the policy into every page of a folder that has none, with the digests of the page's own scripts."""
    for path in sorted(site.rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        if "Content-Security-Policy" not in text.partition("</head>")[0]:
            path.write_text(with_policy(text), encoding="utf-8")


def with_policy(page: str) -> str:
    """Return a page with the policy that its scripts need."""
    digests = sorted({b64encode(sha256(text.encode()).digest()).decode() for text in _INLINE.findall(page)})
    policy = _POLICY.format(hashes=" ".join(f"'sha256-{digest}'" for digest in digests))
    at = page.index(_HEAD) + len(_HEAD)
    return f'{page[:at]}<meta http-equiv="Content-Security-Policy" content="{policy}">{page[at:]}'
