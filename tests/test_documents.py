"""What the README shows is what its code prints."""

import contextlib
import io
import re
import warnings
from pathlib import Path

import pytest

README = Path(__file__).parent.parent / "README.md"
BLOCK = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)


def printed(code: str, names: dict[str, object]) -> str:
    """Run a block and return what it prints, or the error that it ends with."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(code, names)
        except ValueError as error:
            return f"{type(error).__name__}: {error}\n"
    return out.getvalue()


def test_readme_prints_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict[str, object] = {}
    blocks = BLOCK.findall(README.read_text(encoding="utf-8"))
    assert len(blocks) >= 6
    shown = 0
    for code, expected in blocks:
        found = printed(code, names)
        assert "".join(found.split()) == "".join(expected.split())
        shown += bool(expected)
    assert shown >= 5
