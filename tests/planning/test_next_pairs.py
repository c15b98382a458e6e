"""Which pairs to ask for next: against refits of tables to which every pair is added, and against quadrature."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

import llbt
from llbt.errors import OptionError
from llbt.planning import next_pairs
from llbt.planning.criteria import _slopes, _wrong_order

TABLE1 = llbt.load_dataset("dras_table1")
BASEBALL = llbt.load_dataset("baseball")
RNG = np.random.default_rng(5)


def _ordered() -> llbt.Comparisons:
    """Four objects in both orders, with ties."""
    rows = [(i, j, *RNG.integers(2, 12, 3)) for i, j in itertools.permutations("ABCD", 2)]
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "wins_i", "ties", "wins_j"])
    return llbt.from_counts(frame, order=True)


def _graded() -> llbt.Comparisons:
    names = ["++", "+", "=", "-", "--"]
    rows = [(i, j, *RNG.integers(2, 12, 5)) for i, j in itertools.combinations("ABC", 2)]
    return llbt.from_counts(pd.DataFrame(rows, columns=["object_i", "object_j", *names]), grades=names)


FITS = {
    "object": llbt.fit("object", TABLE1.pool().drop_ties()),
    "object + order": llbt.fit("object + order", BASEBALL),
    "object + tie": llbt.fit("object + tie", TABLE1.pool()),
    "object + tie + order": llbt.fit("object + tie + order", _ordered()),
    "object * judge + tie": llbt.fit("object * judge + tie", TABLE1),
    "grades": llbt.fit("object + tie + grade", _graded()),
    "cumulative": llbt.fit("object + tie", TABLE1.pool(), link="cumulative"),
    "fixed tie": llbt.fit("object + tie", TABLE1.pool(), fixed={"tie": -0.5}),
}
GOALS = [("all", None, "a"), ("all", None, "d"), ("top", 2, "a"), ("contrast", None, "a")]


def _criterion(res: llbt.LLBTResults, goal: str, k: int | None, criterion: str, ranked: list) -> float:
    """The criterion by the public answers of a fit: covariances of named contrasts."""
    matrix, labels = _log_worth_rows(res), list(res.comparisons.objects)
    cov = matrix @ np.asarray(res.cov_params().fillna(0.0)) @ matrix.T
    if goal == "contrast":
        row = np.array([1.0, *[0.0] * (len(labels) - 2), -1.0])
        return float(row @ cov @ row)
    if criterion == "d":
        row = np.eye(len(labels))[1:] - np.eye(len(labels))[0]
        return float(np.log(np.linalg.det(row @ cov @ row.T)))
    top = ranked if k is None else ranked[:k]
    pairs = [(i, j) for i, j in itertools.combinations(ranked, 2) if k is None or (i in top and j not in top)]
    places = [(labels.index(i), labels.index(j)) for i, j in pairs]
    return float(np.mean([cov[i, i] + cov[j, j] - 2 * cov[i, j] for i, j in places]))


def _log_worth_rows(res: llbt.LLBTResults) -> np.ndarray:
    """Rows of the parameters that the log-worths are, averaged over the judgments where judges have worths."""
    objects, names = list(res.comparisons.objects), list(res.params.index)
    matrix = np.zeros((len(objects), len(names)))
    judged = TABLE1.to_frame().assign(n=TABLE1.totals).groupby("judge")["n"].sum() / TABLE1.totals.sum()
    for k, label in enumerate(objects):
        for column, name in enumerate(names):
            head, _, judge = name.partition(":judge[")
            if head == f"object[{label}]":
                matrix[k, column] = judged[judge.rstrip("]")] if judge else 1.0
    return matrix


def _with_one_more(res: llbt.LLBTResults, pair: dict) -> llbt.LLBTResults:
    """Refit with a judgment of the pair more, spread over its outcomes as predicted: the estimates stay the same."""
    c = res.comparisons
    chances = res.predict(pd.DataFrame([pair])).to_frame().set_index("outcome")["estimate"]
    columns = list(c.count_columns)
    named = (
        {"i": "wins_i", "tie": "ties", "j": "wins_j"}
        if "wins_i" in columns
        else dict(zip(c.response.outcomes, columns, strict=True))
    )
    found = dict.fromkeys(columns, 0.0) | {named[outcome]: chance for outcome, chance in chances.items()}
    frame = pd.concat([c.to_frame(), pd.DataFrame([{**pair, **found}])], ignore_index=True)
    options = {"grades": columns} if len(columns) > 3 else {"order": "order" in str(res.specification.formula)}
    if "judge" in frame:
        options["covariates"] = "judge"
    spec = res.specification
    return llbt.fit(spec.formula, llbt.from_counts(frame, **options), link=spec.link, fixed=res.fixed or None)


@pytest.mark.parametrize(
    "name", [name if name == "object + tie" else pytest.param(name, marks=pytest.mark.slow) for name in FITS]
)
@pytest.mark.parametrize(("goal", "k", "criterion"), GOALS)
def test_gains_are_those_of_refits(name: str, goal: str, k: int | None, criterion: str) -> None:
    res = FITS[name]
    labels = list(res.comparisons.objects)
    asked = {labels[0]: 1, labels[-1]: -1} if goal == "contrast" else goal
    rows = _log_worth_rows(res)
    ranked = [labels[k] for k in np.argsort(-(rows @ np.asarray(res.params)), kind="stable")]
    now = _criterion(res, goal, k, criterion, ranked)
    found = next_pairs(res, goal=asked, k=k, criterion=criterion)
    pairs = pd.DataFrame(found.pairs).to_dict("records")
    gains = []
    for pair in pairs[:24]:
        after = _with_one_more(res, pair)
        assert np.allclose(after.params, res.params, atol=1e-6)
        gains.append(now - _criterion(after, goal, k, criterion, ranked))
        row = np.argmax([other == pair for other in pairs])
        only = next_pairs(res, goal=asked, k=k, criterion=criterion, costs=_only(pair, labels))
        chosen = pairs[only.sequence[0]]
        if chosen == pair:  # of one pair the best order and judge are chosen
            assert only.gain[0] == pytest.approx(gains[-1], rel=1e-4, abs=1e-9)
            assert only.before - only.after == pytest.approx(gains[-1], rel=1e-4, abs=1e-9)
        else:
            assert only.gain[0] >= gains[-1] - 1e-9
        assert row < len(pairs)
    assert found.before == pytest.approx(now, rel=1e-6)
    assert found.gain[0] == pytest.approx(max(gains), rel=1e-4) or len(pairs) > 24


def _only(pair: dict, labels: list) -> dict:
    kept = {pair["object_i"], pair["object_j"]}
    return {two: math.inf for two in itertools.combinations(labels, 2) if set(two) != kept}


@pytest.mark.parametrize("name", ["object + tie", "object + tie + order"])
def test_later_judgments_come_after_earlier_ones(name: str) -> None:
    res = FITS[name]
    both = next_pairs(res, 2, criterion="d")
    pairs = pd.DataFrame(both.pairs).to_dict("records")
    again = _with_one_more(res, pairs[both.sequence[0]])
    second = next_pairs(again, criterion="d")
    assert pd.DataFrame(second.pairs).to_dict("records")[second.sequence[0]] == pairs[both.sequence[1]]
    assert second.gain[0] == pytest.approx(both.gain[1], rel=1e-4)
    assert both.before - both.after == pytest.approx(both.gain.sum(), rel=1e-9)


@pytest.mark.parametrize(("difference", "before", "after"), [(0.0, 1.0, 0.4), (0.3, 0.2, 0.1), (-2.0, 0.5, 0.5)])
def test_wrong_orders_are_those_of_quadrature(difference: float, before: float, after: float) -> None:
    def wrong(after: float) -> float:
        def integrand(d: float) -> float:
            return stats.norm.cdf(-abs(d) / math.sqrt(after)) * stats.norm.pdf(d, difference, math.sqrt(before))

        return integrate.quad(integrand, -12, 12, points=[0, difference], epsabs=1e-12, limit=200)[0]

    d, b, a = (np.array([x]) for x in (difference, before, after))
    assert _wrong_order(d, b, a)[0] == pytest.approx(wrong(after), rel=1e-8)
    step = 1e-4 * after
    slope = (wrong(after + step) - wrong(after - step)) / (2 * step)
    assert _slopes(d, b, a)[0] == pytest.approx(slope, rel=1e-5)


def test_near_pairs_come_first_where_order_is_asked() -> None:
    wins = {"AB": (30, 10), "AC": (35, 5), "AD": (38, 2), "BC": (20, 19), "BD": (36, 4), "CD": (35, 5)}
    frame = pd.DataFrame([(*pair, *won) for pair, won in wins.items()], columns=["object_i", "object_j", "a", "b"])
    res = llbt.fit("object", llbt.from_counts(frame.rename(columns={"a": "wins_i", "b": "wins_j"})))
    found = next_pairs(res, 20, criterion="order").to_frame()
    assert found.iloc[0, :2].tolist() == ["B", "C"]
    assert found["n"].sum() == 20
    cut = next_pairs(res, 5, goal="top", k=1, criterion="order").to_frame()
    assert "A" in cut.iloc[0, :2].tolist()
    lowered = next_pairs(res, 1, criterion="order")
    assert lowered.before - lowered.after == pytest.approx(lowered.gain[0], rel=0.1)  # to first order


def test_costs_and_places_are_heeded() -> None:
    res = FITS["object + tie"]
    first = next_pairs(res).to_frame().iloc[0]
    dear = next_pairs(res, costs={(first["object_j"], first["object_i"]): 50.0}).to_frame()
    assert dear.iloc[0, :2].tolist() != first.iloc[:2].tolist()
    assert dear["cost"].tolist() == [1.0]
    placed = next_pairs(FITS["object * judge + tie"], 4, at={"judge": ["J2", "J3"]}).to_frame()
    assert set(placed["judge"]) <= {"J2", "J3"}


def test_clusters_are_named() -> None:
    c = llbt.from_judgments(
        pd.DataFrame(
            {
                "object_i": list("ABCABC") * 4,
                "object_j": list("BCABCA") * 4,
                "outcome": ["i", "i", "j", "j", "i", "i"] * 4,
            }
        ).assign(judge=[k // 3 for k in range(24)]),
        clusters="judge",
    )
    found = next_pairs(llbt.fit("object", c, cov_type="cluster", groups="judge"))
    assert any("independent" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"goal": "top"}, "with goal='top', and no k"),
        ({"k": 2}, "with goal='top', and no k"),
        ({"goal": "top", "k": 4}, "k=4 of 4 objects"),
        ({"goal": "top", "k": 1, "criterion": "d"}, "span all contrasts"),
        ({"goal": {"A": 1, "B": -1}, "criterion": "d"}, "variance"),
        ({"goal": {"A": 1}}, "sum"),
        ({"goal": "best"}, "'all', 'top'"),
        ({"costs": {("A", "Z"): 1}}, "'Z'"),
        ({"costs": {("A", "A"): 1}}, "two objects"),
        ({"costs": {("A", "B"): 1, ("B", "A"): 2}}, "each pair once"),
        ({"costs": {("A", "B"): 0}}, "above 0"),
        ({"costs": [1]}, "a dict"),
        ({"at": "average"}, "average"),
        ({"criterion": "e"}, "criterion"),
        ({"n": 0}, "at least 1"),
    ],
)
def test_what_cannot_be_asked_is_refused(options: dict, said: str) -> None:
    with pytest.raises(OptionError, match=said) as error:
        next_pairs(FITS["object + tie"], **options)
    assert str(error.value).startswith("planning.next_pairs: ")


def test_no_pair_is_no_answer() -> None:
    res = FITS["object + tie"]
    every = {pair: math.inf for pair in itertools.combinations("ABCD", 2)}
    with pytest.raises(llbt.errors.DesignError, match="no pair can be asked for"):
        next_pairs(res, costs=every)


def test_hundreds_of_objects_take_no_matrix_of_all_pairs() -> None:
    """400 objects have 79,800 pairs, of which a matrix would take 47 GiB."""
    i, j = np.triu_indices(400, 1)
    frame = pd.DataFrame({"object_i": i, "object_j": j, "wins_i": 1 + (i + j) % 2, "wins_j": 2})
    res = llbt.fit("object", llbt.from_counts(frame))
    found = next_pairs(res, 2, criterion="d")
    matrix = np.asarray(res.cov_params())
    rows = np.eye(400)[:, :-1]
    first = rows[i[found.sequence[0]]] - rows[j[found.sequence[0]]]
    pair = pd.DataFrame({"object_i": [int(i[found.sequence[0]])], "object_j": [int(j[found.sequence[0]])]})
    chances = res.predict(pair).to_frame()["estimate"]
    weight = 4 * chances[0] * chances[1]
    assert found.gain[0] == pytest.approx(np.log1p(weight * first @ matrix @ first), rel=1e-8)
