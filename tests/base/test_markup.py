"""Tables in a notebook: sorted by a click, and labels that hold markup do nothing."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from lxml import html

import llbt
from llbt.base.markup import _SORT, sortable

HOSTILE = ["<img src=x onerror=alert(1)>", "<thead onclick='alert(2)'>", "');alert(3);//"]


def test_a_click_sorts_and_labels_stay_text() -> None:
    res = llbt.fit("object", llbt.from_matrix([[0, 7, 4], [3, 0, 5], [2, 6, 0]], names=HOSTILE))
    document = html.fragment_fromstring(llbt.leaderboard(res)._repr_html_())
    handlers = [(e.tag, name) for e in document.iter() for name in e.attrib if name.startswith("on")]
    assert handlers == [("thead", "onclick")]
    assert document.find("thead").get("onclick") == _SORT
    assert not list(document.iter("script", "img"))
    cells = [cell.text_content() for cell in document.find("tbody").iter("td")]
    assert set(HOSTILE) <= set(cells)


def test_a_paragraph_has_nothing_to_sort() -> None:
    assert sortable("<p>words</p>") == "<p>words</p>"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_rows_are_sorted_by_numbers_and_by_letters() -> None:
    """The script on rows that stand in for those of a browser: twice by a column of each kind."""
    script = f"""
    const rows = [["Nb", "0.5", "[-0.5, 1]"], ["a", "-2", "[3, 4]"], ["c", "<2e-16", "NA"], ["d", "1,200", "[-9, 0]"]]
      .map(t => ({{cells: t.map(x => ({{textContent: x}}))}}));
    const body = {{rows, append(r) {{ this.rows = this.rows.filter(x => x !== r).concat([r]); }}}};
    const head = {{parentNode: {{tBodies: [body]}}, dataset: {{}}}};
    const click = k => {{
      (function (event) {{ {_SORT} }}).call(head, {{target: {{closest: () => ({{cellIndex: k}})}}}});
      console.log(body.rows.map(r => r.cells[0].textContent).join(""));
    }};
    for (const k of [1, 1, 2, 0]) click(k);
    """
    done = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["acNbd", "dNbca", "dNbac", "acdNb"]
