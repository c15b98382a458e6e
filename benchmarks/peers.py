"""The tasks of the peers, by the shortest way in their documentation, with input in the form that they read fastest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from . import frames
from .inputs import OUTCOMES, Array, read, side_names
from .own import RESAMPLES

Estimates = dict[str, Any]
EVALICA_WINNERS = np.array([1, 0, 2], dtype=np.uint8)  # Winner.X, Winner.Draw, Winner.Y for OUTCOMES


def evalica_codes(folder: Path) -> Any:
    i, j, outcome = read(folder, "i", "j", "outcome")
    size = frames.described(folder).objects
    return i.astype(np.int64), j.astype(np.int64), EVALICA_WINNERS[outcome], pd.RangeIndex(size)


def evalica_strings(folder: Path) -> Any:
    frame = frames.strings(folder)
    winners = EVALICA_WINNERS[pd.Categorical(frame["outcome"], categories=list(OUTCOMES)).codes]
    return frame["left"], frame["right"], winners, None


def evalica_bradley_terry(data: Any) -> Estimates:
    import evalica

    i, j, winners, index = data
    if index is None:  # lists are what it reads fastest
        i, j = i.tolist(), j.tolist()
    scores = evalica.bradley_terry(i, j, winners, index=index).scores
    return {"log_odds": np.log(scores.sort_index().to_numpy())}


def evalica_newman(data: Any) -> Estimates:
    import evalica

    i, j, winners, index = data
    if index is None:
        i, j = i.tolist(), j.tolist()
    result = evalica.newman(i, j, winners, index=index)
    return {"log_odds": np.log(result.scores.sort_index().to_numpy()), "tie": np.log(2 * result.v)}


def code_arrays(folder: Path) -> Any:
    return (*read(folder, "i", "j", "outcome"), frames.described(folder).objects)


def half_win_matrix(i: Array, j: Array, outcome: Array, size: int) -> Array:
    """Return wins of the row over the column, a tie half of one: what choix wants, by one bincount."""
    code = (i.astype(np.int64) * size + j) * 3 + outcome
    counts = np.bincount(code, minlength=size * size * 3).reshape(size, size, 3)
    return counts[:, :, 0] + counts[:, :, 2].T + (counts[:, :, 1] + counts[:, :, 1].T) / 2


def choix_dense(arrays: Any) -> Estimates:
    """With the matrix as a user writes it, by two np.add.at."""
    import choix

    i, j, outcome, size = arrays
    won = np.array([1.0, 0.5, 0.0])[outcome]
    wins = np.zeros((size, size))
    np.add.at(wins, (i, j), won)
    np.add.at(wins, (j, i), 1 - won)
    return {"log_odds": choix.ilsr_pairwise_dense(wins)}


def choix_bincount(arrays: Any) -> Estimates:
    """With the matrix by one bincount, as in llbt's own tabulation, so that only choix is timed."""
    import choix

    return {"log_odds": choix.ilsr_pairwise_dense(half_win_matrix(*arrays))}


def rankings(folder: Path) -> Any:
    (lists,) = read(folder, "lists")
    return frames.described(folder).objects, lists.tolist()


def choix_rankings(data: Any) -> Estimates:
    import choix

    size, lists = data
    return {"log_odds": choix.ilsr_rankings(size, lists)}


def arena_rank(frame: pd.DataFrame) -> Estimates:
    from arena_rank.models.bradley_terry import BradleyTerry
    from arena_rank.utils.data_utils import PairDataset

    data = PairDataset.from_pandas(frame)
    found = BradleyTerry(n_competitors=len(data.competitors), scale=1.0, base=np.e).compute_ratings_and_cis(data)
    return {"log_odds": np.asarray(found["ratings"]), "errors": np.sqrt(np.asarray(found["variances"]))}


def arena_rank_sides(frame: pd.DataFrame) -> Estimates:
    """Without its weights, scaling and penalty, so that it has the likelihood of the check."""
    from arena_rank.models.contextual_bradley_terry import ContextualBradleyTerry
    from arena_rank.utils.data_utils import ContextualPairDataset

    names = side_names(sum(column.startswith("x") for column in frame))
    data = ContextualPairDataset.from_pandas(frame, names, reweighted=False, normalize_features=False)
    model = ContextualBradleyTerry(len(data.competitors), len(names), scale=1.0, base=np.e, reg=0.0)
    found = model.compute_ratings_and_cis(data)
    return {"log_odds": np.asarray(found["ratings"]), "coefficients": np.asarray(found["coeffs"])}


def leaderbot_table(folder: Path) -> Any:
    pairs, counts, size = frames.table(folder)
    low, high = pairs.min(axis=1), pairs.max(axis=1)
    flipped = pairs[:, 0] > pairs[:, 1]
    counts[flipped] = counts[flipped][:, ::-1]
    frame = pd.DataFrame({"i": low, "j": high, "win": counts[:, 0], "loss": counts[:, 2], "tie": counts[:, 1]})
    summed = frame.groupby(["i", "j"], as_index=False).sum()
    outcome = summed[["win", "loss", "tie"]].to_numpy().astype(np.int64)
    return {"X": summed[["i", "j"]].to_numpy(), "Y": outcome, "models": [str(k) for k in range(size)]}


def leaderbot_shipped(folder: Path) -> Any:
    pairs, counts, names = frames.shipped(folder)
    return {"X": pairs, "Y": counts[:, [0, 2, 1]], "models": names}


def leaderbot_davidson(data: Any) -> Estimates:
    """Davidson's own model; its default adds a factor model of ties and covariances."""
    from leaderbot.models import Davidson

    model = Davidson(data, k_cov=None, k_tie=0)
    model.train()
    return {"log_odds": model.param[: len(data["models"])]}


def leaderbot_rao_kupper(data: Any) -> Estimates:
    from leaderbot.models import RaoKupper

    model = RaoKupper(data, k_cov=None, k_tie=0)
    model.train()
    return {"log_odds": model.param[: len(data["models"])], "tie": model.param[-1]}


def leaderbot_default(data: Any) -> Estimates:
    from leaderbot.models import Davidson

    model = Davidson(data)
    model.train()
    return {"first": data["models"][int(np.argmax(model.param[: len(data["models"])]))]}


def _of_explicit(params: Any, names: list[str]) -> Estimates:
    values = np.asarray([params[name] for name in names], dtype=float)
    return {"log_odds": np.r_[2 * values[:-2], 0], "tie": values[-2], "order": values[-1]}


def pyfixest(data: Any) -> Estimates:
    import pyfixest as pf

    frame, names = data
    fit = pf.fepois(f"count ~ {' + '.join(names)} | comparison", data=frame, vcov="iid")
    return _of_explicit(fit.coef(), names) | {"errors": np.asarray(fit.se())}


def glum(data: Any) -> Estimates:
    from glum import GeneralizedLinearRegressor

    frame, names = data
    table = frame[names].assign(comparison=frame["comparison"].astype("category"))
    model = GeneralizedLinearRegressor(family="poisson", alpha=0, fit_intercept=False, gradient_tol=1e-8)
    model.fit(table, frame["count"])
    error = model.std_errors(table, frame["count"], robust=False, dispersion=1.0)
    return _of_explicit(dict(zip(names, model.coef_, strict=False)), names) | {
        "errors": np.asarray(error)[: len(names)]
    }


def statsmodels_glm(data: Any) -> Estimates:
    from statsmodels.genmod.families import Poisson
    from statsmodels.genmod.generalized_linear_model import GLM

    frame, names = data
    dummies = pd.get_dummies(frame["comparison"], prefix="mu", dtype=float)
    fit = GLM(frame["count"], pd.concat([frame[names], dummies], axis=1), family=Poisson()).fit()
    return _of_explicit(fit.params, names) | {"errors": fit.bse[names].to_numpy(), "deviance": fit.deviance}


def statsmodels_conditional(data: Any) -> Estimates:
    from statsmodels.discrete.conditional_models import ConditionalPoisson

    frame, names = data
    fit = ConditionalPoisson(frame["count"], frame[names], groups=frame["comparison"]).fit(disp=False)
    return _of_explicit(dict(zip(names, np.asarray(fit.params), strict=True)), names)


def scipy_bradley_terry(frame: pd.DataFrame) -> Estimates:
    """As leaderboards do it: count in a frame, logistic regression on the pairs by L-BFGS; a tie is half a win."""
    return {"log_odds": _logistic(*_pair_wins(frame))}


def scipy_bootstrap(frame: pd.DataFrame) -> Estimates:
    """The same, for resampled rows; a few resamples, counted as all of them."""
    some = 5
    rng = np.random.default_rng(1)
    spread = [_logistic(*_pair_wins(frame.sample(frac=1.0, replace=True, random_state=rng)))[0] for _ in range(some)]
    return {"spread": np.std(spread), "factor": RESAMPLES / some}


def _pair_wins(frame: pd.DataFrame) -> tuple[Array, Array, Array, int]:
    both = pd.concat([frame["left"], frame["right"]], ignore_index=True)
    codes, names = pd.factorize(both, sort=True)
    first = np.asarray(frame["outcome"].map({"i": 1.0, "tie": 0.5, "j": 0.0}), dtype=float)
    rows = pd.DataFrame({"i": codes[: len(frame)], "j": codes[len(frame) :], "won": first, "n": 1.0})
    pairs = rows.groupby(["i", "j"], as_index=False).sum()
    return pairs[["i", "j"]].to_numpy(), pairs["won"].to_numpy(), pairs["n"].to_numpy(), len(names)


def _logistic(pairs: Array, won: Array, n: Array, size: int) -> Array:
    from scipy.optimize import minimize

    i, j = pairs.T

    def loss(log_odds: Array) -> tuple[float, Array]:
        difference = log_odds[i] - log_odds[j]
        p = 1 / (1 + np.exp(-difference))
        excess = n * p - won
        gradient = np.bincount(i, excess, size) - np.bincount(j, excess, size)
        return float(n @ np.logaddexp(0, difference) - won @ difference), gradient

    return np.asarray(minimize(loss, np.zeros(size), jac=True, method="L-BFGS-B", options={"ftol": 1e-14}).x)


def nlpstats_interval(level: str, coefficient: str) -> Any:
    """Its bootstrap over both; at input level a tenth of the resamples, counted as all of them."""

    def run(matrices: Any) -> Estimates:
        from nlpstats.correlations import bootstrap

        some = RESAMPLES // 10 if level == "input" else RESAMPLES
        found = bootstrap(*matrices, level, coefficient, "both", n_resamples=some)
        return {"low": found.lower, "high": found.upper, "factor": RESAMPLES / some}

    return run
