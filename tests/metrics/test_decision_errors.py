"""Errors of one metric where another is right."""

import itertools
import math

import numpy as np
from support.decided import ragged

import llbt
from llbt.metrics.decision_errors import error_agreement
from llbt.metrics.decisions import decisions_from_tests


def test_errors_of_one_metric_where_another_is_right():
    human = ragged(24, systems=10)
    truth = np.array([row.mean() for row in human])[:, None]
    rng = np.random.default_rng(25)
    tables = {
        name: llbt.metrics.decisions(truth + noise * rng.normal(size=(10, 50)), human)
        for name, noise in (("sure", 0.3), ("fair", 1.0), ("blind", 3.0))
    }
    found = error_agreement(tables)
    names = list(tables)
    right = {name: [o in ("both", "neither") for o in table.outcome] for name, table in tables.items()}
    kinds = {"type_1": ("metric_only", "opposite"), "type_2": ("humans_only",)}
    for kind, outcomes in kinds.items():
        for a, b in itertools.product(range(3), range(3)):
            wrong = [o in outcomes for o in tables[names[a]].outcome]
            expected = sum(w and (a == b or r) for w, r in zip(wrong, right[names[b]], strict=True))
            assert getattr(found, kind)[a, b] == expected
    assert found.type_1.sum() > 0
    assert found.type_2.sum() > 0
    frame = found.to_frame()
    assert frame["type_1"].tolist() == found.type_1.ravel().tolist()
    assert frame["other"].tolist()[:3] == ["(all errors)", "fair", "blind"]


def test_undefined_pairs_of_one_metric_are_left_out_of_all():
    humans = ([1.0, 1.0], [0.01, 0.01])
    one = decisions_from_tests([1.0, 1.0], [0.5, 0.5], *humans)
    other = decisions_from_tests([1.0, 1.0], [0.01, math.nan], *humans)
    found = error_agreement({"one": one, "other": other})
    assert found.n == 1
    assert found.type_2.tolist() == [[1, 1], [0, 0]]
    assert "1 pair without a p-value" in found.notes[0]
