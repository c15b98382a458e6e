"""Integers are decided where they are used: numbers, labels, or a question that can be answered by pasting."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest
from support import shell

import llbt

AGES = [21, 23, 25, 30, 31, 33, 40, 44, 51, 58, 60, 66]


def votes(n=600):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"object_i": rng.choice(list("ABC"), n)})
    return frame.assign(
        object_j=frame["object_i"].map({"A": "B", "B": "C", "C": "A"}),
        outcome=rng.choice(["i", "j"], n),
        age=rng.choice(AGES, n),
        year=rng.choice([2000, 2001, 2002, 2003], n),
        late=rng.integers(0, 2, n),
        worker=rng.integers(1, 30, n),
        coder=rng.integers(1, 30, n),
        length_a=rng.integers(20, 900, n),
        length_b=rng.integers(20, 900, n),
    )


VOTES = votes()


def table(*covariates, **options):
    return llbt.from_judgments(VOTES, covariates=list(covariates), **options)


def refusal(call):
    with pytest.raises(llbt.LLBTError) as caught:
        call()
    return str(caught.value)


def remedies(message):
    """Return the formula and the argument that a refusal of a term proposes."""
    code, keyword, value = re.search(r'Write (C\(.+?\)) for \d+ levels, or pass (\w+)=(".+") for', message).groups()
    return code, eval(f"dict({keyword}={value})")


def test_more_than_ten_integers_are_refused_and_both_remedies_work():
    c = table("age")
    message = refusal(lambda: llbt.fit("object * age", c))
    assert "'age' has 12 whole numbers. Write C(age) for 12 levels, or pass numeric=\"age\" for one slope." in message
    code, argument = remedies(message)
    assert len(llbt.fit(f"object * {code}", c, prior=1).names) == 2 * 12
    assert llbt.fit("object * age", table("age", **argument)).names[2:] == ("object[A]:age", "object[B]:age")


def test_the_values_before_selection_count():
    some = table("age").select(where={"age": AGES[:3]})
    assert "12 whole numbers" in refusal(lambda: llbt.fit("object * age", some))


@pytest.mark.parametrize("name", ["age", "exam year"])
def test_a_name_in_backticks_is_refused_with_what_can_be_pasted(name):
    c = llbt.from_judgments(VOTES.rename(columns={"age": name}), covariates=name)
    code, argument = remedies(refusal(lambda: llbt.fit(f"object * `{name}`", c)))
    assert len(llbt.fit(f"object * {code}", c, prior=1).names) == 24
    assert argument == {"numeric": name}


def test_three_to_ten_integers_are_labels_and_the_printout_says_so():
    res = llbt.fit("object * year", table("year"))
    note = 'year: 4 levels (integers; numeric="year" for one slope), reference 2000'
    assert note in " ".join(str(res.summary()).split())
    assert len(res.names) == 8
    for other in ("object * C(year)", "object * I(year == 2001)", "object"):
        assert "(integers" not in str(llbt.fit(other, table("year")).summary())
    assert "(integers" not in str(llbt.fit("object * late", table("late")).summary())


def test_two_integers_have_the_same_fit_either_way():
    as_labels, as_number = (llbt.fit("object * late", table("late", numeric=n)) for n in ((), "late"))
    assert as_labels.llf == pytest.approx(as_number.llf, abs=1e-8)
    assert as_labels.params.to_numpy() == pytest.approx(as_number.params.to_numpy(), abs=1e-6)


@pytest.mark.parametrize(
    "term", ["I(age - 30)", "np.log(age)", "bs(age, df=3)", "I(age > 30)", 'I(Q("age") / 10)', "center(age)"]
)
def test_functions_of_numbers_take_integers_as_numbers(term):
    """Against a fit to a column of numbers."""
    formula = f"object + object:{term}"
    res, number = llbt.fit(formula, table("age")), llbt.fit(formula, table("age", numeric="age"))
    assert res.names == number.names
    assert res.params.to_numpy() == pytest.approx(number.params.to_numpy(), abs=1e-8)
    assert "age: numeric" in str(res.summary())


def test_a_term_beside_a_function_of_numbers_is_a_number_in_what_is_refitted_too():
    res = llbt.fit("object + object:age + object:I(age ** 2)", table("age"))
    assert res.names[2:4] == ("object[A]:age", "object[B]:age")
    assert llbt.fit("object * age", res.comparisons).df_resid > res.df_resid


def test_fits_with_numbers_and_with_labels_can_be_compared():
    small, large = (llbt.fit(f, table("year")) for f in ("object + object:I(year - 2000)", "object * year"))
    assert llbt.anova(small, large).to_frame()["df"].iloc[-1] == 4


def test_names_of_judges_are_labels_however_many():
    res = llbt.fit("object * worker", table("worker"), prior=1)
    assert len(res.names) == 2 * 29
    assert "(integers" not in str(res.summary())
    assert "29 whole numbers" in refusal(lambda: llbt.fit("object * coder", table("coder")))
    assert llbt.fit("object", table("coder"), cov_type="cluster", groups="coder").converged


def test_integers_of_objects_are_a_slope_and_booleans_labels():
    about = pd.DataFrame({"object": list("ABC"), "size": [7, 13, 70], "open": [True, False, True]})
    c, floats = (table(object_covariates=frame) for frame in (about, about.astype({"size": float})))
    assert llbt.fit("size", c).params.to_dict() == pytest.approx(llbt.fit("size", floats).params.to_dict())
    assert llbt.fit("open", c).names == ("open[True]",)
    slope = llbt.fit("open", table(object_covariates=about, numeric="open"))
    assert slope.llf == pytest.approx(llbt.fit("open", c).llf, abs=1e-8)


def test_style_control_with_integer_counts_works_at_once():
    sides = {"length": ("length_a", "length_b")}
    c = table(side_covariates=sides)
    floats = llbt.from_judgments(VOTES.astype({"length_a": float, "length_b": float}), side_covariates=sides)
    for formula in ("object + length", "object + sides((length_i - length_j) / (length_i + length_j))"):
        assert llbt.fit(formula, c).params.to_dict() == pytest.approx(llbt.fit(formula, floats).params.to_dict())


def test_sides_name_their_remedies():
    formula = "object + sides((length_i - length_j) / (length_i + length_j))"
    message = refusal(lambda: llbt.fit(formula, table()))
    argument = eval(f"dict({re.search(r'side_covariates=.*', message)[0].rstrip('.')})")
    assert llbt.fit(formula, table(**argument)).names[-1].startswith("sides(")
    texts = VOTES.astype({"length_a": str, "length_b": str})
    message = refusal(lambda: llbt.fit(formula, llbt.from_judgments(texts, **argument)))
    number = eval(f"dict({re.search(r'numeric=.*', message)[0].rstrip('.')})")
    assert llbt.fit(formula, llbt.from_judgments(texts, **argument, **number)).converged


@pytest.mark.parametrize("kind", ["int64", "Int64", "uint8", "object"])
def test_every_type_of_integers_is_one(kind):
    c = llbt.from_judgments(VOTES.astype({"age": kind}), covariates="age")
    assert "12 whole numbers" in refusal(lambda: llbt.fit("object * age", c))


def test_categories_are_labels():
    res = llbt.fit("object * age", llbt.from_judgments(VOTES.astype({"age": "category"}), covariates="age"), prior=1)
    assert len(res.names) == 24


def people(n=40):
    rng = np.random.default_rng(2)
    about = pd.DataFrame({"worker": range(n), "age": rng.choice(AGES, n), "group": rng.integers(0, 4, n)})
    rows = VOTES.assign(worker=np.arange(len(VOTES)) % n)
    return rows.drop(columns=["age"]), about


def test_a_tree_asks_what_integers_are_and_both_remedies_work():
    rows, about = people()

    def grown(about, **options):
        c = llbt.from_judgments(rows, clusters="worker", judge_covariates=about, **options)
        return llbt.judges.tree("object", c, by="worker", split="age")

    message = refusal(lambda: grown(about))
    assert "'age' has 12 whole numbers" in message
    argument = eval(f"dict({re.search(r'numeric=[^ ]+', message)[0]})")
    assert grown(about, **argument).leaves
    text = eval(re.search(r"frame\.astype\(.*\)", message)[0], {"frame": about, "str": str})
    assert grown(text).leaves


def test_fits_of_lists_say_so_too():
    ranks = pd.DataFrame({"A": [1, 2, 1, 3, 1, 2], "B": [2, 1, 3, 1, 3, 1], "C": [3, 3, 2, 2, 2, 3]})
    lists = ranks.loc[np.tile(np.arange(6), 12)].reset_index(drop=True)
    lists = lists.assign(year=np.repeat([1, 2, 3], 24), age=np.tile(AGES, 6))
    r = llbt.from_rankings(lists, objects=["A", "B", "C"], covariates=["year", "age"])
    assert 'year: 3 levels (integers; numeric="year" for one slope)' in " ".join(
        str(llbt.fit("object * year", r)).split()
    )
    assert "12 whole numbers" in refusal(lambda: llbt.fit("object * age", r))
    assert llbt.fit("object + object:I(age - 30)", r).converged
    p = llbt.from_patterns(lists, "rankings", objects=["A", "B", "C"], covariates=["year", "age"])
    assert 'year: 3 levels (integers; numeric="year" for one slope)' in " ".join(
        str(llbt.fit("object * year", p)).split()
    )
    assert "12 whole numbers" in refusal(lambda: llbt.fit("object * age", p))
    assert llbt.fit("object + object:I(age - 30)", p).converged


@pytest.mark.parametrize(
    ("kept", "formula", "option"),
    [
        ("age", "object * age", r"pass (--numeric \S+) for"),
        ("year", "object + sides((length_i - length_j) / (length_i + length_j))", r"pass (--side-covariates \S+)\.\n"),
    ],
)
def test_the_shell_says_what_can_be_pasted(tmp_path, kept, formula, option):
    VOTES.to_csv(tmp_path / "votes.csv", index=False)
    call = ["fit", str(tmp_path / "votes.csv"), "--objects", "object_i,object_j", "--outcome", "outcome"]
    call += ["--covariates", kept, "--formula", formula]
    refused = shell.run(*call)
    assert refused.exit_code == 2
    pasted = shlex.split(re.search(option, refused.output)[1])
    found = shell.run(*call, *pasted)
    assert found.exit_code == 0, found.output
    levels = shell.run(*call[:-1], "object * C(age)") if kept == "age" else found
    assert levels.exit_code == 0, levels.output
