"""What a fit is asked goes by the clusters that its standard errors allow for, or says that it does not."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.mixed import judged_frame
from support.shell import answered

import llbt
from llbt.errors import OptionError


def both_orders(prompts: int = 60, seed: int = 1) -> pd.DataFrame:
    """Three objects, each prompt judged in both orders of one pair, always alike."""
    rng = np.random.default_rng(seed)
    rows = []
    for prompt in range(prompts):
        a, b = (("A", "B"), ("A", "C"), ("B", "C"))[prompt % 3]
        winner = a if rng.random() < 0.6 else b
        rows += [(a, b, winner, prompt % 40, prompt), (b, a, winner, (prompt + 7) % 40, prompt)]
    return pd.DataFrame(rows, columns=["object_i", "object_j", "outcome", "judge", "prompt"])


C = llbt.from_judgments(both_orders(), clusters=["prompt", "judge"])
PLAIN = llbt.fit("object", C)
CLUSTERED = llbt.fit("object", C, cov_type="cluster", groups="prompt")
TWO_WAY = llbt.fit("object", C, cov_type="CR1", groups=["prompt", "judge"])


def notes_of(answer: object) -> str:
    return " ".join(str(answer).split())


def test_a_bootstrap_resamples_the_clusters_of_the_fit() -> None:
    """Two judgments that are always alike are one: errors are √2 times those of judgments, and those of the fit."""
    boot, judgments = llbt.bootstrap(CLUSTERED, n=600, rng=1), llbt.bootstrap(PLAIN, n=600, rng=1)
    assert (boot.resample, judgments.resample) == ("prompt", "judgment")
    errors = [found.replicates.std(axis=0)[:2] for found in (boot, judgments)]
    np.testing.assert_allclose(errors[0] / errors[1], np.sqrt(2), rtol=0.12)
    np.testing.assert_allclose(errors[0], CLUSTERED.bse[:2], rtol=0.15)


def test_rank_pictures_say_what_was_resampled() -> None:
    by_prompt = llbt.bootstrap(CLUSTERED, n=20, rng=1)
    alone = llbt.bootstrap(CLUSTERED, resample="judgment", n=20, rng=1)
    assert llbt.plot.ranks(by_prompt.ranks()).get_xlabel() == "rank (share of the resamples by prompt)"
    assert llbt.plot.ranks(alone.ranks()).get_xlabel() == "rank (share of the resamples)"
    for answer in (alone, alone.ranks()):
        assert "drawn as independent; resample='prompt' draws whole clusters, as the fit's standard errors do" in (
            notes_of(answer)
        )
    plain = notes_of(llbt.bootstrap(PLAIN, n=5, rng=1))
    assert "resample='prompt' draws whole clusters, which the table keeps" in plain
    assert "independent" not in notes_of(by_prompt.ranks())


def test_two_units_have_to_be_named() -> None:
    for ask in (llbt.bootstrap, llbt.fragility, llbt.held_out):
        with pytest.raises(OptionError, match="clustered by prompt and judge, but one unit is needed") as refused:
            ask(TWO_WAY)
        name, value = str(refused.value).split("Name one of them: ")[1].rstrip(".").split("=")
        assert value == "'prompt'"
        options = {"n": 5, "rng": 1} if ask is llbt.bootstrap else {}
        assert ask(TWO_WAY, **{name: "prompt"}, **options) is not None


def test_effects_of_judges_are_resampled_by_judge() -> None:
    frame = judged_frame(8, 0.5, seed=1, each=3)
    res = llbt.fit("object + tie + (object | judge)", llbt.from_counts(frame, clusters="judge"))
    assert llbt.bootstrap(res, n=2, rng=1).resample == "judge"
    by_sex = llbt.fit("object + tie + tie:judge + (object | judge)", llbt.from_counts(frame, covariates="judge"))
    assert llbt.bootstrap(by_sex, n=2, rng=1).resample == "parametric"


def test_one_number_or_none_says_whether_the_model_fits() -> None:
    """The printout has no p-value of χ² where `goodness_of_fit` and `interpret` go by flips of clusters."""
    text = str(CLUSTERED.summary())
    assert "degrees of freedom (no χ² test of fit: clustered)" in text
    assert "χ² p-value" not in text
    assert "(χ² test of fit: p = " in str(PLAIN.summary())
    flips = llbt.goodness_of_fit(CLUSTERED)
    assert llbt.interpret(CLUSTERED).figures["p of fit"] == flips.pearson.p_value
    with pytest.raises(OptionError, match="n=9: tables drawn from the model have independent judgments"):
        llbt.goodness_of_fit(CLUSTERED, 9)


def test_fragility_and_folds_go_by_the_clusters_of_the_fit() -> None:
    assert llbt.fragility(CLUSTERED).unit == "prompt"
    assert llbt.fragility(PLAIN).unit == "judgment"
    by_prompt = llbt.held_out([CLUSTERED, llbt.fit("object", C)], rng=1)
    assert by_prompt.table() is not None
    assert "standard errors: over 60 levels of prompt" in notes_of(by_prompt)
    pd.testing.assert_frame_equal(by_prompt.to_frame(), llbt.held_out([PLAIN, PLAIN], by="prompt", rng=1).to_frame())
    assert "Standard errors take judgments as independent" in notes_of(llbt.held_out(PLAIN, rng=1))


@pytest.mark.slow
def test_what_takes_judgments_as_independent_says_so() -> None:
    said = "independent, and the fit is clustered by prompt"
    asked = {
        "level tests": lambda res: llbt.level_tests(res, by="judge"),
        "influence": lambda res: llbt.influence(res, by="judge"),
        "residuals": llbt.residuals,
        "residuals of pairs": lambda res: llbt.residuals(res, of="pairs"),
    }
    for name, ask in asked.items():
        assert said in notes_of(ask(CLUSTERED)), name
        assert said not in notes_of(ask(PLAIN)), name
    assert said not in notes_of(llbt.level_tests(CLUSTERED, by="prompt"))
    for ask in (llbt.anova, llbt.drop1):
        assert "the table keeps prompt and judge. To allow for clusters, fit with" in notes_of(ask(PLAIN))
        assert "the table keeps" not in notes_of(ask(CLUSTERED))
        assert "the table keeps" not in notes_of(ask(llbt.fit("object", C, cov_type="cautious")))


@pytest.mark.parametrize("options", [{"cov_type": "cluster", "groups": "prompt"}, {"cov_type": "quasi"}])
def test_profile_intervals_are_of_independent_judgments_alone(options: dict) -> None:
    with pytest.raises(OptionError, match="method='profile' takes judgments as independent"):
        llbt.fit("object", C, **options).conf_int(method="profile")


def test_command_line_and_python_give_one_p_for_one_file(tmp_path: Path) -> None:
    """What was not kept is said with the call that keeps it; pasted, it gives the numbers of `llbt fit FILE`."""
    file = str(tmp_path / "votes.csv")
    two = both_orders().query("object_i != 'C' and object_j != 'C'").replace({"A": "new", "B": "old"})
    two.drop(columns="judge").to_csv(file, index=False)
    plain = str(llbt.fit("object", llbt.from_judgments(file)))
    asked = "prompt was not kept. To cluster: from_judgments(…, clusters='prompt'), fit(…, cov_type='cautious')."
    assert f"Judgments are taken as independent, and {asked}" in " ".join(plain.split())
    res = llbt.fit("object", llbt.from_judgments(file, clusters="prompt"), cov_type="cautious")
    shell = answered("fit", file)
    (line,) = (text for text in shell.splitlines() if text.startswith("object[new]"))
    assert line in str(res)
    assert "not kept" not in str(res)
    assert f"{res.pvalues['object[new]']:.4f}" in line


@pytest.mark.parametrize("names", [("judge", "prompt"), ("model", "question_id")])
def test_columns_are_known_under_the_names_of_their_format(names: tuple[str, str]) -> None:
    rows = [("x", "y", "model_a", "m", 1), ("y", "x", "model_b", "m", 1), ("x", "y", "model_b", "m", 2)]
    frame = pd.DataFrame(rows, columns=["model_a", "model_b", "winner", *names])
    c = llbt.from_judgments(frame, format="arena")
    said = notes_of(llbt.fit("object", c))
    for name in c.unkept:
        if name in (*names, "judge", "prompt"):
            assert name in said
            assert llbt.from_judgments(frame, format="arena", clusters=name).clusters == (name,)
    assert names[1] in c.unkept
