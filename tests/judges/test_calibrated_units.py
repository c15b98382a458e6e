"""Calibrated worths as a model of units: left out, drawn again and held out, against calibrations made by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from support.questions import fit_of, judgments

import llbt
from llbt.errors import DesignError, OptionError
from llbt.inference.unit_models import folds_of, unit_model

LABELLED = 120


def people() -> pd.DataFrame:
    return judgments().rename(columns={"people": "outcome"}).drop(columns="machine")[:LABELLED]


def machines() -> pd.DataFrame:
    return judgments().rename(columns={"machine": "outcome"}).drop(columns="people").assign(judge="m")


def calibrated(human: pd.DataFrame, machine: pd.DataFrame | None = None, **options: Any) -> Any:
    machine = machines() if machine is None else machine
    return llbt.judges.calibrate(human, machine, formula="object + tie", **{"unit": "prompt", **options})


def own_scores(params: np.ndarray, frame: pd.DataFrame) -> np.ndarray:
    """Return log p of labels, written out."""
    lam = np.append(params[:3], 0.0)
    apart = lam[frame["object_i"].map("ABCD".index)] - lam[frame["object_j"].map("ABCD".index)]
    logs = np.column_stack([apart, np.full(len(frame), params[3]), -apart])
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    return logs[np.arange(len(frame)), frame["outcome"].map(["i", "tie", "j"].index)]


@pytest.mark.parametrize("omega", [None, 0.4])
def test_labels_left_out_are_a_calibration_by_the_others(omega: float | None) -> None:
    """The weight of the machine is found anew where the data chose it; the verdict on the unit stays."""
    res = calibrated(people(), omega=omega)
    model = unit_model(res, None, "by")
    assert len(model.counts) == LABELLED
    np.testing.assert_allclose(model.estimated(model.counts), res.params, atol=1e-12)
    place = next(k for k, label in enumerate(model.labels) if str(label).startswith("75, "))
    counts = model.counts.copy()
    counts[place] = 0
    again = calibrated(people().query("prompt != 75"), omega=omega)
    np.testing.assert_allclose(model.estimated(counts), again.params, atol=1e-8)
    refitted = model.refitted(counts)
    np.testing.assert_allclose(refitted.params, again.params, atol=1e-8)
    np.testing.assert_allclose(refitted.bse, again.bse, atol=1e-8)
    assert (again.omega == 0.4).all() == (omega is not None)


@pytest.mark.slow
def test_influence_is_of_each_labelled_unit() -> None:
    frame = llbt.influence(fit_of("calibrated")).to_frame()
    assert len(frame) == LABELLED * 4
    again = calibrated(people().query("prompt != 75"))
    mine = frame[frame["unit"].str.startswith("75, ")].set_index("object")
    np.testing.assert_allclose(mine.loc[list("ABC"), "without"], again.params.iloc[:3], atol=1e-8)
    assert frame["unit"].iloc[0].startswith("75, ")  # what moves most


def test_held_out_labels_are_predicted_by_the_calibration_of_the_rest() -> None:
    model = unit_model(fit_of("calibrated"), None, "by")
    loss = 0.0
    for part in folds_of(model, 4, np.random.default_rng(2)):
        out = [int(str(label).split(",")[0]) for label, held in zip(model.labels, part, strict=True) if held]
        held = people()[people()["prompt"].isin(out)]
        again = calibrated(people()[~people()["prompt"].isin(out)], means="overall")  # as in the fit
        loss -= own_scores(again.params.to_numpy(), held).sum() / LABELLED
    found = llbt.held_out(fit_of("calibrated"), folds=4, rng=2)
    assert found.to_frame()["log_loss"].iloc[0] == pytest.approx(loss, abs=1e-8)
    assert "120 labels" in found.as_text()


def test_calibrations_are_compared_on_the_same_labels() -> None:
    """Without weight on the machine it is the fit of the labels that remain."""
    alone, tuned = calibrated(people(), omega=0.0), fit_of("calibrated")
    both = llbt.held_out([alone, tuned], folds=4, rng=2).to_frame()
    assert np.isfinite(both["delta_log_loss"].iloc[1])
    model = unit_model(alone, None, "by")
    loss = 0.0
    for part in folds_of(model, 4, np.random.default_rng(2)):
        out = [int(str(label).split(",")[0]) for label, held in zip(model.labels, part, strict=True) if held]
        rest = people()[~people()["prompt"].isin(out)]
        plain = llbt.fit("object + tie", llbt.from_judgments(rest)).params.to_numpy()
        loss -= own_scores(plain, people()[people()["prompt"].isin(out)]).sum() / LABELLED
    assert both["log_loss"].iloc[0] == pytest.approx(loss, abs=1e-7)
    fewer = calibrated(people()[:100])
    with pytest.raises(DesignError, match="split in different ways"):
        llbt.held_out([alone, fewer], folds=4)
    with pytest.raises(DesignError, match="calibrated worths predict labels"):
        llbt.held_out([alone, llbt.fit("object + tie", llbt.from_judgments(people()))], folds=4)


def _drawn(frame: pd.DataFrame, prompts: np.ndarray) -> pd.DataFrame:
    parts = [frame[frame["prompt"] == prompt].assign(prompt=k) for k, prompt in enumerate(prompts)]
    return pd.concat(parts, ignore_index=True)


def test_resamples_are_calibrations_of_units_drawn_again() -> None:
    res = fit_of("calibrated")
    model = unit_model(res, None, "resample")
    counts = np.random.default_rng(3).multinomial(240, np.full(240, 1 / 240)).astype(float)
    prompts = np.array([int(str(label).split(",")[0]) for label in model.labels])
    drawn = np.repeat(prompts, counts.astype(int))
    again = calibrated(_drawn(people(), drawn), _drawn(machines(), drawn), means="overall")
    np.testing.assert_allclose(model.estimated(counts), again.params, atol=1e-8)
    refitted = model.refitted(counts)
    np.testing.assert_allclose(refitted.bse, again.bse, atol=1e-8)
    assert refitted.n_labels == again.n_labels
    np.testing.assert_array_equal(refitted.comparisons.counts.sum(), again.comparisons.counts.sum())
    boot = llbt.bootstrap(res, n=4, rng=1)
    same = llbt.bootstrap(res, lambda fit: fit.params, n=4, rng=1)
    np.testing.assert_allclose(boot.replicates, same.replicates, atol=1e-12)
    assert boot.resample == "unit"
    assert boot.ranks().to_frame().groupby("object")["estimate"].sum().to_numpy() == pytest.approx(1.0)


def test_groups_of_units_stay_together() -> None:
    grouped = (frame.assign(topic=frame["prompt"] // 4) for frame in (people(), machines()))
    res = calibrated(*grouped, groups="topic")
    model = unit_model(res, None, "by")
    assert model.unit == "topic"
    assert model.labels == tuple(range(30))
    assert model.sizes.tolist() == [4.0] * 30
    counts = model.counts.copy()
    counts[7] = 0
    again = calibrated(people().query("prompt // 4 != 7"))
    fixed = calibrated(people(), omega=0.3)
    grouped = (frame.assign(topic=frame["prompt"] // 4) for frame in (people(), machines()))
    held = unit_model(calibrated(*grouped, groups="topic", omega=0.3), "topic", "by").estimated(counts)
    np.testing.assert_allclose(held, calibrated(people().query("prompt // 4 != 7"), omega=0.3).params, atol=1e-8)
    assert np.abs(model.estimated(counts) - again.params).max() < 0.05  # whose weight is tuned by single units
    assert np.abs(held - fixed.params).max() > 1e-4
    boot = llbt.bootstrap(res, n=3, rng=1)
    assert boot.resample == "topic"


@pytest.mark.slow
def test_resamples_spread_as_the_standard_errors_say() -> None:
    """Simulation: 600 labels of 1,200 units."""
    rng = np.random.default_rng(4)
    i = rng.integers(3, size=1200)
    j = (i + rng.integers(1, 3, size=1200)) % 3
    lam = np.array([0.5, 0.0, -0.5])
    said = rng.random(1200) < 1 / (1 + np.exp(-2 * (lam[i] - lam[j])))
    machine = np.where(rng.random(1200) < 0.8, said, rng.random(1200) < 0.5)
    frame = pd.DataFrame({"object_i": i, "object_j": j, "prompt": range(1200)})
    human = frame.assign(outcome=np.where(said, "i", "j"))[:600]
    res = llbt.judges.calibrate(human, frame.assign(outcome=np.where(machine, "i", "j")), formula="object")
    boot = llbt.bootstrap(res, n=300, rng=1)
    assert boot.degenerate == 0
    np.testing.assert_allclose(boot.replicates[:, :2].std(axis=0), res.bse.to_numpy()[:2], rtol=0.15)


def test_what_is_no_unit_is_refused() -> None:
    res = fit_of("calibrated")
    with pytest.raises(OptionError, match="by='prompt' is not the unit of these calibrated worths"):
        llbt.influence(res, by="prompt")
    with pytest.raises(OptionError, match="draws from a likelihood, and calibrated worths have none"):
        llbt.bootstrap(res, resample="parametric")
    with pytest.raises(OptionError, match="no likelihood and no counts"):
        llbt.simulate(res)
