"""A formula is data: what it holds beyond the list runs nothing, reads nothing, and is refused with its place."""

import os
import random
import time
import warnings

import numpy as np
import pandas as pd
import pytest

import llbt
from llbt import LLBT


def many_covariates():
    frame = pd.DataFrame({"object_i": list("aab") * 4, "object_j": list("bcc") * 4})
    frame = frame.assign(wins_i=range(1, 13), ties=1, wins_j=range(2, 14), judge=list("uuuvvvwwwxxx"))
    frame = frame.assign(len=np.repeat([1.0, 2.0, 3.0, 5.0], 3), x=np.linspace(0.5, 3, 12))
    others = pd.DataFrame(np.random.default_rng(0).normal(size=(12, 22)), columns=[f"v{k}" for k in range(22)])
    return llbt.from_counts(frame.join(others), covariates=["judge", "len", "x", *others.columns])


TABLE = many_covariates()
POOLED = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
NUMBERS = [f"v{k}" for k in range(22)]

ESCAPES = [
    # programs, files, state
    "object + object:I(len + 0*np.__builtins__['__import__']('os').system('touch touched'))",
    "object:I(len + np.fromfile('secret'))",
    "object:np.savetxt('touched', len)",
    "object:np.save('touched', len)",
    "object:len.tofile('touched')",
    "object:I(len.tofile('touched'))",
    "C(object, levels=[np.savetxt('touched', [1])])",
    "object:C(judge, Treatment(len.tofile('touched')))",
    "object:np.random.seed(len)",
    "object:np.seterr(len)",
    "object:np.load('secret')",
    "object:np.lib.format(len)",
    "object:np.ctypeslib(len)",
    "object:eval('len')",
    "object:exec('len')",
    "object:open('touched', 'w')",
    "object:getattr(len, '__class__')",
    "object:__import__('os').system('touch touched')",
    "object:I(len + __builtins__)",
    "object:center.__globals__['os'](len)",
    "object:np.log.__class__(len)",
    "object:I(len.__class__.__mro__)",
    "object:I(len.__array_interface__)",
    "object:ContrastMatrix(len, x)",
    "object:dmatrix('len')",
    "object:np.log(len, out=x)",
    "object:np.log(len, x)",
    # syntax
    "object:I((lambda: len)())",
    "object:I([len for _ in 'a'])",
    "object:I(len if 1 else x)",
    "object:I(f'{len}')",
    "object:I(len @ x)",
    "object:I(len and x)",
    "object:I(not len)",
    "object:I(len := x)",
    "object:I(*len)",
    "object:I(**len)",
    "object:log(*[len])",
    "object:I(len[0])",
    "object:I(len[::])",
    "object:I({1: len})",
    "object:I({len})",
    "object:I((len, x))",
    "object:I(len is x)",
    "object:I(len in x)",
    "object:I(await len)",
    "object:I((yield len))",
    "object:I(len + ...)",
    "object:I(len + 1j)",
    "object:I(len + b'x')",
    "object:np.log",
    "object:np",
    "object:log",
    "object:Q(len)",
    "object:Q('len' + '')",
    "object:I(object == 'a')",
    # sizes
    "object:I(len**9**9**9)",
    "object:I(len + 9**9**9)",
    "object:I(len + ((9**8)**8)**8)",
    "object:I(len**x)",
    "object:I(len**-9)",
    "object:I(len + 99999999999999999999999999)",
    "object:I(len + 1e999)",
    "object:I(len << 100000000)",
    "object:I('a'*1000000000 == len)",
    "object:I(len + [0]*10000000)",
    "object:C(judge, levels=['u']*9)",
    "object:bs(len, df=1000000)",
    "object:bs(len, 1000000)",
    "object:bs(len, df=x)",
    "object:bs(len, df=5, degree=10**6)",
    "object:te(cr(len, df=90), cr(x, df=90))",
    "object:te(len, x)",
    "object*" + "*".join(NUMBERS),
    "object:" + ":".join(NUMBERS),
    "object*(" + "+".join(NUMBERS) + ")**10",
    "object:(" + "+".join(NUMBERS) + ")**9999999999",
    "object:I(" + "(" * 300 + "len" + ")" * 300 + ")",
    "object:I(" + "-" * 3000 + "len)",
    "object+" + "-" * 3000 + "x",
    "object:" + "I(" * 80 + "len" + ")" * 80,
    "(object" + "/x" * 200 + ")",
    "(" * 51 + "object" + ")" * 51,
    "(" * 3000 + "object" + ")" * 3000,
]

LEGAL = {  # formula: how many parameters it has on three objects and four judges
    "object + object:log(len)": 4,
    "object:np.log(len) + tie": 3,
    "object*judge + tie*judge": 12,
    "object:bs(len, df=4)": 8,
    "object:cr(len, df=3)": 6,
    "object:te(cr(len, df=3), cr(x, df=3))": 18,
    "C(object, Treatment('b')) + tie": 3,
    "C(object, Treatment(reference='b')) + tie": 3,
    "C(object, Sum) + tie": 3,
    "C(object, levels=['c', 'b', 'a'])": 2,
    "object:I(judge == 'u')": 4,
    "object:I((len > 1) & (x < 2) | ~(x > 1))": 4,
    "object:I(len**2) + object:len": 4,
    "object:I((len + 1)**-2.0)": 2,
    "object:center(len) + object:standardize(x)": 4,
    'object:Q("len")': 2,
    "object:np.where(len > 2, len, 0)": 2,
    "object:clip(len, 1, 2)": 2,
    "object:C(judge, [[1, 0], [0, 1], [1, 1], [0, 0]])": 4,
    "object:C(judge, Poly) + tie:C(judge, Helmert)": 12,
    "object:I(-len/2 + 1 % 3 // 2)": 2,
    "object:I(len + np.pi)": 2,
    "object + (x + len)**2:object": 8,
    "object" + "+object" * 900: 2,
    "(" * 50 + "object" + ")" * 50: 2,
    "object + (" + " + ".join(NUMBERS[:5]) + ")**5 - len": 2,
}


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A folder with one file, which is all that there may be in it afterwards."""
    (tmp_path / "secret").write_bytes(np.ones(12).tobytes())
    monkeypatch.chdir(tmp_path)
    state = _state()
    yield
    assert os.listdir() == ["secret"]
    assert _state() == state


def _state():
    """What an expression could change in the process."""
    legacy = np.random.get_state()[1].tolist()  # noqa: NPY002 - the global state is what must not change
    return legacy, random.getstate(), np.geterr(), list(warnings.filters)


@pytest.mark.parametrize("formula", ESCAPES, ids=range(len(ESCAPES)))
def test_what_is_no_formula_is_refused_at_once_and_marked(formula, elsewhere):
    start = time.process_time()
    with pytest.raises(llbt.errors.FormulaError) as caught:
        LLBT.from_formula(formula, TABLE)
    assert time.process_time() - start < 1
    *_, text, caret = str(caught.value).split("\n")
    assert set(caret.strip()) == {"^"}
    assert len(text) < 300
    assert len(caret.rstrip()) <= len(text) + 1
    assert len(str(caught.value)) < 1500


@pytest.mark.parametrize("formula", LEGAL, ids=range(len(LEGAL)))
@pytest.mark.filterwarnings("ignore::llbt.errors.FormulaWarning")
def test_what_the_readme_allows_is_coded(formula, elsewhere):
    assert len(LLBT.from_formula(formula, TABLE).design.names) == LEGAL[formula]


def test_the_caret_of_a_long_formula_stands_under_its_spot():
    formula = "object + " + "object:x + " * 400 + "nothing + " + "object:x + " * 400 + "tie"
    with pytest.raises(llbt.errors.FormulaError) as caught:
        LLBT.from_formula(formula, TABLE)
    *_, text, caret = str(caught.value).split("\n")
    start = caret.index("^")
    assert text[start : start + caret.count("^")] == "nothing"


@pytest.mark.slow
def test_sums_as_long_as_patsy_reads_them_and_longer_texts():
    terms = " + ".join(f"object:I(len + {k})" for k in range(900))
    assert len(LLBT.from_formula(terms, TABLE).design.names) == 1800
    with pytest.raises(llbt.errors.FormulaError, match=r"expands to more than 1,000 terms"):
        LLBT.from_formula(" + ".join(f"object:I(len+{k})" for k in range(1100)), TABLE)
    with pytest.raises(llbt.errors.FormulaError, match=r"characters; expected at most 30,000"):
        LLBT.from_formula("object" + "+object" * 20_000, TABLE)


def test_columns_are_found_before_functions_of_the_same_name():
    frame = TABLE.to_frame()[["object_i", "object_j", "wins_i", "ties", "wins_j"]]
    frame = frame.assign(log=TABLE.to_frame()["len"], np=TABLE.to_frame()["x"])
    c = llbt.from_counts(frame, covariates=["log", "np"])
    assert LLBT.from_formula("object + object:log + object:np", c).design.names[2:4] == (
        "object[a]:log",
        "object[b]:log",
    )
    with pytest.raises(llbt.errors.FormulaError, match="rename the column"):
        LLBT.from_formula("object + object:log(log)", c)
    with pytest.raises(llbt.errors.FormulaError, match="attributes"):
        LLBT.from_formula("object + object:np.log(log)", c)


HYPOTHESES = [
    "+".join(["tie"] * 3000) + " = 0",
    "-" * 3000 + "tie = 0",
    "=".join(["tie"] * 1000),
    ",".join(["tie"] * 1000),
    "x" * 40_000,
    "tie = 1/0",
    "tie/0 = 1",
    "tie = 1e999",
    "tie*1e300*1e300 = 0",
    "tie*tie = 0",
    "__import__('os').system('touch touched')",
    "tie = 9**9**9**9",
    "tie = nan",
    "1 = 1",
]


@pytest.mark.parametrize("hypothesis", HYPOTHESES, ids=range(len(HYPOTHESES)))
@pytest.mark.parametrize("ask", ["t_test", "wald_test", "contrasts"])
def test_a_hypothesis_is_data_too(hypothesis, ask, elsewhere):
    asked = {
        "t_test": POOLED.t_test,
        "wald_test": POOLED.wald_test,
        "contrasts": lambda h: llbt.contrasts(POOLED, {"h": h}),
    }
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(llbt.errors.OptionError):
            asked[ask](hypothesis)
    assert time.process_time() - start < 1


def test_parentheses_of_a_hypothesis_may_be_many():
    (row,) = POOLED.t_test("(" * 3000 + "tie" + ")" * 3000 + " = 0").to_frame().itertuples()
    assert row.estimate == pytest.approx(POOLED.params["tie"])
