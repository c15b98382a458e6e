"""Columns that nobody named: used, refused with a remedy that works, or listed as not used; counted by hand."""

import json
import re

import pandas as pd
import polars as pl
import pytest

import llbt
from llbt.errors import JudgmentError, OptionError

MODELS = {"model_a": ["A", "B", "A", "C"], "model_b": ["B", "C", "C", "B"]}
ARENA = pd.DataFrame({**MODELS, "winner": ["model_a", "tie", "model_b", "model_a"]})
WINS = pd.DataFrame({"winner": ["A", "B", "A", "C"], "loser": ["B", "C", "C", "B"]})
COUNTS = pd.DataFrame(
    {"object_i": ["A", "A", "B"], "object_j": ["B", "C", "C"], "wins_i": [3, 2, 4], "wins_j": [1, 2, 2]}
)
REMEDY = re.compile(r'((?:weights|ties_column)="[^"]+"|ignore=\["[^"]+"\])(?: \(([\d,]+) (judgment|tie)s?\))?')


def door(frame):
    return llbt.from_counts if "wins_i" in frame else llbt.from_judgments


def pasted(frame, error):
    """What each remedy of a refusal gives when it is pasted, beside the figure that the refusal prints for it."""
    found = []
    for text, figure, noun in REMEDY.findall(str(error)):
        c = eval(f"read(frame, {text})", {"read": door(frame), "frame": frame})
        found.append((c.n_ties if noun == "tie" else c.n_judgments, int(figure.replace(",", "")) if figure else None))
    return found


@pytest.mark.parametrize("make", [lambda f: f, pl.from_pandas, lambda f: pl.from_pandas(f).lazy()])
@pytest.mark.parametrize(
    "marks", [[True, False, False, True], [1, 0, 0, 1], ["yes", "no", "no", "yes"], ["T", "F", "F", "T"]]
)
def test_draws_beside_winner_and_loser_are_ties(make, marks):
    c = llbt.from_judgments(make(WINS.assign(Is_Draw=marks)))
    assert (c.n_judgments, c.n_ties) == (4, 2)
    assert "2 draws by column 'Is_Draw'" in c.notes
    assert llbt.read_judgments(make(WINS.assign(Is_Draw=marks))).to_frame()["outcome"].tolist() == [
        *("tie", "i", "i", "tie")
    ]


def test_a_column_of_ties_that_is_text_or_says_no_changes_nothing():
    for marks in (["cup", "league", "cup", "cup"], [0, 0, 0, 0], ["no"] * 4):
        c = llbt.from_judgments(WINS.assign(tie=marks))
        assert (c.n_judgments, c.n_ties) == (4, 0)


def test_only_ties_beside_winners_are_refused():
    with pytest.raises(JudgmentError, match="marks all 4 rows as ties") as refused:
        llbt.from_judgments(WINS.assign(draw=1))
    assert pasted(WINS.assign(draw=1), refused.value) == [(4, None)]
    with pytest.raises(JudgmentError, match="holds numbers from 0 to 3 beside a winner and a loser"):
        llbt.from_judgments(WINS.assign(draws=[0, 1, 2, 3]))


def test_ties_beside_an_outcome_agree_or_are_refused_with_both_counts():
    agrees = llbt.from_judgments(ARENA.assign(draw=[0, 1, 0, 0]))
    assert "column 'draw' says tie where the outcome does" in agrees.notes
    against = ARENA.assign(is_tie=[True, True, False, True])
    with pytest.raises(JudgmentError, match=r"says tie in 2 rows whose outcome is decided \(rows 0, 3\)") as refused:
        llbt.from_judgments(against)
    assert pasted(against, refused.value) == [(3, 3), (1, 1)]


def test_a_column_of_ties_in_words_decides_as_one_of_true_and_false_does():
    against = ARENA.assign(tie=["tie", "tie", "win", "tie"])
    with pytest.raises(JudgmentError, match=r"says tie in 2 rows whose outcome is decided \(rows 0, 3\)") as refused:
        llbt.from_judgments(against)
    assert pasted(against, refused.value) == [(3, 3), (1, 1)]
    assert llbt.read_judgments(against, ties_column="tie").to_frame()["outcome"].tolist() == ["tie", "tie", "j", "tie"]
    agrees = llbt.from_judgments(ARENA.assign(tie=["win", "draw", "win", "win"]))
    assert "column 'tie' says tie where the outcome does" in agrees.notes


@pytest.mark.parametrize("name", ["draws", "Tie", "n_ties", "isEqual"])
def test_ties_beside_wins_of_both_sides_are_counted(name):
    c = llbt.from_counts(COUNTS.assign(**{name: [4, 5, 6]}))
    if name == "n_ties":  # no name of the list: named as not used
        assert c.notes == ("columns not used: 'n_ties'",)
        assert llbt.from_counts(COUNTS.assign(n_ties=[4, 5, 6]), ties_column=name).n_ties == 15
    else:
        assert (c.n_judgments, c.n_ties, c.notes) == (29, 15, (f"15 ties by column {name!r}",))
    with pytest.raises(JudgmentError, match="fractions"):
        llbt.from_counts(COUNTS.assign(draws=[0.5, 1, 2]))


def test_totals_of_counts():
    total = COUNTS.assign(ties=[1, 0, 2], total=[5, 4, 8])
    assert "column 'total' is the total of each row" in llbt.from_counts(total).notes
    for name, n in (("n", [9, 8, 7]), ("count", [9, 1, 7])):
        frame = COUNTS.assign(**{name: n})
        with pytest.raises(JudgmentError) as refused:
            llbt.from_counts(frame)
        assert pasted(frame, refused.value) == [(14, None)]
    assert llbt.from_counts(COUNTS.assign(n=[1, 9, 2])).n_judgments == 14  # below the sums: something else


@pytest.mark.parametrize("name", ["count", "Weight", "num_votes", "freq", "n"])
@pytest.mark.parametrize("frame", [ARENA, WINS], ids=["outcome", "winner and loser"])
def test_weights_of_judgments_are_refused_with_both_counts(name, frame):
    frame = frame.assign(**{name: [2, 90, 10, 15]})
    with pytest.raises(JudgmentError, match="holds numbers from 2 to 90 beside single judgments") as refused:
        llbt.from_judgments(frame)
    assert pasted(frame, refused.value) == [(117, 117), (4, 4)]


@pytest.mark.parametrize(
    "columns",
    [
        {"count": [1, 1, 1, 1]},
        {"count": ["one", "two", "two", "one"]},
        {"count": [4, 8, 2, 9], "judge": list("xxyy"), "time": [1, 2, 3, 4]},  # words, of single judgments
        {"freq": [0.5, 0.1, 0.2, 0.9], "worker": list("xxyy")},
        {"n": [1, 2, 1, 2], "prompt": list("pqrs")},  # the number of the turn
    ],
)
def test_numbers_of_single_judgments_are_not_weights(columns):
    c = llbt.from_judgments(ARENA.assign(**columns))
    assert c.n_judgments == 4


def test_filters_are_noted_with_the_rows_of_each_value_and_where_keeps_some():
    frame = ARENA.assign(anony=[True, True, False, True], language=["de", "en", "de", "de"])
    c = llbt.from_judgments(frame)
    assert "column 'anony' may say which rows count (True in 3 rows, False in 1 row); all rows are counted" in c.notes
    kept = llbt.from_judgments(frame, where="anony")
    assert (kept.n_judgments, kept.notes[1]) == (3, "3 of 4 rows kept by where= (anony)")
    assert llbt.from_judgments(frame, where={"anony": True, "language": "de"}).n_judgments == 2
    assert llbt.read_judgments(pl.from_pandas(frame), where={"language": "en"}).n_judgments == 1
    assert llbt.from_judgments(llbt.read_judgments(frame), where={"anony": False}).n_judgments == 1
    assert llbt.from_counts(COUNTS.assign(year=[1, 2, 2]), where={"year": 2}).n_judgments == 10
    with pytest.raises(JudgmentError, match="no row is left"):
        llbt.from_judgments(frame, where={"language": "fr"})


def test_where_reads_the_text_of_a_file(tmp_path):
    path = tmp_path / "battles.csv"
    ARENA.assign(anony=[True, True, False, True], turn=[1, 2, 1, 1]).to_csv(path, index=False)
    assert llbt.from_judgments(str(path), where={"anony": True, "turn": 1}).n_judgments == 2


def test_a_column_of_ties_that_is_none():
    with pytest.raises(JudgmentError, match=r"column 'draw' \(ties_column=\) holds 'cup', 'league'"):
        llbt.from_judgments(WINS.assign(draw=["cup", "league", "cup", "cup"]), ties_column="draw")
    hot = pd.DataFrame({**MODELS, "winner_model_a": 1, "winner_model_b": 0, "winner_tie": 0, "x": 1})
    with pytest.raises(OptionError, match="says itself which judgments are ties"):
        llbt.from_judgments(hot, ties_column="x")


def test_every_column_of_every_door_is_used_or_listed():
    ranks = pd.DataFrame({"A": [1, 2], "B": [2, 1], "age": [3, 4]})
    said = "columns not used: 'age'"
    assert said in llbt.from_rankings(ranks, objects=["A", "B"]).notes
    assert said in llbt.from_ratings(ranks, objects=["A", "B"]).notes
    assert "columns not used: 'day'" in llbt.from_counts(COUNTS.assign(day=1)).notes
    assert "columns not used: 'x', 'y'" in llbt.from_judgments(ARENA.assign(x=1, y=2)).notes


@pytest.mark.shared
def test_the_corpus_of_honest_and_harmful_tables(shared):
    """50 tables made outside: none of the honest ones is refused, no harmful one goes through unchanged."""
    for table in json.loads((shared / "layouts" / "tables.json").read_text()):
        frame = pd.DataFrame(table["columns"])
        needed = {*ARENA, *WINS, *COUNTS, "ties", "judge", "prompt"} & set(frame)
        plain = door(frame)(frame[[name for name in frame if name in needed and name != "tie"]])
        try:
            c = door(frame)(frame)
        except JudgmentError as refused:
            assert not table["honest"], table["name"]
            for n, figure in pasted(frame, refused):
                assert figure in (n, None), table["name"]
            continue
        same = (c.n_judgments, c.n_ties) == (plain.n_judgments, plain.n_ties)
        assert same is table["honest"], table["name"]
