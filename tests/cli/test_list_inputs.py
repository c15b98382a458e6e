"""llbt fit of rankings, best-worst sets and ratings: the same numbers as in Python."""

import json

import numpy as np
import pandas as pd
import pytest
from support import shell

import llbt

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
    return shell.run("fit", str(folder / name), *options)


@pytest.mark.parametrize(("table", "columns"), [(RANKS, "x,y,z"), (ORDERS, "first,second,third")])
def test_rankings(table, columns, tmp_path):
    said = run(table, tmp_path, "--rankings", columns)
    assert said.exit_code == 0, said.output
    expected = str(llbt.fit("object", llbt.from_rankings(RANKS, objects=["x", "y", "z"])))
    estimates = [text.partition("Estimate")[2].partition("Note")[0].strip() for text in (said.stdout, expected)]
    assert estimates[0] == estimates[1]
    assert estimates[0]


def test_best_and_worst(tmp_path):
    objects = ["item_A", "item_B", "item_C"]
    said = run(SETS, tmp_path, "--objects", ",".join(objects), "--best", "best", "--worst", "worst")
    assert said.exit_code == 0, said.output
    expected = llbt.fit("object", llbt.from_choices(SETS, objects=objects, worst="worst"))
    same(said, expected)


def test_ratings(tmp_path):
    said = run(RANKS, tmp_path, "--ratings", "x,y,z", "--formula", "object")
    assert said.exit_code == 0, said.output
    expected = llbt.fit("object", llbt.from_ratings(RANKS, objects=["x", "y", "z"]).to_comparisons())
    assert f"object[x]  {expected.params['object[x]']:.4f}"[:14] in said.stdout.replace("   ", "  ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rankings", "x,y,z", "--ratings", "x,y,z"], "names another kind of lists"),
        (["--worst", "x"], "use it only with --best"),
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
    fitted = run(table, tmp_path, "--largest-component", "--notes", "all")
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
    data = llbt.from_rankings(path, **options)
    res = llbt.fit("object", data)
    said = shell.run("fit", str(path)).output
    assert said.split("Estimate")[1].split("\n\nNote")[0] == str(res).split("Estimate")[1].split("\n\nNote")[0]
    assert "Note: read as rankings" in said
    board = shell.run("leaderboard", str(path))
    assert board.stdout == f"{llbt.leaderboard(res)}\n"
    assert board.stderr.startswith("note: read as rankings")
    assert shell.run("worth", str(path)).stdout == f"{llbt.worth(res)}\n"
    facts = json.loads(shell.run("fit", str(path), "--format", "json").stdout)
    assert facts["llf"] == pytest.approx(res.llf)


def test_files_of_sets_are_recognized(tmp_path):
    path = tmp_path / "sets.csv"
    path.write_text(
        "id,item_a,item_b,item_c,best,worst\n1,x,y,z,A,C\n2,y,z,w,B,A\n3,z,w,x,A,B\n4,w,x,y,B,A\n5,z,x,w,C,A\n"
    )
    said = shell.run("fit", str(path)).output
    assert "Note: read as sets of the objects in 'item_a', 'item_b', 'item_c', the best in 'best'" in said
    objects = "item_a,item_b,item_c"
    named = ["leaderboard", str(path), "--objects", objects, "--best", "best", "--worst", "worst"]
    assert shell.run(*named).stdout == shell.run("leaderboard", str(path)).stdout


def test_what_is_said_of_judgments_keeps_a_file_from_being_lists(tmp_path):
    path = tmp_path / "lists.csv"
    path.write_text(FOUND["ranks"][0])
    result = shell.run("fit", str(path), "--outcome", "x")
    assert result.exit_code == 2


def test_places_are_no_sides_of_a_comparison(tmp_path):
    """The audit proposed two places as sides and the third as the winner: the reverse of the order."""
    path = tmp_path / "places.csv"
    path.write_text("place1,place2,place3\nA,B,C\nB,A,C\nA,C,B\n")
    result = shell.run("audit", str(path))
    assert result.exit_code == 0, result.output
    assert "3 objects, 3 lists of 3" in result.output


# -- ratings that are recognized ---------------------------------------------------------------------------------

RATED = {  # table → its frame, what from_ratings is told, wins of A over B, ties, wins of B over A
    "a row for each judge": (
        pd.DataFrame({"judge": list("gghh"), "A": [5, 4, 5, 2], "B": [3, 4, 2, 5], "C": [1, 5, 3, 4]}).assign(
            judge=["g1", "g2", "h1", "h2"]
        ),
        {"objects": ["A", "B", "C"], "clusters": "judge"},
        (2, 1, 1),
    ),
    "a row for each rating": (
        pd.DataFrame({"person": [1, 1, 2, 2, 3, 3], "item": list("ABABAB"), "rating": [5, 3, 2, 2, 4, 5]}),
        {"object": "item", "block": ["person"], "clusters": "person"},
        (1, 1, 1),
    ),
    "on prompts": (
        pd.DataFrame(
            {
                "worker": list("vvvvwwww"),
                "item": [1, 1, 2, 2, 1, 1, 2, 2],
                "system": list("ABABABAB"),
                "score": [9, 3, 4, 4, 1, 5, 6, 2],
            }
        ),
        {"object": "system", "rating": "score", "block": ["worker", "item"], "clusters": "worker"},
        (2, 1, 1),
    ),
    "with the time of each rating": (
        pd.DataFrame(
            {
                "judge": [1, 1, 2, 2, 3, 3],
                "object": list("ABABAB"),
                "rating": [5, 3, 2, 2, 4, 5],
                "timestamp": [3, 5, 9, 11, 20, 21],
            }
        ),
        {"block": ["judge"], "clusters": "judge"},
        (1, 1, 1),
    ),
}


@pytest.mark.parametrize("name", RATED)
def test_files_of_ratings_are_recognized(name, tmp_path):
    table, said, expected = RATED[name]
    c = llbt.from_ratings(table, **said).to_comparisons()
    assert tuple(c.counts[0]) == expected
    path = tmp_path / "ratings.csv"
    table.to_csv(path, index=False)
    res = llbt.fit("object + tie", c, cov_type="cautious")
    printed = shell.run("fit", str(path), "--prior", "1")
    assert printed.exit_code == 0, printed.output
    assert "Note: read as ratings" in printed.stdout
    assert f"{c.n_judgments} judgments implied by" in printed.stdout
    facts = json.loads(shell.run("fit", str(path), "--format", "json").stdout)
    assert facts["llf"] == pytest.approx(res.llf)
    assert [row["std_error"] or 0 for row in facts["coefficients"]] == pytest.approx(res.bse.fillna(0).tolist())
    board = shell.run("leaderboard", str(path))
    assert board.stdout.split("Note")[0] == str(llbt.leaderboard(res)).split("Note")[0]
    assert board.stderr.startswith("note: read as ratings")
    assert shell.run("worth", str(path)).exit_code == 0


UNREAD = {  # what may be something else → options that the refusal names, and what one of them stands for
    "ranks with ties or ratings": (
        pd.DataFrame({"judge": ["g", "h", "k"], "A": [1, 2, 1], "B": [2, 2, 1], "C": [3, 1, 2]}),
        ["--rankings A,B,C", "--ratings A,B,C"],
    ),
    "a code beside ratings": (
        pd.DataFrame({"judge": [*"ghk"], "A": [5, 2, 4], "B": [2, 3, 1], "C": [3, 1, 5], "flag": [0, 1, 0]}),
        ["--ratings"],
    ),
    "systems in rows": (
        pd.DataFrame({"model": ["x", "y", "z"], "arc": [10, 20, 30], "gsm": [15, 12, 11], "mmlu": [5, 7, 9]}),
        ["--ratings"],
    ),
    "decimals": (pd.DataFrame({"judge": ["g", "h"], "A": [0.5, 0.7], "B": [0.1, 0.2], "C": [0.3, 0.1]}), ["--ratings"]),
    "a verdict beside an item": (
        pd.DataFrame(
            {
                "judge": [*"gghh"],
                "item": [1, 2, 1, 2],
                "left": [*"xyxz"],
                "right": [*"yzzx"],
                "selected": [*"lrlm"],
                "score": [1, 2, 3, 4],
            }
        ),
        ["--ou"],
    ),
    "two columns of objects": (
        pd.DataFrame({"judge": [*"gghh"], "system": [*"ABAB"], "product": [*"pqpq"], "rating": [1, 2, 3, 4]}),
        ["--ratings"],
    ),
}


@pytest.mark.parametrize("name", UNREAD)
def test_what_may_be_something_else_is_refused_with_the_options_of_ratings(name, tmp_path):
    table, ways = UNREAD[name]
    result = run(table, tmp_path)
    assert result.exit_code == 2, result.output
    assert all(way in result.output for way in ways), result.output
    if len(ways) > 1:
        answers = [run(table, tmp_path, *way.split(), "--prior", "1") for way in ways]
        assert [answer.exit_code for answer in answers] == [0, 0]
        assert ["Plackett-Luce" in answer.stdout for answer in answers] == [True, False]


# -- options of lists ------------------------------------------------------------------------------------------------

LONG = pd.DataFrame(
    {
        "id": [1, 1, 1, 2, 2, 2, 3, 3, 3],
        "brand": list("xyzxyzxyz"),
        "liked": [1, 2, 3, 2, 1, None, 3, 1, 2],
        "judge": list("gggggghhh"),
    }
)


def same(said, res):
    """Whether a call printed a fit."""
    assert said.exit_code == 0, said.output
    printed = (said.stdout, f"{res}\n")
    assert len({text.split("Estimate")[1].split("Note")[0] for text in printed}) == 1, printed


def test_long_rankings_by_their_columns(tmp_path):
    options = ["--rankings", "liked", "--object", "brand", "--block", "id"]
    read = {"object": "brand", "rank": "liked", "block": "id"}
    same(run(LONG, tmp_path, *options), llbt.fit("object", llbt.from_rankings(LONG, **read)))
    below = llbt.from_rankings(LONG, unranked="below", **read)
    assert below.n_judgments == 3
    same(run(LONG, tmp_path, *options, "--unranked", "below"), llbt.fit("object", below))
    by_default = run(LONG, tmp_path, "--rankings", "liked", "--object", "brand")  # all other columns make a list
    assert by_default.stdout == run(LONG, tmp_path, *options[:-1], "id,judge").stdout
    coded = LONG.fillna({"liked": -1})
    assert run(coded, tmp_path, *options, "--missing", "-1").stdout == run(LONG, tmp_path, *options).stdout


def test_long_ratings_by_their_columns(tmp_path):
    options = ["--ratings", "liked", "--object", "brand", "--block", "id", "--clusters", "block", "--formula", "object"]
    rated = llbt.from_ratings(LONG, object="brand", rating="liked", block="id", clusters=["block", "judge"])
    c = rated.to_comparisons()
    assert c.n_judgments == 7
    same(run(LONG, tmp_path, *options), llbt.fit("object", c, cov_type="cautious"))


def test_sets_of_a_design(tmp_path):
    design = pd.DataFrame({"one": ["x", "y", "z"], "two": ["y", "z", "w"], "three": ["z", "w", "x"]})
    design.to_csv(tmp_path / "design.csv", index=False)
    judges = pd.DataFrame(
        {
            "judge": ["g", "h", "k"],
            **{"B1": [1, 2, 3], "W1": [3, 3, 1], "B2": [1, 2, 3], "W2": [2, 1, 1], "B3": [3, 2, 1], "W3": [1, 1, 3]},
        }
    )
    best, worst = ["B1", "B2", "B3"], ["W1", "W2", "W3"]
    sets = llbt.from_choices(judges, design=design, best=best, worst=worst, clusters="judge")
    assert sets.n_judgments == 9
    options = ["--design", str(tmp_path / "design.csv"), "--best", ",".join(best), "--worst", ",".join(worst)]
    expected = llbt.fit("object", sets, cov_type="cluster", groups="judge")
    alone = llbt.fit("object", sets)
    largest = expected if expected.bse.sum() > alone.bse.sum() else alone
    same(run(judges, tmp_path, *options), largest)


def test_places_of_a_design_are_no_ratings(tmp_path):
    table = pd.DataFrame({"ID": [1, 2], "B1": [1, 3], "W1": [3, 1], "B2": [2, 1], "W2": [1, 2]})
    said = " ".join(run(table, tmp_path).output.split())
    assert "pass it as --design, with --best B1,B2 --worst W1,W2." in said
    pd.DataFrame({"a": ["x", "y"], "b": ["y", "z"], "c": ["z", "w"]}).to_csv(tmp_path / "sets.csv", index=False)
    named = ["--design", str(tmp_path / "sets.csv"), "--best", "B1,B2", "--worst", "W1,W2", "--prior", "1"]
    answer = run(table, tmp_path, *named)
    assert answer.exit_code == 0, answer.output
    assert "4 sets with a best and a worst" in answer.stdout


def test_missing_rows_of_lists_are_left_out_and_counted(tmp_path):
    sets = pd.concat([SETS, SETS.iloc[:2].assign(best=[None, "A"], worst=["B", None])])
    options = ["--objects", "item_A,item_B,item_C", "--best", "best", "--worst", "worst"]
    assert run(sets, tmp_path, *options).exit_code == 2
    said = run(sets, tmp_path, *options, "--missing", "drop")
    assert said.stdout.split("Note")[0] == run(SETS, tmp_path, *options).stdout.split("Note")[0]
    assert "2 rows with a missing value left out (--missing drop)" in said.stdout
    found = run(sets, tmp_path, "--missing", "drop")  # recognized
    assert found.stdout.split("Note")[0] == said.stdout.split("Note")[0]
    assert run(sets, tmp_path, *options, "--missing", "0").exit_code == 2
    assert run(SETS, tmp_path, *options, "--missing", "many").exit_code == 2


def test_rows_and_columns_of_lists_that_are_read(tmp_path):
    table = RANKS.assign(year=[1, 2, 1, 1], count=[3, 4, 5, 6])
    refused = run(table, tmp_path)
    assert "column 'count' may say how often each list was given" in " ".join(refused.output.split())
    assert "pass --ignore count to count each row once" in " ".join(refused.output.split())
    said = run(table, tmp_path, "--ignore", "count", "--where", "year=1", "--prior", "1")
    assert said.exit_code == 0, said.output
    assert "3 lists of 3" in said.stdout
    assert "3 of 4 rows kept by --where" in said.stdout


# -- judges beside lists ---------------------------------------------------------------------------------------------

JUDGED = pd.DataFrame(
    {
        "worker": [f"w{k}" for k in (1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4)],
        "x": [1, 1, 2, 2, 3, 3, 1, 1, 1, 2, 1, 3],
        "y": [2, 3, 1, 1, 1, 1, 2, 2, 3, 1, 2, 1],
        "z": [3, 2, 3, 3, 2, 2, 3, 3, 2, 3, 3, 2],
    }
)


@pytest.mark.parametrize("options", [[], ["--rankings", "x,y,z"], ["--judge", "worker"]])
def test_judges_beside_lists_are_clusters(options, tmp_path):
    r = llbt.from_rankings(JUDGED, objects=["x", "y", "z"], clusters="worker")
    res = llbt.fit("object", r, cov_type="cluster", groups="worker")
    assert res.bse.sum() > llbt.fit("object", r).bse.sum()
    said = run(JUDGED, tmp_path, *options)
    same(said, res)
    assert "Standard errors: CR3 by worker (G = 4" in said.stdout
    independent = run(JUDGED, tmp_path, *options, "--cov-type", "nonrobust")
    same(independent, llbt.fit("object", r))
    assert "To cluster: --cov-type cluster --groups worker." in " ".join(independent.stdout.split())


def test_few_judges_of_lists_are_said(tmp_path):
    said = run(RANKS, tmp_path)
    same(said, llbt.fit("object", llbt.from_rankings(RANKS, objects=["x", "y", "z"])))
    assert "Lists are taken as independent. Clustered standard errors" in said.stdout


# -- other commands --------------------------------------------------------------------------------------------------


def call(command, table, folder, *options):
    table.to_csv(folder / "table.csv", index=False)
    return shell.run(command, str(folder / "table.csv"), *options)


@pytest.mark.parametrize("options", [[], ["--rankings", "x,y,z"]])
def test_audit_of_lists(options, tmp_path):
    r = llbt.from_rankings(JUDGED, objects=["x", "y", "z"], clusters="worker")
    said = call("audit", JUDGED, tmp_path, *options, "--format", "json")
    findings = [(found["check"], found["level"]) for found in json.loads(said.stdout)["findings"]]
    expected = llbt.audit(r, judge="worker").to_frame()
    assert findings == list(zip(expected["check"], expected["level"], strict=True))


def test_analysis_of_models_of_lists(tmp_path):
    tied = JUDGED.assign(y=[2, 3, 1, 1, 1, 1, 1, 2, 3, 1, 2, 1])
    said = call("anova", tied, tmp_path, "--rankings", "x,y,z")
    assert said.exit_code == 2
    assert "Pass --formula object --formula object+tie." in " ".join(said.output.split())
    both = ["--formula", "object", "--formula", "object+tie"]
    answer = call("anova", tied, tmp_path, "--rankings", "x,y,z", *both, "--format", "csv")
    r = llbt.from_rankings(tied, objects=["x", "y", "z"])
    with pytest.warns(llbt.errors.TiesWarning):
        expected = llbt.anova(llbt.fit("object", r), llbt.fit("object+tie", r)).to_frame()
    assert float(answer.stdout.splitlines()[2].split(",")[1 + 5]) == pytest.approx(expected["statistic"].iloc[1])
    untied = call("anova", JUDGED, tmp_path)
    line = "--covariates worker --formula object --formula 'object*worker'"
    assert f"Pass {line}." in " ".join(untied.output.split())


def test_agreement_of_lists_is_refused_with_a_command_that_answers(tmp_path):
    said = call("agreement", JUDGED, tmp_path)
    assert said.exit_code == 2
    text = " ".join(said.output.split())
    assert "agreement needs verdicts on pairs, but the file is read as rankings" in text
    command = text.partition("llbt audit ")[2].partition(" ")[0]
    assert shell.run("audit", command).exit_code == 0


@pytest.mark.usefixtures("unpictured")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "heading"), [(JUDGED, "Plackett-Luce"), (RATED["a row for each judge"][0], "read as ratings")]
)
def test_report_of_lists(table, heading, tmp_path):
    said = call("report", table, tmp_path, "--output", str(tmp_path / "page.html"))
    assert said.exit_code == 0, said.output
    assert heading in (tmp_path / "page.html").read_text(encoding="utf-8")


# -- profiles --------------------------------------------------------------------------------------------------------


def profiles():
    """Two profiles in each of five tasks of 12 respondents."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame({"id": np.repeat(range(12), 10), "task": np.tile(np.repeat(range(5), 2), 12)})
    table["price"] = rng.choice(["high", "low"], 120)
    table["fuel use"] = rng.integers(4, 9, 120)
    chosen = rng.random(60) < 0.5 + 0.3 * (table["price"].eq("low").to_numpy().reshape(60, 2) @ [1, -1])
    return table.assign(selected=np.column_stack([chosen, ~chosen]).ravel().astype(int), age=np.repeat(range(12), 10))


def test_profiles_are_fitted_by_their_attributes(tmp_path):
    table = profiles()
    r = llbt.from_choices(table, clusters="id")
    assert r.n_judgments == 60
    formula = 'price + Q("fuel use")'
    by_respondent = llbt.fit(formula, r, cov_type="cluster", groups="id")
    alone = llbt.fit(formula, r)
    said = run(table, tmp_path, "--notes", "all")
    same(said, max(alone, by_respondent, key=lambda res: res.bse.sum()))
    assert "read as choices, in 'selected', among profiles of 'price', 'fuel use', one by 'id' and 'task'" in " ".join(
        said.stdout.split()
    )
    same(run(table, tmp_path, "--cov-type", "cluster", "--groups", "id"), by_respondent)
    refused = run(table.assign(price=table["price"].where(table.index > 1)), tmp_path)
    assert "Pass --missing drop to leave their tasks out" in " ".join(refused.output.split())
    dropped = run(table.assign(price=table["price"].where(table.index > 1)), tmp_path, "--missing", "drop")
    assert "59 lists of 2" in dropped.stdout
    assert "1 task with a missing attribute left out (--missing drop)" in dropped.stdout


@pytest.mark.slow
def test_other_questions_on_profiles(tmp_path):
    table = profiles()
    said = call("anova", table, tmp_path)
    lines = " ".join(said.output.split())
    assert "Pass --formula price --formula 'price + Q(\"fuel use\")'." in lines
    both = call("anova", table, tmp_path, "--formula", "price", "--formula", 'price + Q("fuel use")')
    assert both.exit_code == 0, both.output
    assert call("worth", table, tmp_path).exit_code == 0
    audit = call("audit", table, tmp_path, "--format", "json")
    assert any(note.startswith("every profile is checked") for note in json.loads(audit.stdout)["notes"])
