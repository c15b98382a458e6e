"""Tables in the layouts of the field, under the column names that they have there; counts by hand."""

import io

import pandas as pd
import pytest

import llbt


def csv(text):
    return pd.read_csv(io.StringIO(text))


def counts(c):
    """The wins of the first, ties and wins of the second by pair."""
    frame = c.to_frame()
    names = [name if name in frame else None for name in ("wins_i", "ties", "wins_j")]
    return {
        (row["object_i"], row["object_j"]): tuple(row[name] if name else 0 for name in names)
        for _, row in frame.iterrows()
    }


ROWS = [("ada", "bo"), ("bo", "cy"), ("cy", "ada"), ("ada", "cy")]  # who won, and against whom
WON = {("ada", "bo"): (1, 0, 0), ("ada", "cy"): (1, 0, 1), ("bo", "cy"): (1, 0, 0)}
BOARD = {("ada", "bo"): (1, 0, 0), ("ada", "cy"): (0, 1, 1), ("bo", "cy"): (0, 0, 1)}  # of the next four rows
SIDES = ["ada,bo,{i}", "bo,cy,{j}", "cy,ada,{i}", "ada,cy,{tie}"]


@pytest.mark.parametrize(
    ("won", "lost"),
    [
        ("winner", "loser"),
        ("Winner", "Loser"),
        ("won", "lost"),
        ("Better", "Worse"),
        ("winner_name", "loser_name"),
        ("Winner ID", "Loser ID"),
        ("chosen", "rejected"),
    ],
)
def test_winner_and_loser_in_any_wording(won, lost):
    table = pd.DataFrame(ROWS, columns=[won, lost]).assign(Rater=["r", "s", "r", "s"])
    c = llbt.from_judgments(table)
    assert counts(c) == WON
    assert any("order of presentation is not known" in note for note in c.notes)
    assert llbt.read_judgments(table).to_frame()["judge"].tolist() == ["r", "s", "r", "s"]


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("agent_a,agent_b,winner", ("agent_a", "agent_b", "draw")),
        ("answer1,answer2,winner", ("answer1", "answer2", "tie")),
        ("left,right,selected", ("left", "right", "tie")),
        ("left,right,selected", ("Left", "Right", "draw")),
        ("model_a,model_b,verdict", ("[[A]]", "[[B]]", "[[C]]")),
        ("model_a,model_b,verdict", ("Answer A", "Answer B", "tie")),
        ("Model_A,Model_B,Winner", ("A", "B", "C")),
        ("White,Black,Result", ("1-0", "0-1", "1/2-1/2")),
        ("white,black,result", ("1-0", "0-1", "½-½")),
        ("home_team,away_team,home_score,away_score", ("2,1", "0,1", "1,1")),
        ("homeTeam,awayTeam,homeGoals,awayGoals", ("12,1", "2,11", "0,0")),
    ],
)
def test_two_sides_and_who_won(head, said):
    i, j, tie = said
    table = csv("\n".join([head, *(row.format(i=i, j=j, tie=tie) for row in SIDES)]))
    c = llbt.from_judgments(table.assign(assessor="r"))
    assert counts(c) == BOARD
    assert llbt.read_judgments(table.assign(assessor="r")).to_frame()["judge"].tolist() == ["r"] * 4


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [("is_A_selected", 1, 0), ("is_B_selected", 0, 1), ("left_chosen", "yes", "no"), ("first_won", True, False)],
)
def test_whether_one_side_was_chosen(name, first, second):
    sides = [("ada", "bo"), ("bo", "ada"), ("ada", "bo")]
    table = pd.DataFrame(sides, columns=["condition_1", "condition_2"]).assign(**{name: [first, first, second]})
    assert counts(llbt.from_judgments(table.assign(observer="o"))) == {("ada", "bo"): (1, 0, 2)}


def test_matches_without_a_result_and_draws_are_said():
    table = csv("home_team,away_team,home_score,away_score,neutral\na,b,1,0,True\nb,a,2,2,False\na,b,,,False\n")
    c = llbt.from_judgments(table, order=True)
    assert counts(c) == {("a", "b"): (1, 0, 0), ("b", "a"): (0, 1, 0)}
    assert "1 judgment left out: no result" in c.notes
    assert "1 draw by 'home_score' and 'away_score'" in c.notes


def test_what_the_caller_names_is_read():
    table = csv("first,second,x,y,who\na,b,1,3,b\nb,a,2,2,a\n")
    points = llbt.from_judgments(table, objects=("first", "second"), scores=("x", "y"))
    assert counts(points) == {("a", "b"): (0, 1, 1)}
    assert counts(llbt.from_judgments(table, winner="first", loser="second")) == {("a", "b"): (1, 0, 1)}
    assert len(llbt.read_judgments(table, winner="first", loser="second").to_frame()) == 2
    assert "2 judgments" in llbt.audit(table, winner="first", loser="second").sizes[0]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"winner": "a"}, "needs loser="),
        ({"winner": "a", "loser": "b", "objects": ("a", "b")}, "both say who won"),
        ({"winner": "a", "loser": "b", "scores": ("a", "b")}, "both say who won"),
        ({"winner": "a", "loser": "z"}, "no field 'z'"),
        ({"scores": ("a", "b")}, "scores= names no objects. Pass objects="),
        ({"orders": "both"}, "expected 'agree'"),
    ],
)
def test_refused(options, said):
    with pytest.raises(llbt.errors.LLBTError, match=said):
        llbt.from_judgments(csv("a,b\nx,y\ny,x\n"), **options)


@pytest.mark.parametrize(
    "text",
    [
        "prompt,chosen,rejected\np,a long answer,another one\nq,yes,no\n",  # answers: nothing to rank
        "team,won,lost\na,3,2\nb,1,4\n",  # counts of one team
        "model_a,model_b,response_a,response_b\nx,y,r,s\n",  # nobody says who won
        "left,right,choice,vote\nx,y,left,right\ny,x,left,left\n",  # two columns say who won
    ],
)
def test_tables_that_do_not_say_who_won_are_refused(text):
    with pytest.raises(llbt.errors.LLBTError):
        llbt.from_judgments(csv(text))


def test_letters_are_the_objects_where_objects_are_called_so():
    table = csv("model_a,model_b,verdict\nA,B,A\nB,C,C\nC,A,A\n")
    assert counts(llbt.from_judgments(table)) == {("A", "B"): (1, 0, 0), ("A", "C"): (1, 0, 0), ("B", "C"): (0, 0, 1)}


class TestBothOrders:
    TABLE = csv(
        "model_a,model_b,winner,judge,question_id\n"
        "x,y,model_a,g,1\ny,x,model_b,g,1\n"  # x both times
        "x,y,model_a,g,2\ny,x,model_a,g,2\n"  # the first both times: a tie
        "x,y,model_a,h,2\n"  # another judge, in one order
        "x,z,model_b,g,1\nz,x,tie,g,1\n"  # z and a tie: a tie
    )

    def test_a_prompt_counts_once(self):
        c = llbt.from_judgments(self.TABLE, orders="agree")
        assert counts(c) == {("x", "y"): (2, 1, 0), ("x", "z"): (0, 1, 0)}
        assert any("3 pairs judged in both orders" in note and "2 ties" in note for note in c.notes)
        assert "1 pair judged in one order alone: every judgment counts" in c.notes

    def test_one_by_one_they_are_the_same(self):
        made = llbt.read_judgments(self.TABLE, orders="agree")
        assert counts(llbt.from_judgments(made)) == counts(llbt.from_judgments(self.TABLE, orders="agree"))
        again = llbt.read_judgments(llbt.read_judgments(self.TABLE), orders="agree")
        assert again.to_frame().equals(made.to_frame())
        with pytest.raises(llbt.errors.OptionError, match="which object was shown first"):
            llbt.from_judgments(made, order=True)

    def test_swapped_rows_change_nothing(self):
        turned = self.TABLE.iloc[::-1]
        assert counts(llbt.from_judgments(turned, orders="agree")) == counts(
            llbt.from_judgments(self.TABLE, orders="agree")
        )

    def test_without_prompts_it_is_refused(self):
        with pytest.raises(llbt.errors.JudgmentError, match="needs the prompt"):
            llbt.from_judgments(self.TABLE.drop(columns="question_id"), orders="agree")
        with pytest.raises(llbt.errors.OptionError, match="weights="):
            llbt.from_judgments(self.TABLE.assign(n=2), orders="agree", weights="n")

    def test_turns_of_a_prompt_are_said(self):
        made = llbt.read_judgments(pd.concat([self.TABLE, self.TABLE]), orders="agree")
        assert any("prompt='question_id+turn'" in note for note in made.notes)


@pytest.mark.shared
class TestFiles:
    def test_judgments(self, shared):
        expected = {
            "r05_winner_loser.csv": {("P1", "P2"): (1, 0, 1), ("P1", "P3"): (1, 0, 1), ("P2", "P3"): (1, 0, 1)},
            "r07_verdict_abc.csv": {("ada", "bo"): (1, 0, 1), ("ada", "cy"): (1, 1, 1), ("bo", "cy"): (1, 1, 1)},
            "r29_counts_draws.csv": {("x", "y"): (3, 5, 2), ("x", "z"): (2, 9, 1), ("y", "z"): (4, 6, 2)},
        }
        for name, table in expected.items():
            assert counts(llbt.from_judgments(shared / "layouts" / name)) == table, name

    def test_both_orders(self, shared):
        folder = shared / "layouts"
        flipped = llbt.from_judgments(folder / "r35_both_orders_flip.csv", orders="agree")
        assert counts(flipped) == {("ada", "bo"): (2, 2, 1)}
        agreeing = llbt.from_judgments(folder / "r21_both_orders_agree.csv", orders="agree")
        assert agreeing.n_judgments == 60
        assert not agreeing.has_ties


class TestBestAndWorst:
    SETS = pd.DataFrame({"item_A": ["x", "y"], "item_B": ["y", "z"], "item_C": ["z", "x"]})
    ITEMS = ("item_A", "item_B", "item_C")

    @pytest.mark.parametrize(
        ("best", "worst"),
        [
            (["A", "C"], ["C", "B"]),
            (["a", "c"], ["c", "b"]),
            ([1, 3], [3, 2]),
            (["item_A", "item_C"], ["item_C", "item_B"]),
        ],
    )
    def test_letters_places_and_columns(self, best, worst):
        named = self.SETS.assign(best=["x", "x"], worst=["z", "z"])
        table = self.SETS.assign(best=best, worst=worst)
        read = [llbt.from_choices(t, objects=self.ITEMS, worst="worst") for t in (named, table)]
        assert str(read[0]) == str(read[1])

    def test_places_beside_a_design(self):
        places = pd.DataFrame({"ID": [1, 2], "B1": [1, 2], "W1": [3, 1], "B2": [3, 1], "W2": [2, 3]})
        r = llbt.from_choices(places, design=self.SETS, best=("B1", "B2"), worst=("W1", "W2"), clusters="ID")
        rows = [("x", "y", "z", "x", "z", 1), ("x", "y", "z", "y", "x", 2), ("y", "z", "x", "x", "z", 1)]
        rows += [("y", "z", "x", "y", "x", 2)]
        by_name = pd.DataFrame(rows, columns=[*self.ITEMS, "best", "worst", "ID"])
        assert str(r) == str(llbt.from_choices(by_name, objects=self.ITEMS, worst="worst", clusters="ID"))

    def test_refused(self):
        places = pd.DataFrame({"B1": [1], "W1": [4]})
        with pytest.raises(llbt.errors.OptionError, match="a column for each set"):
            llbt.from_choices(places, design=self.SETS, best="B1")
        with pytest.raises(llbt.errors.JudgmentError, match="no column 'B9'"):
            llbt.from_choices(places, design=self.SETS, best=("B1", "B9"))
        with pytest.raises(llbt.errors.JudgmentError, match="name no object of the set"):
            llbt.from_choices(places, design=self.SETS[:1], best="B1", worst="W1")
        with pytest.raises(llbt.errors.OptionError, match="design="):
            llbt.from_choices(places, best="B1")


def test_ratings_that_mean_none():
    ratings = pd.DataFrame({"x": [5, 0, 3], "y": [4, 2, 0], "z": [0, 1, 3]})
    nothing = ratings.astype(float).where(ratings > 0)
    read = [llbt.from_ratings(t, objects=["x", "y", "z"], missing=m) for t, m in ((ratings, 0), (nothing, ()))]
    said = [counts(r.to_comparisons()) for r in read]
    assert said[0] == said[1] == {("x", "y"): (1, 0, 0), ("x", "z"): (0, 1, 0), ("y", "z"): (1, 0, 0)}


@pytest.mark.shared
def test_best_and_worst_as_places(shared):
    """The design of three sets of three objects is the caller's; the file holds places alone."""
    design = pd.DataFrame({"1": ["a", "a", "b"], "2": ["b", "c", "c"], "3": ["c", "d", "d"]})[:2]
    folder = shared / "layouts"
    r = llbt.from_choices(
        folder / "r25_bws_positions.csv", design=design, best=("B1", "B2"), worst=("W1", "W2"), clusters="ID"
    )
    assert r.n_judgments == 6


@pytest.mark.shared
def test_two_entries_of_one_provider_go_by_their_labels(shared):
    c = llbt.from_judgments(shared / "layouts" / "r27_promptfoo_same_provider.json")
    assert counts(c) == {("cold", "warm"): (1, 0, 1)}


def test_labels_that_two_outputs_share_are_no_names():
    def output(test, prompt, label, selected):
        assertion = {"type": "select-best", "value": "best"}
        return {
            "promptIdx": prompt,
            "testIdx": test,
            "provider": {"id": "acme:chat", "label": label},
            "gradingResult": {"componentResults": [{"pass": selected, "assertion": assertion}]},
        }

    def table(labels):
        outputs = [output(test, k, label, k == test) for test in (0, 1) for k, label in enumerate(labels)]
        return counts(llbt.from_judgments([{"evalId": "e", "config": {}, "results": {"results": outputs}}]))

    assert table(["warm", "cold"]) == {("cold", "warm"): (1, 0, 1)}
    assert table(["warm", "warm"]) == table(["", ""]) == {("acme:chat:0", "acme:chat:1"): (1, 0, 1)}


def test_orderings_are_read_as_rankings():
    """Places in columns and objects in cells say what ranks in columns named after objects do."""
    orders = csv("first,second,third\nx,y,z\ny,x,z\nz,x,\n")
    ranks = csv("x,y,z\n1,2,3\n2,1,3\n2,,1\n")
    read = llbt.from_rankings(orders, objects=["first", "second", "third"])
    ranked = llbt.from_rankings(ranks, objects=["x", "y", "z"])
    assert str(read).partition("Note")[0] == str(ranked).partition("Note")[0]
    assert "are places, best first" in read.notes[0]
