"""The code of the how-tos runs, Python and bash, without the site that shows it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from support.folders import REPOSITORY

FOLDER = REPOSITORY / "vignettes" / "site" / "pages" / "howto"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "index")
CELL = re.compile(r"```\{code-cell\}\n(?::tags:[^\n]*\n\n)?(.*?)```", re.DOTALL)
BASH = re.compile(r"^```bash\n(.*?)^```", re.DOTALL | re.MULTILINE)
NOT_RUN = "pip install"


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_code_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    cells, scripts = CELL.findall(text), BASH.findall(text)
    assert cells or scripts
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {"__name__": name}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number, cell in enumerate(cells, start=1):
            exec(compile(cell, f"{name}.md, cell {number}", "exec"), space)
    plt.close("all")
    script = "\n".join(["set -euo pipefail", *(one for one in scripts if NOT_RUN not in one)])
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ran = subprocess.run(
        ["bash", "-c", script], env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_every_page_is_in_the_index() -> None:
    index = (FOLDER / "index.md").read_text(encoding="utf-8").splitlines()
    assert [name for name in PAGES if name not in index] == []
