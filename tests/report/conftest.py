"""A browser for the report, where there is one."""

import os
import shutil

import pytest

#: Chromium without its own traffic: what is requested then is what the page asks for.
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not found:
        pytest.skip("no chromium (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as engine:
        opened = engine.chromium.launch(executable_path=found, args=OPTIONS)
        yield opened
        opened.close()
