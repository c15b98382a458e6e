"""What predictions print: rows of the comparisons asked for, a matrix of many."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import llbt


def many(order: bool = False) -> llbt.LLBTResults:
    rng = np.random.default_rng(2)
    names = [f"m{k:02d}" for k in range(18)]
    pairs = list(itertools.permutations(range(18), 2))
    wins = [rng.binomial(8, 1 / (1 + np.exp((i - j) / 6))) for i, j in pairs]
    frame = pd.DataFrame(pairs, columns=["object_i", "object_j"]).map(lambda k: names[k])
    c = llbt.from_counts(frame.assign(wins_i=wins, ties=2, wins_j=[8 - w for w in wins]), order=order)
    return llbt.fit("object + tie + order" if order else "object + tie", c)


def test_comparisons_asked_for_print_in_a_row_each() -> None:
    res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    found = res.predict(pd.DataFrame({"object_i": ["A", "B"], "object_j": ["C", "D"]}))
    assert len(found.to_frame()) == 6
    lines = found.as_text().split("\n\n")[1].split("\n")
    assert lines[0].split() == ["Object", "i", "Object", "j", "P(i", "wins)", "95", "%", "CI", "P(tie)", "P(j", "wins)"]
    assert len(lines) == 3
    frame = found.to_frame().set_index(["object_i", "outcome"])["estimate"]
    assert float(lines[1].split()[-1]) == pytest.approx(frame["A", "j"], abs=5e-3)


@pytest.mark.parametrize("order", [False, True])
def test_many_pairs_print_as_a_matrix(order: bool) -> None:
    res = many(order)
    found = res.predict(at={})
    matrix = found.table().printed
    assert matrix is not None
    assert matrix.title.endswith("the row's object shown first") is order
    assert len(matrix) == 15
    text = found.as_text()
    assert "… 3 more objects: .to_frame() has all pairs, with intervals" in text
    assert max(map(len, text.split("\n\n")[1].split("\n"))) <= 88
    frame = found.to_frame().set_index(["object_i", "object_j", "outcome"])["estimate"]
    labels = [label.split()[1] for label in matrix["object"]]
    for k, row in enumerate(labels[:4]):
        for m, column in enumerate(labels[:4]):
            cell = matrix[str(m + 1)][k]
            if row == column:
                assert np.isnan(cell)
                continue
            place = (row, column, "i") if (row, column, "i") in frame.index else (column, row, "j")
            assert cell == frame[place]


def test_latex_and_frames_have_all_rows() -> None:
    found = many().predict(at={})
    assert len(found.to_frame()) == 3 * 18 * 17 / 2
    assert found.as_latex().count(r"\\") > 400
