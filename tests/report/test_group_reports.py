"""A page on groups of judges has their tables and pictures beside the report of all judges."""

import html
import re
from pathlib import Path

import pytest
from support.calls import counts_of_judges, judged_by_age

import llbt
from llbt.errors import OptionError


@pytest.mark.slow
def test_a_page_tells_classes_of_judges_apart(tmp_path: Path) -> None:
    models = llbt.judges.classes("object + tie", counts_of_judges(), k=[1, 2], starts=5, prior=1, rng=1)
    page = llbt.write_report(models, tmp_path / "a.html").read_text(encoding="utf-8")
    part = _section(page, "classes")
    for said in (
        "Latent classes of judge: object + tie",
        f"This section describes {models.best.k} class",
        "smallest BIC",
        "Shares of the 8 judges",
        "by class of judge",
        "Probability of each class, given all judgments",
        "differ less than the classes do",
    ):
        assert said in part, said
    assert part.count("<svg") == 2
    assert html.escape(llbt.interpret(models.best).sentences["class 1"]) in part
    for one in models.fits:
        assert f'data-value="{float(one.n_params)}"' in part
    assert "The section on classes of judges" in page
    assert "llbt.judges.classes(" in page
    assert "Does the model fit?" in page
    two = _section(llbt.write_report(models[2], tmp_path / "b.html").read_text(encoding="utf-8"), "classes")
    assert "smallest BIC" not in two
    assert "class 2" in two
    with pytest.raises(OptionError, match="is for data, and this is a fit"):
        llbt.write_report(models, tmp_path / "c.html", formula="object")


@pytest.mark.slow
@pytest.mark.parametrize("honest", [False, True])
def test_a_page_shows_a_tree_of_judges(honest: bool, tmp_path: Path) -> None:
    tree = llbt.judges.tree("object", judged_by_age(), alpha=0.999, min_size=2, honest=honest, rng=1)
    page = llbt.write_report(tree, tmp_path / "a.html").read_text(encoding="utf-8")
    part = _section(page, "tree")
    lines = tree.table().head
    assert len(lines) == len(tree.nodes)
    for line in lines:
        assert f'<div class="foot">{line.replace("<", "&lt;").replace(">", "&gt;")}</div>' in part
    assert ("Errors are conditional on the tree" in part) is not tree.honest
    assert ("Leaves are estimated from judges who were not used" in part) is tree.honest
    assert part.count("<svg") == 1
    assert "Stability of the parameters" in part
    assert "llbt.judges.tree(&#x27;object&#x27;" in page


def _section(page: str, name: str) -> str:
    found = re.search(rf'<section id="{name}">.*?</section>', page, re.DOTALL)
    assert found is not None
    return found[0]
