"""Chromium, which the tests marked ``browser`` open pages in."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any


@contextlib.contextmanager
def open_chromium() -> Iterator[Any]:
    """Open the system's Chromium and close it at the end."""
    from playwright.sync_api import sync_playwright

    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert path, "pages are tested in Chromium: install Debian's package chromium"
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
