"""Build the site, warnings as errors, and follow every link in it: ``python -m vignettes.site [FOLDER]``."""

import argparse
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.cmd.build import build_main

HERE = Path(__file__).parent
_DRAWS = re.compile(r"^ax = llbt\.plot\.", re.MULTILINE)
FOLDER = HERE.parents[1] / "build" / "site"


class Page(HTMLParser):
    """What a page links to, and the anchors that it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("id", "name") and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append(value)


def dead_links(folder: Path) -> list[str]:
    """Return the links within the site that lead nowhere, each with its page; links to other sites are not checked."""
    paths = [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.relative_to(folder).parts]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in paths}  # the theme's templates are none
    dead = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            there = target.exists()
            if there and target in pages:
                there = unquote(parts.fragment) in pages[target].anchors
            if not there:
                dead.append(f"{path.relative_to(folder)}: {link}")
    return dead


def without_pictures(folder: Path) -> list[str]:
    """Return the pages with code that draws, but without a picture."""
    drawing = [page for page in HERE.rglob("*.md") if _DRAWS.search(page.read_text(encoding="utf-8"))]
    built = [folder / page.relative_to(HERE).with_suffix(".html") for page in drawing]
    return [page.relative_to(folder).as_posix() for page in built if "<img" not in page.read_text(encoding="utf-8")]


def main() -> int:
    parser = argparse.ArgumentParser(description="Build the site, and follow its links.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER, help="where to (build/site)")
    folder = parser.parse_args().folder.resolve()
    os.environ.pop("MPLBACKEND", None)  # with another backend than the notebook's no picture gets into the pages
    if code := build_main(["-q", "-W", "--keep-going", str(HERE), str(folder)]):
        return code
    dead, bare = dead_links(folder), without_pictures(folder)
    for fault in (*dead, *(f"{name} draws and shows no picture" for name in bare)):
        print(fault)
    print(f"{folder}: {sum(1 for _ in folder.rglob('*.html'))} pages, {len(dead)} dead links")
    return int(bool(dead or bare))


if __name__ == "__main__":
    sys.exit(main())
