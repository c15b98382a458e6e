"""The code of the how-tos runs, Python and bash, without the site that shows it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from support.folders import REPOSITORY

import llbt

FOLDER = REPOSITORY / "vignettes" / "site" / "pages" / "howto"
PAGES = sorted(path.stem for path in FOLDER.glob("*.md") if path.stem != "index")
CELL = re.compile(r"```\{code-cell\}\n(?::tags:[^\n]*\n\n)?(.*?)```", re.DOTALL)
BASH = re.compile(r"^```bash\n(.*?)^```", re.DOTALL | re.MULTILINE)
R = re.compile(r"^```r\n(.*?)^```", re.DOTALL | re.MULTILINE)
NOT_RUN = "pip install"


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_code_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (FOLDER / f"{name}.md").read_text(encoding="utf-8")
    cells, scripts = CELL.findall(text), BASH.findall(text)
    assert cells or scripts or R.search(text)
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


@pytest.mark.slow
def test_r_gets_the_numbers_of_python(tmp_path: Path) -> None:
    """R 4.2.2 and reticulate 1.28 of Debian 12 run the page (November 2026, with numpy 2.4 and pandas 3.1)."""
    if (
        shutil.which("Rscript") is None
        or subprocess.run(["Rscript", "-e", "library(reticulate)"], check=False).returncode
    ):
        pytest.skip("no R with reticulate")
    blocks = R.findall((FOLDER / "from-r.md").read_text(encoding="utf-8"))
    for_python = """
write.csv(votes, "votes.csv", row.names = FALSE)
writeLines(sprintf("%.12f", rows(res)$std.error), "errors.txt")
writeLines(sprintf("%.12f", rows(llbt$residuals(res, most = 3L))$.resid), "residuals.txt")
lost <- transform(votes, object_i = factor(c(NA, object_i[-1])))
stopifnot(grepl("1 missing value", try(llbt$from_judgments(lost))))
llbt$plot$worth(res)$figure$savefig("worth.png")
"""
    (tmp_path / "page.R").write_text("\n".join([*blocks, for_python]), encoding="utf-8")
    paths = {"RETICULATE_PYTHON": sys.executable, "PYTHONPATH": str(REPOSITORY), "MPLBACKEND": "agg"}
    ran = subprocess.run(
        ["Rscript", "page.R"], cwd=tmp_path, env=os.environ | paths, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    votes = llbt.from_judgments(pd.read_csv(tmp_path / "votes.csv"), clusters="judge")
    res = llbt.fit("object + tie", votes)
    assert np.loadtxt(tmp_path / "errors.txt") == pytest.approx(res.bse.to_numpy(), abs=1e-11)
    assert np.loadtxt(tmp_path / "residuals.txt") == pytest.approx(
        llbt.residuals(res)["residual"].to_numpy(), abs=1e-11
    )
    assert {"std.error", "logLik", ".resid"} <= set(re.findall(r"[\w.]+", ran.stdout))
    assert (tmp_path / "worth.png").stat().st_size > 1000


def test_every_page_is_in_the_index() -> None:
    index = (FOLDER / "index.md").read_text(encoding="utf-8").splitlines()
    assert [name for name in PAGES if name not in index] == []
