"""llbt fit of rankings, best-worst sets and ratings: the same numbers as in Python."""

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

import llbt
from llbt.cli.main import app

RANKS = pd.DataFrame({"x": [1, 2, 1, 3], "y": [2, 1, 3, 1], "z": [3, 3, 2, 2], "judge": ["g", "h", "g", "h"]})
ORDERS = pd.DataFrame(
    {
        "first": ["x", "y", "x", "y"],
        "second": ["y", "x", "z", "z"],
        "third": ["z", "z", "y", "x"],
        "judge": RANKS["judge"],
    }
)
SETS = pd.DataFrame(
    {
        "item_A": ["x", "y", "z", "x"],
        "item_B": ["y", "z", "x", "y"],
        "item_C": ["z", "x", "y", "z"],
        "best": ["A", "B", "A", "B"],
        "worst": ["B", "A", "C", "A"],
    }
)


def run(table, folder, *options, name="table.csv"):
    table.to_csv(folder / name, index=False)
    return CliRunner().invoke(app, ["fit", str(folder / name), *options])


@pytest.mark.parametrize(("table", "columns"), [(RANKS, "x,y,z"), (ORDERS, "first,second,third")])
def test_rankings(table, columns, tmp_path):
    said = run(table, tmp_path, "--rankings", columns)
    assert said.exit_code == 0, said.output
    expected = str(llbt.fit_rankings("object", llbt.rankings_from(RANKS, objects=["x", "y", "z"])))
    estimates = [text.partition("Estimate")[2].partition("Note")[0].strip() for text in (said.stdout, expected)]
    assert estimates[0] == estimates[1]
    assert estimates[0]


def test_best_and_worst(tmp_path):
    objects = ["item_A", "item_B", "item_C"]
    said = run(SETS, tmp_path, "--objects", ",".join(objects), "--best", "best", "--worst", "worst")
    assert said.exit_code == 0, said.output
    expected = llbt.fit_rankings("object", llbt.choices_from(SETS, objects=objects, worst="worst"))
    assert said.stdout.split("Estimate")[1] == str(expected).split("Estimate")[1] + "\n"


def test_ratings(tmp_path):
    said = run(RANKS, tmp_path, "--ratings", "x,y,z", "--formula", "object")
    assert said.exit_code == 0, said.output
    expected = llbt.fit("object", llbt.from_ratings(RANKS, objects=["x", "y", "z"]))
    assert f"object[x]  {expected.params['object[x]']:.4f}"[:14] in said.stdout.replace("   ", "  ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rankings", "x,y,z", "--ratings", "x,y,z"], "names another kind of lists"),
        (["--worst", "x"], "it stands beside --best"),
        (["--best", "x"], "--objects names the columns"),
        (["--rankings", "x,q"], "no column 'q'"),
        (["--rankings", "x,y,z", "--outcome", "x"], "it is not for --rankings"),
        (["--rankings", "x,y,z", "--link", "probit"], "it is not for --rankings"),
    ],
)
def test_refused(options, said, tmp_path):
    result = run(RANKS, tmp_path, *options)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


def test_groups_that_never_met(tmp_path):
    table = pd.DataFrame({"object_i": ["a", "b", "c", "c", "d"], "object_j": ["b", "a", "d", "e", "e"]})
    table = pd.concat([table, table.rename(columns={"object_i": "object_j", "object_j": "object_i"})]).assign(
        outcome="i"
    )
    result = run(table, tmp_path)
    assert result.exit_code == 2
    assert "--largest-component" in result.output
    fitted = run(table, tmp_path, "--largest-component")
    assert fitted.exit_code == 0, fitted.output
    assert "3 objects" in fitted.stdout
    assert "4 judgments of 'a', 'b'" in " ".join(fitted.stdout.split())


def test_refusals_name_the_options_for_lists(tmp_path):
    result = run(pd.DataFrame({"one": [1], "two": [2]}), tmp_path)
    assert "llbt fit --rankings" in result.output
    assert "--winner" in result.output


def test_both_orders_of_a_prompt_that_is_named(tmp_path):
    sides = [("x", "y"), ("y", "x")] * 3
    table = pd.DataFrame(sides, columns=["model_a", "model_b"]).assign(qid=[1, 1, 2, 2, 3, 3])
    table["winner"] = ["model_a", "model_b", "model_a", "model_a", "model_b", "model_a"]  # x, a flip, y
    said = run(table, tmp_path, "--orders", "agree", "--prompt", "qid")
    assert said.exit_code == 0, said.output
    assert "3 judgments" in said.stdout
    assert "Ties: 33.3 %" in said.stdout
    assert run(table, tmp_path, "--orders", "agree").exit_code == 2


# -- files that are recognized --------------------------------------------------------------------------------------

FOUND = {
    "ranks": ("judge,x,y,z\nJ1,1,2,3\nJ2,2,1,3\nJ3,3,1,2\nJ4,1,3,2\n", {"objects": ["x", "y", "z"]}),
    "places": ("first,second,third\nx,y,z\ny,x,z\nz,y,x\nx,z,y\n", {"objects": ["first", "second", "third"]}),
    "long": (
        "id,trait,item,rank\n1,a,x,1\n1,a,y,2\n1,b,y,1\n1,b,x,2\n2,a,y,1\n2,a,z,2\n2,b,z,1\n2,b,x,2\n",
        {"object": "item", "block": ["id", "trait"]},
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_files_of_rankings_are_recognized(name, tmp_path):
    text, options = FOUND[name]
    path = tmp_path / "lists.csv"
    path.write_text(text)
    data = llbt.rankings_from(path, **options)
    res = llbt.fit_rankings("object", data)
    said = CliRunner().invoke(app, ["fit", str(path)]).output
    assert said.split("\n\nNote")[0] == str(res).split("\n\nNote")[0]
    assert "Note: read as rankings" in said
    board = CliRunner().invoke(app, ["leaderboard", str(path)])
    assert board.stdout == f"{llbt.leaderboard(res)}\n"
    assert board.stderr.startswith("note: read as rankings")
    assert CliRunner().invoke(app, ["worth", str(path)]).stdout == f"{llbt.worth(res)}\n"
    facts = json.loads(CliRunner().invoke(app, ["fit", str(path), "--format", "json"]).stdout)
    assert facts["llf"] == pytest.approx(res.llf)


def test_files_of_sets_are_recognized(tmp_path):
    path = tmp_path / "sets.csv"
    path.write_text(
        "id,item_a,item_b,item_c,best,worst\n1,x,y,z,A,C\n2,y,z,w,B,A\n3,z,w,x,A,B\n4,w,x,y,B,A\n5,z,x,w,C,A\n"
    )
    said = CliRunner().invoke(app, ["fit", str(path)]).output
    assert "Note: read as sets of the objects in 'item_a', 'item_b', 'item_c', the best in 'best'" in said
    objects = "item_a,item_b,item_c"
    named = ["leaderboard", str(path), "--objects", objects, "--best", "best", "--worst", "worst"]
    assert CliRunner().invoke(app, named).stdout == CliRunner().invoke(app, ["leaderboard", str(path)]).stdout


def test_what_is_said_of_judgments_keeps_a_file_from_being_lists(tmp_path):
    path = tmp_path / "lists.csv"
    path.write_text(FOUND["ranks"][0])
    result = CliRunner().invoke(app, ["fit", str(path), "--outcome", "x"])
    assert result.exit_code == 2


def test_places_are_no_sides_of_a_comparison(tmp_path):
    """The audit proposed two places as sides and the third as the winner: the reverse of the order."""
    path = tmp_path / "places.csv"
    path.write_text("place1,place2,place3\nA,B,C\nB,A,C\nA,C,B\n")
    result = CliRunner().invoke(app, ["audit", str(path)])
    assert result.exit_code == 2
    assert "--objects place1" not in result.output, result.output
