"""What must not change the answer, and what must change it in a known way (hypothesis).

The random tables have positive counts in all cells, so every estimate exists; nothing is left out by assume.
"""

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.fits import fit_by

import llbt
from llbt import Comparisons, LLBTResults

# Both solvers stop within 1e-9 standard errors of the maximum; another path there ends as near.
ESTIMATE = 1e-8
# Deviances are sums of some hundred logs of counts up to 10⁵.
DEVIANCE = 1e-8

pytestmark = pytest.mark.slow

COUNTS = ["wins_i", "ties", "wins_j"]
OBJECTS = "ABCDE"
MODELS = ("object + tie", "object * judge + tie", "object * judge + tie * judge", "object + tie:pair")
ORDERED = ("object + tie + order", "object * judge + tie * judge + order:judge", "object + order:object + tie")
every_method = pytest.mark.parametrize("method", ["glm", "eliminate"])
few = settings(max_examples=12)
fewer = settings(max_examples=5)


def close(found, expected, atol=ESTIMATE, rtol=0.0):
    np.testing.assert_allclose(np.asarray(found, float), np.asarray(expected, float), rtol=rtol, atol=atol)


@dataclass(frozen=True)
class Example:
    """Rows of counts: all pairs of some objects by two judges; both ways round if `ordered`."""

    frame: pd.DataFrame
    ordered: bool = False

    @property
    def objects(self) -> list[str]:
        return sorted({*self.frame["object_i"], *self.frame["object_j"]})

    def table(self, frame: pd.DataFrame | None = None, **options) -> Comparisons:
        options = {"covariates": "judge", "order": self.ordered} | options
        return llbt.from_counts(self.frame if frame is None else frame, **options)


@st.composite
def examples(draw: st.DrawFn, *, ordered: bool = False) -> Example:
    objects = OBJECTS[: draw(st.integers(3, 5))]
    pairs = [(a, b) if draw(st.booleans()) else (b, a) for a, b in itertools.combinations(objects, 2)]
    pairs += [(b, a) for a, b in pairs] if ordered else []
    rows = [(a, b, judge) for a, b in pairs for judge in ("J1", "J2")]
    count = st.integers(1, 50) | st.sampled_from([0.5, 2.25, 400])
    counts = draw(st.lists(st.tuples(count, count, count), min_size=len(rows), max_size=len(rows)))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge"])
    frame[COUNTS] = np.array(counts, dtype=float)
    return Example(frame, ordered)


models = st.sampled_from(MODELS)
ordered_models = st.sampled_from(ORDERED)


def judged_worths(res: LLBTResults) -> pd.Series:
    """λ of every object in every class, less their mean: no reference left in them."""
    frame = llbt.worth(res, scale="log_worth").to_frame()
    classes = [name for name in ("judge",) if name in frame]
    found = frame.set_index([*classes, "object"])["estimate"].sort_index()
    return found - (found.groupby(level="judge").transform("mean") if classes else found.mean())


def assert_same_numbers(a: LLBTResults, b: LLBTResults) -> None:
    """Everything that neither names nor order of the parameters can change."""
    close(a.deviance, b.deviance, DEVIANCE, DEVIANCE)
    close(a.null_deviance, b.null_deviance, DEVIANCE, DEVIANCE)
    close(a.pearson_chi2, b.pearson_chi2, DEVIANCE, DEVIANCE)
    close(a.llf, b.llf, DEVIANCE, DEVIANCE)
    assert (a.df_resid, a.df_model, a.nobs) == (b.df_resid, b.df_model, b.nobs)


def assert_same_fit(a: LLBTResults, b: LLBTResults) -> None:
    assert a.params.index.tolist() == b.params.index.tolist()
    close(a.params, b.params)
    close(a.cov_params(), b.cov_params())
    assert_same_numbers(a, b)
    close(a.fittedvalues, b.fittedvalues, ESTIMATE, ESTIMATE)


# -- rows ------------------------------------------------------------------------------------------------------------


@few
@given(examples(), models, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(example, formula, random):
    order = list(range(len(example.frame)))
    random.shuffle(order)
    assert example.table(example.frame.iloc[order]) == example.table()
    assert_same_fit(llbt.fit(formula, example.table(example.frame.iloc[order])), llbt.fit(formula, example.table()))


def turned(frame: pd.DataFrame, rows=slice(None)) -> pd.DataFrame:
    """Exchange the objects of some rows, and their wins: the same judgments, the other one shown first."""
    found = frame.copy()
    swap = {"object_i": "object_j", "object_j": "object_i", "wins_i": "wins_j", "wins_j": "wins_i"}
    for to, source in swap.items():
        found.loc[rows, to] = frame.loc[rows, source]
    return found


@few
@given(examples(), models, st.data())
def test_swapping_i_and_j_does_not_matter_where_order_is_not_kept(example, formula, data):
    rows = data.draw(st.lists(st.booleans(), min_size=len(example.frame), max_size=len(example.frame)))
    swapped = example.table(turned(example.frame, np.array(rows)))
    assert swapped == example.table()
    assert_same_fit(llbt.fit(formula, swapped), llbt.fit(formula, example.table()))


@few
@given(examples(), models, st.data())
def test_splitting_rows_does_not_matter(example, formula, data):
    """Rows that repeat a comparison are summed, here in shares of 1/4, 1/2 or all of it."""
    shares = data.draw(st.lists(st.sampled_from([0.25, 0.5, 1.0]), min_size=len(example.frame), max_size=20))
    share = np.resize(shares, len(example.frame))[:, None]
    parts = [example.frame.assign(**dict(zip(COUNTS, (example.frame[COUNTS] * s).T.to_numpy(), strict=True)))
             for s in (share, 1 - share)]  # fmt: skip
    assert_same_fit(
        llbt.fit(formula, example.table(pd.concat(parts, ignore_index=True))), llbt.fit(formula, example.table())
    )


@few
@given(examples(ordered=True), st.sampled_from(["object + tie", "object + tie:pair"]))
def test_aggregating_rows_changes_only_what_tests_the_fit(example, formula):
    """By judge and presentation, by judge, and pooled: one set of estimates, three deviances."""
    fits = [
        llbt.fit(formula, table)
        for table in (example.table(), example.table(order=False), example.table(order=False).pool())
    ]
    for res in fits[1:]:
        close(res.params, fits[0].params)
        close(res.cov_params(), fits[0].cov_params())
        close(res.null_deviance - res.deviance, fits[0].null_deviance - fits[0].deviance, DEVIANCE, DEVIANCE)
    pairs = len(list(itertools.combinations(example.objects, 2)))
    estimated = len(fits[0].params)
    assert [res.df_resid for res in fits] == [2 * n * pairs - estimated for n in (4, 2, 1)]
    assert fits[0].deviance >= fits[1].deviance - DEVIANCE
    assert fits[1].deviance >= fits[2].deviance - DEVIANCE


@few
@given(examples(), models)
def test_judgments_and_counts_are_the_same_table(example, formula):
    frame = example.frame.assign(**{name: np.ceil(example.frame[name]) for name in COUNTS})
    long = frame.melt(id_vars=["object_i", "object_j", "judge"], value_vars=COUNTS, var_name="outcome", value_name="n")
    long["outcome"] = long["outcome"].map({"wins_i": "i", "ties": "tie", "wins_j": "j"})
    judgments = llbt.from_judgments(long, weights="n", covariates="judge")
    assert judgments == example.table(frame)
    assert_same_fit(llbt.fit(formula, judgments), llbt.fit(formula, example.table(frame)))


# -- names -----------------------------------------------------------------------------------------------------------


@few
@given(examples(), models, st.data())
def test_relabelling_objects_moves_the_worths_with_them(example, formula, data):
    objects = example.objects
    new = dict(zip(objects, data.draw(st.permutations(objects)), strict=True))
    relabelled = example.frame.replace({"object_i": new, "object_j": new})
    before = llbt.fit(formula, example.table())
    after = llbt.fit(formula, example.table(relabelled), reference=new[before.design.reference])
    assert_same_numbers(after, before)
    plain = [o for o in objects if o != before.design.reference]
    names, moved = ([f"object[{label}]" for label in labels] for labels in (plain, [new[o] for o in plain]))
    close(after.params[moved], before.params[names])
    close(after.bse[moved], before.bse[names])
    close(after.cov_params().loc[moved, moved], before.cov_params().loc[names, names])
    ties = [name for name in before.params.index if name.startswith("tie") and "pair" not in name]
    close(after.params[ties], before.params[ties])
    close(after.bse[ties], before.bse[ties])
    for pair in itertools.combinations(objects, 2) if "pair" in formula else ():
        close(
            after.params[f"tie:pair[{':'.join(sorted(new[o] for o in pair))}]"],
            before.params[f"tie:pair[{':'.join(pair)}]"],
        )


@few
@given(examples(), models, st.data())
def test_the_reference_changes_only_what_is_compared_with_it(example, formula, data):
    reference = data.draw(st.sampled_from(example.objects))
    last, other = llbt.fit(formula, example.table()), llbt.fit(formula, example.table(), reference=reference)
    assert_same_numbers(other, last)
    close(other.fittedvalues, last.fittedvalues, ESTIMATE, ESTIMATE)
    close(other.hat_diag, last.hat_diag)
    close(judged_worths(other), judged_worths(last))
    shared = [name for name in last.params.index if name.startswith("tie")]
    close(other.params[shared], last.params[shared])
    close(other.cov_params().loc[shared, shared], last.cov_params().loc[shared, shared])
    probability = [llbt.worth(res).to_frame().sort_values("object", kind="stable") for res in (last, other)]
    sorting = [c for c in ("judge", "object") if c in probability[0]]
    close(*(p.sort_values(sorting)[["estimate", "std_error", "conf_low", "conf_high"]] for p in probability))
    for a, b in itertools.combinations(example.objects, 2):
        found = [
            res.t_test(f"object[{a}] = object[{b}]").to_frame()[["estimate", "std_error"]] for res in (last, other)
        ]
        close(*found)


@few
@given(examples(), st.sampled_from(["object + tie", "object * judge + tie"]))
def test_every_coding_of_the_objects_gives_the_same_fit(example, formula):
    treatment = llbt.fit(formula, example.table())
    sums = llbt.fit(formula.replace("object", "C(object, Sum)"), example.table())
    assert_same_numbers(sums, treatment)
    close(sums.fittedvalues, treatment.fittedvalues, ESTIMATE, ESTIMATE)
    close(judged_worths(sums), judged_worths(treatment))


LABELS = {
    "integers": [10, 9, 2, -3, 100],
    "text of digits": ["10", "9", "2", "-3", "100"],
    "numbers and text": [10, "b", 2, "a", "1"],
    "spaces": ["a b", " a", "a ", "two  spaces", "tab\tbed"],
    "brackets": ["a[1]", "[b]", "(c)", "{d}", "]"],
    "operators": ["a=b", "a + b", "a*b", "a:b", "~a"],
    "treatment": ["[T.a]", "T.", "a[T.b]", "x[T.", "object[T.A]"],
    "commas": ["a,b", ",", "a, b", "a;b", "a.b"],
    "quotes": ["it's", '"quoted"', "back\\slash", "`tick`", "per%cent"],
    "unicode": ["Łódź", "東京", "naïve", "λ", "🙂"],
    "words": ["object", "tie", "order", "judge", "Intercept"],
    "numbers of Python": ["nan", "None", "True", "1e3", "inf"],
    "bytes of nothing": ["", "-", "NA", "null", "0"],
}
FIXED = Example(
    pd.DataFrame(
        [
            ("A", "B", "J1", 7, 3, 4), ("A", "C", "J1", 9, 2, 5), ("A", "D", "J1", 3, 3, 8), ("A", "E", "J1", 6, 1, 6),
            ("B", "C", "J1", 5, 5, 5), ("B", "D", "J1", 2, 4, 9), ("B", "E", "J1", 8, 2, 3), ("C", "D", "J1", 1, 2, 9),
            ("C", "E", "J1", 4, 3, 7), ("D", "E", "J1", 9, 1, 2), ("A", "B", "J2", 4, 1, 9), ("A", "C", "J2", 6, 2, 2),
            ("A", "D", "J2", 5, 6, 5), ("A", "E", "J2", 3, 3, 3), ("B", "C", "J2", 9, 1, 3), ("B", "D", "J2", 7, 2, 2),
            ("B", "E", "J2", 6, 4, 6), ("C", "D", "J2", 2, 2, 8), ("C", "E", "J2", 5, 1, 8), ("D", "E", "J2", 4, 4, 4),
        ],
        columns=["object_i", "object_j", "judge", *COUNTS],
    )
)  # fmt: skip


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("formula", ["object + tie", "object * judge + tie", "object + tie:pair"])
def test_labels_of_objects_do_not_change_the_numbers(kind, formula):
    """And they stand in the names as they are: only patsy's own ``[T.`` is reduced."""
    new = dict(zip(OBJECTS, LABELS[kind], strict=True))
    frame = FIXED.frame.assign(**{side: FIXED.frame[side].map(new).astype(object) for side in ("object_i", "object_j")})
    before = llbt.fit(formula, FIXED.table(), reference="E")
    after = llbt.fit(formula, FIXED.table(frame), reference=new["E"])
    assert set(after.comparisons.objects) == set(LABELS[kind])
    assert_same_numbers(after, before)
    suffixes = ["", ":judge[J2]"] if "judge" in formula else [""]
    names = [f"object[{o}]{suffix}" for o in "ABCD" for suffix in suffixes]
    moved = [f"object[{new[o]}]{suffix}" for o in "ABCD" for suffix in suffixes]
    close(after.params[moved], before.params[names])
    close(after.bse[moved], before.bse[names])
    assert sorted(after.params.index[: len(names)]) == sorted(moved)
    found = llbt.worth(after).to_frame()
    assert set(found["object"]) == set(LABELS[kind])
    best = llbt.worth(before).to_frame()
    close(found["estimate"], best["estimate"])
    assert found["object"].tolist() == [new[o] for o in best["object"]]
    printed = str(after.summary())
    assert all(name.split("\t")[0] in printed for name in moved)


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_covariates_do_not_change_the_numbers(kind):
    first, second = sorted(LABELS[kind][:2], key=lambda x: (isinstance(x, str), x))
    frame = FIXED.frame.assign(judge=FIXED.frame["judge"].map({"J1": first, "J2": second}).astype(object))
    formula = "object * judge + tie * judge"
    before, after = llbt.fit(formula, FIXED.table()), llbt.fit(formula, FIXED.table(frame))
    assert after.params.index.tolist() == [name.replace("[J2]", f"[{second}]") for name in before.params.index]
    close(after.params, before.params)
    close(after.cov_params(), before.cov_params())
    assert_same_numbers(after, before)


@pytest.mark.parametrize(
    ("first", "second", "dtype"),
    [
        (False, True, "bool"),
        (False, True, "boolean"),
        (0, 1, "int64"),
        (7, 30, "int8"),
        (1, 2, "Int64"),
        ("a", "b", "string"),
        ("a", "b", "category"),
        (-1, 5, "category"),
        (pd.Timestamp("2020-01-31"), pd.Timestamp("2020-02-01"), "datetime64[ns]"),
    ],
)
def test_booleans_integers_and_dates_are_labels(first, second, dtype):
    frame = FIXED.frame.assign(judge=FIXED.frame["judge"].map({"J1": first, "J2": second}).astype(dtype))
    formula = "object * judge + tie * judge"
    before, after = llbt.fit(formula, FIXED.table()), llbt.fit(formula, FIXED.table(frame))
    assert [name for name in after.params.index if name.endswith(":judge")] == []  # no slope
    close(after.params, before.params)
    close(after.bse, before.bse)
    assert_same_numbers(after, before)


@pytest.mark.parametrize("categories", [["J1", "J2"], ["J2", "J1"], ["J2", "unused", "J1"]])
def test_the_order_of_categories_does_not_matter(categories):
    objects = ["E", "A", "never", "C", "B", "D"]
    frame = FIXED.frame.assign(
        judge=pd.Categorical(FIXED.frame["judge"], categories=categories, ordered=True),
        object_i=pd.Categorical(FIXED.frame["object_i"], categories=objects),
        object_j=pd.Categorical(FIXED.frame["object_j"], categories=objects[::-1]),
    )
    assert FIXED.table(frame) == FIXED.table()
    formula = "object * judge + tie * judge"
    assert_same_fit(llbt.fit(formula, FIXED.table(frame)), llbt.fit(formula, FIXED.table()))


@pytest.mark.parametrize("library", ["polars", "polars lazy", "pyarrow", "polars categorical"])
@fewer
@given(examples(ordered=True), st.sampled_from([*MODELS, *ORDERED]))
def test_the_library_of_the_frame_does_not_matter(library, example, formula):
    frame = pl.from_dict({name: example.frame[name].tolist() for name in example.frame})
    other = {
        "polars": lambda: frame,
        "polars lazy": frame.lazy,
        "pyarrow": lambda: pa.table({name: example.frame[name].tolist() for name in example.frame}),
        "polars categorical": lambda: frame.with_columns(pl.col("object_i", "object_j", "judge").cast(pl.Categorical)),
    }[library]()
    assert example.table(other) == example.table()
    assert_same_fit(llbt.fit(formula, example.table(other)), llbt.fit(formula, example.table()))


# -- scale and symmetry ----------------------------------------------------------------------------------------------


@few
@given(examples(ordered=True), st.sampled_from([*MODELS, *ORDERED]), st.sampled_from([0.25, 2.0, 3.0, 1000.0]))
def test_scaling_all_counts(example, formula, k):
    scaled = example.frame.assign(**{name: k * example.frame[name] for name in COUNTS})
    one, many = llbt.fit(formula, example.table()), llbt.fit(formula, example.table(scaled))
    close(many.params, one.params)
    close(many.cov_params() * k, one.cov_params())
    close(many.deviance / k, one.deviance, DEVIANCE, DEVIANCE)
    close(many.null_deviance / k, one.null_deviance, DEVIANCE, DEVIANCE)
    close(many.pearson_chi2 / k, one.pearson_chi2, DEVIANCE, DEVIANCE)
    close(many.fittedvalues / k, one.fittedvalues, ESTIMATE, ESTIMATE)
    close(many.hat_diag, one.hat_diag)
    assert many.df_resid == one.df_resid


def is_order(res: LLBTResults) -> np.ndarray:
    return np.array([block == "order" for block in res.design.blocks])


def is_tie(res: LLBTResults) -> np.ndarray:
    return np.array([block == "tie" for block in res.design.blocks])


@few
@given(examples(ordered=True), st.sampled_from(ORDERED[:2]))
def test_showing_every_pair_the_other_way_round_turns_the_order_effect(example, formula):
    """Who won stays, who was shown first does not: δ → −δ, λ and γ stay."""
    before, after = llbt.fit(formula, example.table()), llbt.fit(formula, example.table(turned(example.frame)))
    sign = np.where(is_order(before), -1.0, 1.0)
    assert sign.min() == -1
    close(after.params, sign * before.params)
    close(after.cov_params(), np.outer(sign, sign) * before.cov_params())
    assert_same_numbers(after, before)


def reversed_outcomes(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.rename(columns={"wins_i": "wins_j", "wins_j": "wins_i"})


@few
@given(examples(ordered=True), st.sampled_from([*MODELS, *ORDERED]))
def test_reversing_every_outcome_turns_worths_and_order_effects(example, formula):
    """Losers win: λ → −λ and δ → −δ, γ stays."""
    before, after = (llbt.fit(formula, example.table(f)) for f in (example.frame, reversed_outcomes(example.frame)))
    sign = np.where(is_tie(before), 1.0, -1.0)
    close(after.params, sign * before.params)
    close(after.cov_params(), np.outer(sign, sign) * before.cov_params())
    assert_same_numbers(after, before)


@few
@given(examples(ordered=True), st.sampled_from(ORDERED[:2]))
def test_half_a_turn_turns_the_worths_alone(example, formula):
    """Objects change places and the counts stay where they are: λ → −λ, while δ and γ stay."""
    exchanged = example.frame.rename(columns={"object_i": "object_j", "object_j": "object_i"})
    before, after = (llbt.fit(formula, example.table(f)) for f in (example.frame, exchanged))
    sign = np.where(is_tie(before) | is_order(before), 1.0, -1.0)
    close(after.params, sign * before.params)
    close(after.cov_params(), np.outer(sign, sign) * before.cov_params())
    assert_same_numbers(after, before)


@few
@given(examples(ordered=True), st.sampled_from([*MODELS, *ORDERED]))
def test_fitted_margins_are_the_observed_ones(example, formula):
    """The likelihood equations of any maximum: totals of each comparison, wins less losses of each object, ties."""
    res = llbt.fit(formula, example.table())
    fitted = res.fittedvalues.to_numpy().reshape(-1, 3)
    frame = res.comparisons.to_frame()
    counts = frame[COUNTS].to_numpy()
    scale = counts.sum()
    close(fitted.sum(axis=1) / scale, counts.sum(axis=1) / scale)
    close(fitted[:, 1].sum() / scale, counts[:, 1].sum() / scale)
    for label in example.objects:
        side = (frame["object_i"] == label).to_numpy() * 1.0 - (frame["object_j"] == label).to_numpy()
        close(
            (side * (fitted[:, 0] - fitted[:, 2])).sum() / scale, (side * (counts[:, 0] - counts[:, 2])).sum() / scale
        )


@few
@given(examples(), st.sampled_from(MODELS))
def test_methods_and_specifications_give_the_fit_again(example, formula):
    """A result's specification and comparisons are all that is needed to fit again."""
    res = fit_by(formula, example.table(), reference=example.objects[0], method="eliminate")
    spec = res.specification
    again = fit_by(spec.formula, res.comparisons, reference=spec.reference, method=spec.method, fixed=dict(spec.fixed))
    assert_same_fit(again, res)


@every_method
@pytest.mark.parametrize("formula", MODELS)
def test_two_objects_work(formula, method):
    """One pair by two judges: 4 cells beside the totals, less what each model estimates."""
    frame = FIXED.frame[(FIXED.frame["object_i"] == "A") & (FIXED.frame["object_j"] == "B")]
    res = fit_by(formula, FIXED.table(frame), method=method)
    assert (res.comparisons.objects, res.n_cells) == (("A", "B"), 6)
    assert res.df_resid == {"object + tie": 2, "object * judge + tie": 1, "object + tie:pair": 2}.get(formula, 0)
    if res.df_resid == 0:
        close(res.fittedvalues, [7, 3, 4, 4, 1, 9])
