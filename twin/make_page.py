"""The page that reads a file of votes, as one file: `python twin/make_page.py FILE.html`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from llbt.data import spare_columns, wordings

HERE = Path(__file__).parent


def page() -> str:
    """Return the HTML: the twin, the names of columns that llbt knows, and the page's own script."""
    vocabulary = {
        "winners": wordings._WINNERS,
        "naming": wordings._NAMING,
        "sides": wordings._FIRST,
        "objects": [*wordings._OBJECTS, *wordings._WEAK_OBJECTS],
        "outcomes": wordings._OUTCOMES,
        "judges": wordings._JUDGES,
        "prompts": wordings._PROMPTS,
        "weights": spare_columns._STRONG,
    }
    names = {key: sorted(words) if isinstance(words, frozenset | set) else words for key, words in vocabulary.items()}
    parts = {
        "//TIERS": (HERE / "tiers.js").read_text(encoding="utf-8"),
        "//VOCABULARY": f"const VOCABULARY = {json.dumps(names)};",
        "//PAGE": (HERE / "page.js").read_text(encoding="utf-8"),
    }
    text = (HERE / "page.html").read_text(encoding="utf-8")
    for place, part in parts.items():
        text = text.replace(f"{place}\n", f"{part}\n")
    return text


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(), encoding="utf-8")
