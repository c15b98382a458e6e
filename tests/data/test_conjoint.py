"""Choices among profiles, as the tools of conjoint studies write them, and estimates by a second route."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.discrete.conditional_models import ConditionalLogit

import llbt
from llbt.data.conjoint import attributes_of
from llbt.errors import JudgmentError, OptionError

READ = {  # table → the tasks it stands for
    "projoint: id, task, profile, selected": (
        "id,task,profile,price,colour,selected,agree\n1,1,1,low,red,1,1\n1,1,2,high,blue,0,1\n2,1,1,high,red,0,0\n"
        "2,1,2,low,blue,1,0",
        ["low, red > (high, blue)", "low, blue > (high, red)"],
    ),
    "cregg and cjoint: CaseID, contest_no, Chosen_Immigrant": (
        "CaseID,contest_no,Country of Origin,Job,Chosen_Immigrant,ethnocentrism\n4,1,India,nurse,0,.3\n"
        "4,1,Iraq,nurse,1,.3\n4,2,Iraq,doctor,1,.3\n4,2,India,nurse,0,.3",
        ["Iraq, nurse > (India, nurse)", "Iraq, doctor > (India, nurse)"],
    ),
    "cj_tidy: the profile that was chosen in every row": (
        "respondent,task,pair,profile,feature1,feature2,rating,choice\n1,1,1,A,x,u,4,B\n1,1,1,B,y,v,5,B\n"
        "2,1,2,A,y,u,3,A\n2,1,2,B,x,v,1,A",
        ["y, v > (x, u)", "y, u > (x, v)"],
    ),
    "cbcTools: profileID, respID, qID, altID, obsID, choice": (
        "profileID,respID,qID,altID,obsID,price,type,choice\n31,1,1,1,1,1,Fuji,0\n15,1,1,2,1,2.5,Gala,1\n"
        "14,1,1,3,1,1.5,Fuji,0\n3,2,1,1,2,1,Gala,1\n8,2,1,2,2,3,Fuji,0\n9,2,1,3,2,2,Fuji,0",
        ["2.5, Gala > (1, Fuji, 1.5, Fuji)", "1, Gala > (2, Fuji, 3, Fuji)"],
    ),
    "FactorHet: choice_id and True, False": (
        "CaseID,contest_no,choice_id,Ed,Plans,Chosen_Immigrant\n1,1,left,hs,yes,True\n1,1,right,ba,no,False",
        ["hs, yes > (ba, no)"],
    ),
    "one attribute names the object": (
        "id,task,brand,chosen\n1,1,x,1\n1,1,y,0\n1,2,y,0\n1,2,z,1",
        ["x > (y)", "z > (y)"],
    ),
    "labelled alternatives": ("id,task,alternative,chosen\n1,1,bus,1\n1,1,car,0\n2,1,bus,0\n2,1,car,1", 2),
    "the same profile twice": (
        "id,task,profile,price,colour,selected\n1,1,1,low,red,1\n1,1,2,low,red,0\n1,2,1,low,red,0\n1,2,2,high,blue,1",
        ["low, red > (low, red (2))", "high, blue > (low, red)"],
    ),
}
UNREAD = {
    "two chosen in a task": "id,task,price,size,chosen\n1,1,low,s,1\n1,1,high,m,1\n1,2,low,m,1\n1,2,high,s,0",
    "tasks of one profile": "id,task,price,size,chosen\n1,1,low,s,1\n1,2,high,m,0",
    "no attribute": "id,task,profile,chosen\n1,1,1,1\n1,1,2,0",
    "a rating of each profile": "id,task,price,size,rating\n1,1,low,s,5\n1,1,high,m,3",
    "most tasks without a choice": (
        "id,task,price,size,chosen\n1,1,a,s,1\n1,1,b,m,0\n1,2,a,s,0\n1,2,b,m,0\n1,3,a,s,0\n1,3,b,m,0"
    ),
}


def table(text: str) -> pd.DataFrame:
    return pd.read_csv(io.StringIO(text))


def lists(found: llbt.Rankings) -> list[str]:
    lines = found.as_text().split("\n\n")[1].splitlines()[1:]
    return sorted(line.rsplit("  ", 1)[0].strip() for line in lines)


@pytest.mark.parametrize("name", READ)
def test_choices_among_profiles_are_read_and_said(name: str) -> None:
    text, expected = READ[name]
    frame = table(text)
    found = llbt.from_choices(frame)
    if isinstance(expected, int):
        assert found.n_judgments == expected
    else:
        assert lists(found) == sorted(expected)
    assert found.notes[0].startswith("read as choices, in ")
    said = " ".join(found.notes)
    assert all(repr(name) in said for name in frame), said
    many = len(attributes_of(found)) > 1
    assert many == (name not in ("one attribute names the object", "labelled alternatives"))


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_no_choice_among_profiles(name: str) -> None:
    with pytest.raises(OptionError, match="no column says which objects"):
        llbt.from_choices(table(UNREAD[name]))


def drawn(tasks: int, alternatives: int) -> pd.DataFrame:
    rng = np.random.default_rng(alternatives)
    n = tasks * alternatives
    frame = pd.DataFrame(
        {
            "id": np.repeat(np.arange(tasks) // 4, alternatives),
            "task": np.repeat(np.arange(tasks) % 4, alternatives),
            "profile": np.tile(np.arange(alternatives), tasks),
            "price": rng.integers(1, 6, n) / 2,
            "colour": rng.choice(["blue", "green", "red"], n),
        }
    )
    utility = -0.6 * frame["price"] + 0.8 * (frame["colour"] == "red") + rng.gumbel(size=n)
    best = utility.groupby([frame["id"], frame["task"]]).transform("max")
    return frame.assign(chosen=(utility == best).astype(int))


def described(frame: pd.DataFrame) -> pd.DataFrame:
    columns = {colour: frame["colour"].eq(colour) * 1.0 for colour in ("green", "red")}
    return pd.DataFrame({**columns, "price": frame["price"]})  # as the formula has them


def test_two_profiles_are_a_logistic_regression_on_differences() -> None:
    frame = drawn(120, 2)
    res = llbt.fit("price + C(colour, Treatment('blue'))", llbt.from_choices(frame))
    x = described(frame).to_numpy()
    second = sm.Logit(frame["chosen"].iloc[::2].to_numpy(), x[::2] - x[1::2]).fit(disp=0)
    assert 2 * res.params.to_numpy() == pytest.approx(second.params, rel=1e-6)
    assert 2 * res.bse.to_numpy() == pytest.approx(second.bse, rel=1e-6)
    assert res.llf == pytest.approx(second.llf)


def test_several_profiles_are_a_conditional_logit() -> None:
    frame = drawn(120, 3)
    res = llbt.fit("price + C(colour, Treatment('blue'))", llbt.from_choices(frame))
    second = ConditionalLogit(frame["chosen"], described(frame), groups=4 * frame["id"] + frame["task"])
    second = second.fit(disp=0, method="newton")
    assert 2 * res.params.to_numpy() == pytest.approx(second.params.to_numpy(), rel=1e-6)
    assert res.llf == pytest.approx(second.llf)


def test_tasks_without_a_choice_are_left_out_and_counted() -> None:
    frame = drawn(40, 3)
    frame.loc[frame["id"] == 2, "chosen"] = 0
    found = llbt.from_choices(frame, clusters="id")
    assert found.n_judgments == 36
    assert found.notes[1] == "left out: 4 tasks without a choice"
    assert found.clusters == ("id",)


def test_missing_attributes_and_a_second_table_of_them_are_refused() -> None:
    frame = drawn(40, 2)
    with pytest.raises(JudgmentError, match="column 'price' is empty in 1 row"):
        llbt.from_choices(frame.assign(price=frame["price"].where(frame.index != 3)))
    with pytest.raises(OptionError, match="whose attributes are"):
        llbt.from_choices(frame, object_covariates=pd.DataFrame({"object": ["x"], "y": [1.0]}))
