"""What `python -m benchmarks.lines` counts, on a package small enough to count by hand and on this one."""

from pathlib import Path

import pytest
from support.folders import REPOSITORY
from support.surface import public

from benchmarks import lines

SOURCE = '''"""A module.

Of two paragraphs.
"""

import os  # code, with a comment

# a comment


def f(a, *, b=(1,
               2)):
    """Return."""
    text = """no
    docstring"""
    return os, text
'''


def test_lines_of_logic_are_those_with_code() -> None:
    # import; def over two lines; text over two lines; return
    assert lines.counted(SOURCE) == lines.Size(files=1, lines=16, logic=6, statements=4)


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Make a package of the same name with one namespace and a public function of nine parameters in a room."""
    (tmp_path / "llbt" / "plot").mkdir(parents=True)
    (tmp_path / "llbt" / "__init__.py").write_text(
        "from . import plot\nfrom .plot.wide import wide\n__all__ = ['plot', 'wide']\n", encoding="utf-8"
    )
    (tmp_path / "llbt" / "base.py").write_text("", encoding="utf-8")
    (tmp_path / "llbt" / "plot" / "__init__.py").write_text(
        "from .worth import worth\n__all__ = ['worth']\n", encoding="utf-8"
    )
    (tmp_path / "llbt" / "plot" / "worth.py").write_text(
        "from .. import base\n\n\ndef worth(a): ...\n", encoding="utf-8"
    )
    (tmp_path / "llbt" / "plot" / "wide.py").write_text(
        "def wide(a, b, c, d, /, e, f, *, g, h, i): ...\n", encoding="utf-8"
    )
    return tmp_path


def test_a_shape_has_rooms_names_and_the_longest_chain(small: Path) -> None:
    found = lines.shape(small)
    assert found.rooms == {
        "(root)": lines.Size(files=2, lines=3, logic=3, statements=3),
        "plot": lines.Size(files=3, lines=7, logic=5, statements=7, names=2, wide=1),
    }
    assert found.wide == {"wide": 9}
    assert found.chain == ["llbt", "llbt.plot", "llbt.plot.worth", "llbt.base"]
    assert "longest import path: 4: llbt > llbt.plot > llbt.plot.worth > llbt.base" in lines.shown(found)


def test_the_names_read_from_the_files_are_those_of_the_running_package() -> None:
    assert lines.surface(REPOSITORY).keys() == public().keys()
