"""The report without what Safari 16.0 lacks: there is no Safari here, so Chromium loses the same features."""

import gzip
import re
from base64 import b64decode, b64encode

import pytest

pytestmark = pytest.mark.browser

# By https://webkit.org/blog and caniuse.com: what came with Safari 16.4 to 18.4, or never came.
REMOVE = """
  delete window.requestIdleCallback;
  delete window.DecompressionStream;
  delete window.OffscreenCanvas;
  delete window.scheduler;
  delete Array.fromAsync;
  delete Object.groupBy;
  delete Map.groupBy;
  delete Promise.withResolvers;
  delete URL.canParse;
  delete URL.parse;
  delete AbortSignal.any;
  delete Element.prototype.checkVisibility;
  delete String.prototype.isWellFormed;
  delete String.prototype.toWellFormed;
  delete RegExp.escape;
  delete window.Iterator;
  for (const name of ["union", "intersection", "difference", "symmetricDifference", "isSubsetOf", "isSupersetOf"]) {
    delete Set.prototype[name];
  }
  for (const name of ["map", "filter", "take", "drop", "flatMap", "reduce", "toArray", "forEach", "some", "find"]) {
    delete Object.getPrototypeOf(Object.getPrototypeOf([].values()))[name];
  }
"""
SAME = """texts => {
  const [packed, wanted] = texts.map(text => Uint8Array.from(atob(text), character => character.charCodeAt(0)));
  const found = inflated(packed);
  return found.length === wanted.length && found.every((byte, place) => byte === wanted[place]);
}"""
# Syntax that Safari 16.0 does not read: a whole script with it would not run.
SYNTAX = {"lookbehind": r"\(\?<[=!]", "static block": r"\bstatic\s*\{"}


def test_all_of_the_page_works_without_what_safari_16_lacks(page_of, small_page):
    page = page_of(small_page, address="view=calculator&dataset=Nations&value=0.43", script=REMOVE)
    assert page.evaluate("typeof DecompressionStream + typeof requestIdleCallback") == "undefinedundefined"
    page.wait_for_function("performance.getEntriesByName('tables-shown').length > 0")
    assert page.locator("#results-table tbody tr").count() == 10
    assert "0.43" in page.locator("#calculator-result").inner_text()
    page.locator("#board-switches [name=dataset]").select_option("Nations")
    assert page.locator("#board .board-title").inner_text().startswith("Nations")
    page.locator("#own-table-text").fill("model,MRR\nA,0.4\n")
    page.locator("#own-table-result td.model").wait_for()
    page.locator("#figure-expectation").scroll_into_view_if_needed()
    page.wait_for_selector('#figure-expectation .drawing[data-drawn="light"] svg')


def test_the_page_inflates_what_gzip_compresses(page_of, page_without_tables):
    """Every kind of block: stored, with the fixed code, with a code of its own; and copies that overlap."""
    page = page_of(page_without_tables)
    texts = [b"", b"abc", b"a" * 100_000, bytes(range(256)) * 300, small(200_000)]
    for text in texts:
        for level in (0, 1, 9):
            packed = gzip.compress(text, level, mtime=0)
            same = page.evaluate(SAME, [b64encode(packed).decode(), b64encode(text).decode()])
            assert same, (len(text), level)


def small(length):
    """Return bytes that compress a little."""
    return bytes((place * place // 7) % 61 for place in range(length))


def test_no_script_of_the_page_has_syntax_that_safari_16_does_not_read(small_page):
    text = small_page.read_text(encoding="utf-8")
    scripts = re.findall(r"<script>(.*?)</script>", text, flags=re.DOTALL)
    for name in ("figure-library", "tables-library"):
        scripts.append(gzip.decompress(b64decode(re.search(rf'id="{name}">([^<]*)<', text)[1])).decode())
    assert len(scripts) == 3
    for script in scripts:
        for kind, pattern in SYNTAX.items():
            assert re.search(pattern, script) is None, kind
