"""The posterior distribution of log-worths: which object is best, with which probability."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from scipy import linalg, optimize

from ..base.arguments import Confidence, Kind, Rng, as_generator, checked, is_real, whole
from ..base.budgets import refuse_large
from ..base.table import Qualifying, Record, Table, format_count, format_number
from ..core.columns import FloatArray, Label
from ..errors import DesignError, OptionError
from ..fitting.fitted import AnyFit
from ..formulas.grid import At
from ..kernel.posterior import LEAST_EFFECTIVE, MOST_K, MOST_R_HAT, Draws, Route
from ..kernel.scale_grid import SCALE_PRIOR
from ..resampling import shown
from . import drawn_worths
from .kinds import target_of
from .log_worths import centred
from .posterior_targets import WIDE, Scales, Target, scales_of

PriorScale = Annotated[
    float | Literal["shrinkage"],
    Kind(
        lambda prior: prior == "shrinkage" if isinstance(prior, str) else is_real(prior) and 1e-6 <= prior <= 1e6,
        "a number from 1e-6 to 1e6, the prior scale of log-worths, or 'shrinkage', which estimates the scale",
        plain=lambda prior: prior if isinstance(prior, str) else float(prior),
    ),
]
DrawCount = Annotated[int, whole(1000)]

_SCALES = (0.01, 10.0)  # prior scales between which the search runs, in log-worths
_CLOSE = 0.005  # relative error of a scale
_DRAWS, _DRAWS_WITH_EFFECTS = 4000, 1000
_COPIES = 4  # copies of the draws, and of matrices of all parameters
_FEWER = "Use fewer objects: Comparisons.select(objects=[…])."
_NEAR_BOUND = 1.05  # a scale within this factor of a bound is at the bound


@dataclass(frozen=True, repr=False, eq=False)
class Posterior(Record):
    """Draws of the log-worths of J objects from their posterior distribution.

    Made by `posterior`.

    Attributes
    ----------
    objects : tuple of labels, length J
        The objects that the table compares.
    log_worths : ndarray, shape (n, J)
        Log-worths minus their mean, one row for each draw.
    weights : ndarray, shape (n,)
        The weights of the draws, which sum to 1; all equal for Hamiltonian Monte Carlo.
    names : tuple of str, length p
        Names of the parameters of the fit.
    params : ndarray, shape (n, p)
        The draws of these parameters.
    route : {"importance sampling", "Hamiltonian Monte Carlo"}
        How the draws were made.
    k_hat : float
        Pareto's k̂ of the importance weights, also if chains were run because it was above .5.
    ess : float
        Effective number of draws; with chains, the smallest number over the parameters.
    r_hat : float
        The largest R̂ of the parameters; NaN without chains.
    chains : int
        The number of chains, whose draws follow one after another; 1 for importance sampling.
    scale : float
        Prior standard deviation of the log-worths.
    confidence : float
        The level of the intervals.
    notes : tuple of str
    """

    _made_by: ClassVar[str] = "llbt.posterior(res)"

    objects: tuple[Label, ...]
    log_worths: FloatArray
    weights: FloatArray
    names: tuple[str, ...]
    params: FloatArray
    route: Route
    k_hat: float
    ess: float
    r_hat: float
    chains: int
    scale: float
    confidence: float
    notes: tuple[str, ...]

    prob_best = drawn_worths.prob_best
    prob_rank = drawn_worths.prob_rank
    prob = drawn_worths.prob

    @property
    def share(self) -> str:
        """The name of a share of the draws."""
        return "probability"

    def table(self) -> Table:
        """Return object, first, rank_median, rank_low, rank_high, estimate, conf_low, conf_high.

        first is the probability of having the largest log-worth. estimate is the posterior mean of the log-worth minus
        the mean of all objects. Intervals have equal tails and hold for each object alone. Objects are sorted by median
        rank.
        """
        title = "Posterior of the log-worths λ, minus the mean of all objects"
        return drawn_worths.worth_table(self, title, self.notes)

    @checked
    def to_arviz(self, *, rng: Rng = 0) -> dict[str, Any]:
        """Return the draws in the form that ArviZ takes: ``arviz.from_dict(**post.to_arviz())``.

        Parameters
        ----------
        rng : int or numpy.random.Generator
            For importance sampling: draws are resampled by their weights, so that all have equal weight.

        Returns
        -------
        dict
            ``"posterior"``: ``log_worth`` (chain, draw, object) and ``params`` (chain, draw, parameter), ndarrays;
            ``"coords"``: labels of objects and parameters; ``"dims"``: names of the axes. ArviZ takes these separately
            from version 1 on: ``arviz.from_dict({"posterior": d["posterior"]}, coords=d["coords"], dims=d["dims"])``.
        """
        size = len(self.weights)
        chosen = np.arange(size)
        if self.chains == 1:
            chosen = as_generator(rng).choice(size, size, p=self.weights)
        shape = (self.chains, size // self.chains, -1)
        return {
            "posterior": {
                "log_worth": self.log_worths[chosen].reshape(shape),
                "params": self.params[chosen].reshape(shape),
            },
            "coords": {"object": list(self.objects), "parameter": list(self.names)},
            "dims": {"log_worth": ["object"], "params": ["parameter"]},
        }


@checked
def posterior(
    res: AnyFit,
    *,
    prior: PriorScale = 1.0,
    at: At = None,
    confidence: Confidence = 0.95,
    draws: DrawCount | None = None,
    rng: Rng = 0,
    progress: bool = False,
) -> Posterior:
    """Draw log-worths from their posterior distribution, for example for the probability that each object is best.

    Parameters
    ----------
    res : a fit of independent judgments
        Its likelihood is used. A prior of the fit itself is replaced by `prior`.
    prior : float or "shrinkage"
        The standard deviation of the normal prior on the log-worths (in log-worths; with 1, the odds of two random
        objects are expected between 1/250 and 250), or ``"shrinkage"``: the scale with the largest marginal likelihood,
        computed by Laplace's method.
    at : mapping or "average", optional
        Covariate values at which log-worths are taken, if they differ by covariates: ``{"judge": "J3"}``.
    confidence : float
        The level of each object's interval.
    draws : int, optional
        The number of draws, at least 1,000; by default 4,000, or 1,000 with random effects, because each draw then
        needs an integral.
    rng : int or numpy.random.Generator
        The default seed makes printouts repeatable.
    progress : bool
        Show a progress bar.

    Returns
    -------
    Posterior
        A row per object: object, first (probability of the first place), rank_median, rank_low, rank_high, estimate,
        conf_low, conf_high. ``prob_best()``, ``prob_rank(k)``, ``prob("A > B", by=0.1)`` and ``to_arviz()`` give more.

    Raises
    ------
    OptionError
        For fits with clustered or scaled standard errors, because no likelihood corresponds to these; use
        `distribution`. If log-worths differ between classes and `at` is missing.
    DesignError
        If chains do not agree (R̂ above 1.02), and if the table compares fewer than two objects.

    Notes
    -----
    The log-worths minus their mean are normal with standard deviation `prior`, whichever object is the reference.
    Effects of objects that a formula multiplies by covariates have the same prior, for the effects of all objects minus
    their mean. For a numeric covariate this prior holds at the covariate's largest absolute value; labels are used as
    they are coded. All other parameters (ties, order, grades, covariates of objects or sides) are normal. Multiplied by
    the largest absolute value of its covariate, each of them has the standard deviation 2.5. Parameters that the fit
    holds stay at their values.

    Draws come from a t distribution with max(5, p) degrees of freedom around the mode, and are weighted. If Pareto's k̂
    of the weights is above .5, or the effective number of draws below 400, eight chains of Hamiltonian Monte Carlo are
    run instead, in coordinates that are uncorrelated at the mode.

    With random effects (one or two brackets) the log-worths are of the average judge. Each σ has a half-normal prior
    with scale 1. Draws follow the modes at 12 values of log σ (8 values each for two σ), and log σ is drawn between
    these values. The effects are integrated out as in the fit. If the weights cannot be trusted, an error is raised.

    References
    ----------
    Vehtari, A., Simpson, D., Gelman, A., Yao, Y. & Gabry, J. (2024). Pareto smoothed importance sampling. Journal of
    Machine Learning Research 25(72), 1-58.

    Neal, R. M. (2011). MCMC using Hamiltonian dynamics. In Handbook of Markov Chain Monte Carlo, chapter 5.

    Examples
    --------
    >>> import llbt
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> post = llbt.posterior(res)
    >>> post.to_frame()[["object", "rank_median"]].values.tolist()
    [['A', 1], ['D', 2], ['B', 3], ['C', 4]]
    >>> round(post.prob("A > D", by=0.1), 2)
    1.0
    """
    _check_likelihood(res)
    target = target_of(res)
    size, n = len(target.start), draws or (_DRAWS_WITH_EFFECTS if target.brackets else _DRAWS)
    if not size:
        raise DesignError("the fit has no free parameters", "Fit without fixed=, or fix fewer parameters.")
    refuse_large(f"{n:,} draws of {size:,} parameters", _COPIES * (n + size) * float(size), _FEWER)
    centred_worths, where = centred(target.worths, at)
    inside = np.flatnonzero(~np.isnan(centred_worths.estimate))
    if len(inside) < 2:
        raise DesignError(f"the table compares {len(inside)} objects", expected="two or more")
    scales = scales_of(target)
    scale = _best_scale(target, scales) if isinstance(prior, str) else prior
    with _explained():
        drawn = target.density(scales.prior(scale)).draws(target.start, n, as_generator(rng), partial(_shown, progress))
    if not drawn.trusted:
        raise _not_trusted(drawn, n)
    drawn = replace(drawn, params=drawn.params / np.append(np.ones(size), target.units))
    rows = centred_worths.rows[inside]
    log_worths = _columns(rows, target, drawn)
    return Posterior(
        tuple(target.worths.comparisons.objects[k] for k in inside),
        log_worths,
        drawn.weights,
        (*target.names, *(f"sigma {bracket}" for bracket in target.brackets)),
        drawn.params,
        drawn.route,
        drawn.k_hat,
        drawn.ess,
        drawn.r_hat,
        drawn.chains,
        scale,
        confidence,
        (*where, *_qualifying(res), *_scale_notes(target, drawn), _prior_note(prior, scale), _route_note(drawn)),
    )


def _columns(rows: FloatArray, target: Target, drawn: Draws) -> FloatArray:
    """Return the draws of linear combinations (J, p) of the parameters of the design, shape (n, J)."""
    inside = np.flatnonzero(target.places < rows.shape[1])
    return drawn.params[:, inside] @ rows[:, target.places[inside]].T + rows @ target.held


def _shown(progress: bool, steps: range) -> Any:
    return shown("posterior", steps, progress)


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Raise an error with a remedy if the density has no mode."""
    try:
        yield
    except linalg.LinAlgError as error:
        raise DesignError(
            f"no mode of the posterior was found: {error}",
            "Use a smaller prior scale: llbt.posterior(res, prior=0.5).",
        ) from None


def _not_trusted(drawn: Draws, n: int) -> DesignError:
    """Return the error for draws that cannot be trusted."""
    remedy = f"Use more draws: llbt.posterior(res, draws={4 * n})."
    if drawn.chains > 1:
        return DesignError(f"R̂ = {drawn.r_hat:.3f}: the chains do not agree", remedy, expected=f"at most {MOST_R_HAT}")
    return DesignError(
        f"Pareto k̂ = {drawn.k_hat:.2f}, effective number of draws {drawn.ess:.0f}: the weights cannot be trusted",
        f"{remedy} Or use the confidence distribution: llbt.distribution(res).",
        expected=f"k̂ of at most {MOST_K} and an effective number of at least {LEAST_EFFECTIVE:.0f}",
    )


def _best_scale(target: Target, scales: Scales) -> float:
    """Return the prior scale with the largest marginal likelihood, by Laplace's method."""
    low, high = np.log(_SCALES)

    def lost(log_scale: float) -> float:
        return -target.density(scales.prior(float(np.exp(log_scale)))).log_evidence(target.start)

    with _explained():
        search = optimize.minimize_scalar(lost, bounds=(low, high), method="bounded", options={"xatol": _CLOSE})
    return float(np.exp(search.x))


# -- what may be asked, and what is said -------------------------------------------------------------------------------


def _check_likelihood(res: Any) -> None:
    """Raise for standard errors to which no likelihood corresponds."""
    spec = res.specification
    if spec.groups or spec.cov_type != "nonrobust":
        names = [spec.groups] if isinstance(spec.groups, str) else spec.groups
        by = f" by {', '.join(names)}" if spec.groups else ""
        raise OptionError(
            f"a fit with cov_type={spec.cov_type!r}{by} has no likelihood for its standard errors",
            "Use its confidence distribution: llbt.distribution(res).",
        )


def _qualifying(res: Any) -> tuple[str, ...]:
    """Return notes that qualify probabilities."""
    prior, counts = (
        getattr(res.specification, "prior", None),
        np.asarray(getattr(res.answers, "counts", res.comparisons.outcome_counts)),
    )
    return (
        *((Qualifying(f"The prior of the fit, prior={prior!r}, is replaced."),) if prior is not None else ()),
        *(
            (Qualifying("Counts are not whole: the posterior takes weights as numbers of independent judgments."),)
            if np.any(counts % 1 > 0)
            else ()
        ),
    )


def _prior_note(prior: float | str, scale: float) -> str:
    text = f"prior: log-worths minus their mean are normal, sd {format_number(scale, 3)}"
    if not isinstance(prior, str):
        return f"{text}; all else sd {WIDE}"
    if _SCALES[0] * _NEAR_BOUND < scale < _SCALES[1] / _NEAR_BOUND:
        return f"{text} (by marginal likelihood); all else sd {WIDE}"
    bound = "no differences" if scale < 1 else "no common scale"
    return Qualifying(f"{text}; all else sd {WIDE}. The scale is at the bound of its search: the table shows {bound}.")


def _scale_notes(target: Target, drawn: Draws) -> tuple[str, ...]:
    """Return notes on each σ, and that worths are of the average judge; empty without σ."""
    if not target.brackets:
        return ()
    sigmas = drawn.params[:, len(target.names) :]
    low, middle, high = drawn_worths.weighted_quantiles(sigmas, drawn.weights, (0.025, 0.5, 0.975))
    lines = [
        f"σ of {bracket}: {format_number(b, 2)} (95 % {format_number(a, 2)} to {format_number(c, 2)})"
        for bracket, a, b, c in zip(target.brackets, low.tolist(), middle.tolist(), high.tolist(), strict=True)
    ]
    prior = f"log-worths are of the average judge; σ has a half-normal prior of scale {SCALE_PRIOR:g}"
    slopes = "the prior on σ of a slope is for the root mean square of its covariate, not for one unit"
    return (*lines, prior, *([slopes] if set(target.units) != {1.0} else []))


def _route_note(drawn: Draws) -> str:
    number = f"{format_count(len(drawn.weights))} draws by {drawn.route}"
    effective = f"effective number {format_count(round(drawn.ess))}"
    if drawn.chains == 1:
        return f"{number}: Pareto k̂ {drawn.k_hat:.2f}, {effective}"
    return f"{number}: {drawn.chains} chains, R̂ {drawn.r_hat:.3f}, {effective}"
