"""The calibration plot: observed shares against predicted probabilities, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base.arguments import Rng, checked
from ..fitting.fitted import WithWorths
from ..inference.held_out import HeldOut
from ..inference.held_out import held_out as held_out_of
from .style import COLUMN, DASHED, axes_of, finish, ink, legend_above, look_of, points

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@checked
def calibration(held_out: HeldOut | WithWorths, *, rng: Rng = 0, ax: Axes | None = None) -> Axes:
    """Plot the observed shares of held-out judgments against their predicted probabilities.

    Parameters
    ----------
    held_out : HeldOut or a fit
        The result of `held_out`. For a fit, ten folds are held out: ``llbt.held_out(res, rng=0)``.
    rng : int or numpy.random.Generator
        For the folds of a fit; the default seed makes pictures repeatable.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One line per model and outcome (either object preferred, tie) with ± 1.96 standard errors under the predictions,
        and the diagonal of correct predictions.

    Raises
    ------
    OptionError
        For anything other than a `HeldOut` or a fit.

    Examples
    --------
    >>> import llbt
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> res = llbt.fit("object + tie", llbt.load_dataset("dras_table1").pool())
    >>> ax = llbt.plot.calibration(res)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('Predicted probability', 'Share of the held-out judgments')
    """
    held_out = held_out if isinstance(held_out, HeldOut) else held_out_of(held_out, rng=rng)
    frame = held_out.calibration().to_frame()
    ax = axes_of(ax, COLUMN, 3.0)
    ax.plot([0, 1], [0, 1], color=ink(ax), linewidth=0.8, linestyle=DASHED, zorder=1, label="as predicted")
    models = frame["model"].nunique()
    for k, ((model, outcome), rows) in enumerate(frame.groupby(["model", "outcome"], sort=False)):
        label = f"{model}, {outcome}" if models > 1 else str(outcome)
        bounds = rows["observed"].to_numpy()[:, None] + 1.96 * rows["std_error"].to_numpy()[:, None] * [-1, 1]
        drawn = points(ax, rows["predicted"], rows["observed"], bounds, look_of(k), label=label, across=False)
        drawn.lines[0].set(linestyle="-", linewidth=1.2)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("Predicted probability")
    ax.set_ylabel("Share of the held-out judgments")
    legend_above(ax)
    return finish(ax)
