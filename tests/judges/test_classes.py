"""Latent classes of judges: published figures, special cases, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt.errors import DesignError, FormulaError, OptionError


def by_judge(orders: dict[str, str], repeats: int = 1) -> llbt.Comparisons:
    """The comparisons of judges who order A, B and C."""
    rows = [
        (f"{who}{n}", i, j, "i" if order.index(i) < order.index(j) else "j")
        for n in range(repeats)
        for who, order in orders.items()
        for i, j in ("AB", "AC", "BC")
    ]
    return llbt.from_judgments(
        pd.DataFrame(rows, columns=["judge", "object_i", "object_j", "outcome"]), clusters="judge"
    )


ORDERS = {
    "ann": "ABC",
    "bob": "ABC",
    "cem": "ACB",
    "dan": "CBA",
    "eve": "CBA",
    "fay": "BCA",
    "gus": "CAB",
    "hal": "BAC",
}


@pytest.fixture(scope="module")
def parties(shared: Path) -> llbt.Comparisons:
    frame = pd.read_csv(shared / "data" / "german_parties_2009.csv")
    pairs = [name for name in frame.columns if ":" in name]
    long = frame.melt(id_vars="judge", value_vars=pairs, var_name="pair", value_name="first").dropna()
    long[["object_i", "object_j"]] = long["pair"].str.split(":", expand=True)
    long["outcome"] = long["first"].map({1: "i", -1: "j"})
    return llbt.from_judgments(long[["judge", "object_i", "object_j", "outcome"]], clusters="judge")


@pytest.mark.shared
def test_german_parties(parties: llbt.Comparisons, reference: Callable[[str], Any]) -> None:
    """The maximum as another program finds it, and the figures of R psychomix, which stops early."""
    found = llbt.judges.classes("object", parties, k=range(1, 7), rng=1)
    said = reference("models/german_parties_em")
    for k, value in said["loglik"].items():
        assert found[int(k)].log_likelihood == pytest.approx(value, abs=1e-5)
    four = said["four_classes"]
    np.testing.assert_allclose(found[4].shares, four["shares"], atol=1e-4)
    for label, worths in enumerate(four["worths"], start=1):
        own = llbt.worth(found[4].results(label)).to_frame().set_index("object")["estimate"]
        np.testing.assert_allclose(own[four["objects"]], worths, atol=1e-4)
    assert found[6].infinite
    assert np.isnan(found[6].bse.to_numpy()).any(axis=1).sum() == len(found[6].infinite)
    assert found[6].log_likelihood == pytest.approx(-1252.939, abs=1e-3)
    for row in reference("models/german_parties_btmix"):
        assert found[row["k"]].df == row["df"]
        assert found[row["k"]].log_likelihood == pytest.approx(row["logLik"], abs=2e-3)
        assert found[row["k"]].bic == pytest.approx(row["BIC"], abs=4e-3)


def test_one_class_is_the_fit_of_all_judges() -> None:
    c = by_judge(ORDERS)
    one, res = llbt.judges.classes("object", c, k=1, rng=1)[1], llbt.fit("object", c)
    np.testing.assert_allclose(one.params.to_numpy()[0], res.params, atol=1e-8)
    np.testing.assert_allclose(one.bse.to_numpy()[0], res.bse, atol=1e-8)
    assert one.log_likelihood == pytest.approx(res.llf_judgments, abs=1e-9)
    assert (one.entropy, one.icl) == (1.0, one.bic)


def test_a_class_answers_as_a_fit_does() -> None:
    """Its estimates are those of the judgments weighted by posteriors, as the M-step has them."""
    found = llbt.judges.classes("object", by_judge(ORDERS, 3), k=2, prior=1, rng=1)[2]
    for label in found.labels:
        own = found.results(label)
        again = llbt.fit("object", own.comparisons, prior=1)
        np.testing.assert_allclose(own.params.to_numpy(), found.params.loc[label])
        # the prior is shared out among all judgments of the pair, weighted or not
        np.testing.assert_allclose(own.params, again.params, atol=1e-5)
        assert len(llbt.pairwise(own).to_frame()) == 3
    np.testing.assert_allclose(found.posterior.sum(axis=1), 1.0)
    assert found.shares.is_monotonic_decreasing
    assert len(found.posterior) == 24
    assert len(found.by_judge.answers.repeats) == 6  # judges with the same order said the same


def test_judges_may_be_a_covariate_of_the_table() -> None:
    c = by_judge(ORDERS)
    frame = c.to_frame(clusters=True)
    split = llbt.from_counts(frame, covariates="judge")
    first, second = (llbt.judges.classes("object", table, k=2, prior=1, rng=1)[2] for table in (c, split))
    np.testing.assert_allclose(first.log_likelihood, second.log_likelihood)
    np.testing.assert_allclose(first.params, second.params, atol=1e-6)


def test_class_at_infinity_is_named_and_a_prior_keeps_it() -> None:
    c = by_judge({"ann": "ABC", "bob": "ABC", "cem": "CBA", "dan": "CBA", "eve": "BAC"}, 4)
    found = llbt.judges.classes("object", c, k=3, rng=1)[3]
    assert found.infinite
    assert "is at infinity" in str(found)
    assert not llbt.judges.classes("object", c, k=3, prior=1, rng=1)[3].infinite


def test_the_same_seed_finds_the_same_classes() -> None:
    c = by_judge(ORDERS, 2)
    one, two = (llbt.judges.classes("object", c, k=[1, 2], prior=1, rng=7, n_jobs=jobs) for jobs in (1, 2))
    assert str(one) == str(two)
    np.testing.assert_array_equal(one[2].params, two[2].params)
    assert one.best.k in (1, 2)


@pytest.mark.parametrize(
    ("formula", "options", "error", "said"),
    [
        ("object", {"k": 9}, OptionError, "at most 6"),
        ("object", {"k": 0}, OptionError, "a number of classes"),
        ("object", {"by": "rater"}, OptionError, "is not kept by this table"),
        ("object", {"common": ["tie"]}, OptionError, "terms of the formula"),
        ("object + (object | judge)", {}, OptionError, "brackets"),
        ("object + age", {}, FormulaError, "age"),
    ],
)
def test_refusals(formula: str, options: dict[str, object], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        llbt.judges.classes(formula, by_judge(ORDERS), **{"rng": 1, **options})  # type: ignore[arg-type]


def test_two_judges_are_no_classes() -> None:
    with pytest.raises(DesignError, match="2 judges"):
        llbt.judges.classes("object", by_judge({"ann": "ABC", "dan": "CAB"}), k=2, prior=1)
