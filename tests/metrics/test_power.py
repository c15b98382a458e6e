"""The power of tests of metrics rises with what a degraded copy has lost."""

import joblib
import numpy as np
import pytest
from support.three_metrics import X, Z, three

import llbt


def test_power_rises_with_the_loss_and_is_there_when_nothing_is_left(many):
    found = llbt.metrics.power(many.matrix("sd 0.3"), many.human_matrix(), degraded=[0.05, 1], n=99, n_trials=30, rng=1)
    assert (np.diff(found.estimate, axis=1) > 0).all()
    assert found.estimate[0, 1] > 0.9
    assert found.loss[0] < found.loss[1]
    assert found.to_frame()["method"].tolist() == ["perm-systems"] * 2 + ["boot"] * 2


def test_power_does_not_depend_on_the_number_of_processes(many):
    x, z = many.matrix("sd 1"), many.human_matrix()
    with joblib.parallel_config(backend="threading"):
        one, two = (llbt.metrics.power(x, z, degraded=[0.5], n=40, n_trials=12, rng=1, n_jobs=jobs) for jobs in (1, 2))
    assert one.as_text() == two.as_text()


def test_a_degraded_metric_has_the_same_scores_elsewhere():
    from llbt.metrics.power import _degraded

    x, _, _ = three(missing=0.1, shape=(20, 20))
    worse = _degraded(x, 0.3, np.random.default_rng(1))
    np.testing.assert_array_equal(np.sort(worse, axis=None), np.sort(x, axis=None))
    np.testing.assert_array_equal(np.isnan(worse), np.isnan(x))
    there = ~np.isnan(x)
    assert np.mean((worse != x)[there]) == pytest.approx(0.3, abs=0.02)


@pytest.mark.parametrize("degraded", [[], [0.0], [1.2], [np.nan]])
def test_power_refuses_shares_that_are_none(degraded):
    with pytest.raises(llbt.errors.OptionError, match="expected shares of the scores, above 0 and up to 1"):
        llbt.metrics.power(X, Z, degraded=degraded)
