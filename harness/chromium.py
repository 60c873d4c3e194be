"""A headless Chromium without network, and pages in it that note every error and every request to elsewhere."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Route, sync_playwright

INSTALL = "install it, on Debian and Ubuntu with: apt-get install chromium"
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_LOCAL = ("file:", "data:", "blob:", "about:")


def installed() -> str | None:
    """Return the path of a Chromium of this machine."""
    return next(filter(None, map(shutil.which, _NAMES)), None)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start a headless Chromium; each context that is opened in it is a profile of its own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=installed(), args=list(_OPTIONS))
        try:
            yield browser
        finally:
            browser.close()


class Pages:
    """Pages of one test, and their faults: errors of scripts and requests to elsewhere."""

    def __init__(
        self, browser: Browser, site: tuple[str, Path] | None = None, *, keep_policy: bool = False
    ) -> None:
        """Take the browser.

        site: an address, and the folder whose files answer requests to it. keep_policy: whether the pages' own
        Content-Security-Policy holds; most functions of Playwright need `eval`, which it forbids.
        """
        self._site, self._keep_policy = site, keep_policy
        self.problems: list[str] = []
        self._browser = browser
        self._contexts: list[BrowserContext] = []

    def __call__(
        self,
        path: Path | str,
        width: int = 1600,
        scheme: Literal["light", "dark"] = "light",
        address: str = "",
    ) -> Page:
        """Return a file, or a page of the site, opened in a window of that width (pixels); address: what follows #."""
        context = self._browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            accept_downloads=True,
            bypass_csp=not self._keep_policy,
            locale="en-GB",
        )
        context.set_default_timeout(60_000)
        self._contexts.append(context)
        context.set_offline(True)
        context.route(lambda url: not url.startswith(_LOCAL), lambda route: route.abort())
        if (site := self._site) is not None:
            context.route(f"{site[0]}**", lambda route: _answer(route, *site))
        context.on("request", lambda request: self._note_request(request.url))
        context.on("weberror", lambda error: self.problems.append(f"error: {error.error}"))
        context.on("console", self._note_message)
        page = context.new_page()
        page.on("websocket", lambda socket: self.problems.append(f"request: {socket.url}"))
        start = (
            self._site[0] + path if self._site and isinstance(path, str) else Path(path).resolve().as_uri()
        )
        page.goto(start + (f"#{address}" if address else ""))
        return page

    def close(self) -> None:
        """Close all pages."""
        for context in self._contexts:
            context.close()

    def _note_request(self, url: str) -> None:
        if not url.startswith(_LOCAL if self._site is None else (*_LOCAL, self._site[0])):
            self.problems.append(f"request: {url}")

    def _note_message(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.problems.append(f"console: {message.text}")


def _answer(route: Route, address: str, folder: Path) -> None:
    path = folder / urlsplit(route.request.url.removeprefix(address)).path
    path = path / "index.html" if path.is_dir() else path
    if path.is_file():
        route.fulfill(path=path)
    else:
        route.fulfill(status=404)


def scrolls_sideways(page: Page) -> bool:
    """Return whether the page as a whole is wider than its window."""
    return bool(
        page.evaluate("document.scrollingElement.scrollWidth > document.scrollingElement.clientWidth")
    )


def violations(page: Page, within: str | None = None) -> list[str]:
    """Return what axe-core finds on a page, or within an element of it, a line for each rule."""
    # Colours that are on their way from one to another have no contrast of their own.
    page.wait_for_function(
        "!document.getAnimations().some(each => each instanceof CSSTransition && each.playState === 'running')"
    )
    return [
        f"{rule['id']} ({rule['impact']}, {len(rule['nodes'])} elements): {rule['help']}; "
        f"{json.dumps(rule['nodes'][0]['html'][:200])} {rule['nodes'][0]['failureSummary'][:300]}"
        for rule in Axe().run(page, context=within).response["violations"]
    ]


def runs_foreign_script(page: Page) -> bool:
    """Return whether a page runs a script that was added to it after it had been loaded."""
    page.evaluate(
        """() => {
          const script = document.createElement("script");
          script.textContent = "window.foreign = 1";
          document.head.append(script);
        }"""
    )
    return bool(page.evaluate("typeof foreign !== 'undefined'"))
