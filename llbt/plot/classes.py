"""Pictures of latent classes of judges: the worths of each class, and the class of each judge, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..base.arguments import Confidence, checked
from ..base.table import counted, format_percent
from ..core.columns import FloatArray
from ..core.statistics import critical_values
from ..errors import DesignError
from ..inference.log_worths import centred
from ..judges.class_protocol import Classes, ClassesLike
from .side_by_side import side_by_side
from .style import (
    COLUMN,
    axes_of,
    finish,
    label_scale,
    legend_above,
    look_of,
    name_rows,
    rows_height,
    short_names,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BEYOND = 1.15  # times the furthest end of an interval: where classes at infinity are drawn
_MOST_ROWS = 30  # judges, beyond which a picture grows no higher


@checked
def classes(latent_classes: Classes, *, confidence: Confidence = 0.95, ax: Axes | None = None) -> Axes:
    """Plot the log-worths of the objects in each latent class of judges, with their intervals.

    Parameters
    ----------
    latent_classes : LatentClasses
        The result of ``llbt.judges.classes(formula, c)[k]``.
    confidence : float
        Level of the intervals, which allow for uncertain class membership.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        A row for each object, in the order of the log-worths of all judges, and a point for each class. The legend has
        the shares of the classes. 0 is the mean of the objects in each class. Classes with infinite estimates have no
        intervals; points beyond the intervals of other classes are drawn at the edge.

    Raises
    ------
    DesignError
        If worths depend on covariates, so that a class has several sets of worths.

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> import pandas as pd
    >>> import llbt
    >>> matplotlib.use("Agg")
    >>> judge = np.repeat(np.arange(40), 6)
    >>> says = np.where(np.random.default_rng(1).random(240) < np.where(judge < 25, 0.9, 0.2), "i", "j")
    >>> frame = pd.DataFrame({"judge": judge, "object_i": "A", "object_j": "B", "outcome": says})
    >>> models = llbt.judges.classes("object", llbt.from_judgments(frame, clusters="judge"), k=2, starts=5, rng=1)
    >>> ax = llbt.plot.classes(models[2])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['class 1: 62.7 %', 'class 2: 37.3 %']
    """
    if not latent_classes.pooled.design.plain:
        raise DesignError(
            f"the worths of {latent_classes.pooled.specification.formula!r} depend on covariates, so a class has "
            "several sets",
            "Fit classes whose worths have no covariates, such as 'object + tie'.",
        )
    objects = latent_classes.pooled.comparisons.objects
    own, _ = centred(latent_classes.pooled, None)
    order = np.argsort(-own.estimate, kind="stable")
    estimates, ends = _worths(latent_classes, confidence)
    gone = {label: ", at infinity" if label in latent_classes.infinite else "" for label in latent_classes.labels}
    legends = [
        f"class {label}: {format_percent(latent_classes.shares[label])}{gone[label]}" for label in latent_classes.labels
    ]
    labels = [objects[k] for k in order]
    edge = np.nanmax(np.abs(ends)) * _BEYOND if np.isfinite(ends).any() else np.inf
    estimates = np.clip(estimates, -edge, edge)
    level = f"log-worth λ, mean 0\n({100 * confidence:.4g} % intervals)"
    return side_by_side(labels, estimates[:, order], ends[:, order], legends, level, ax=ax)


def _worths(latent: ClassesLike, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Return the centred log-worths of each class, shape (K, J), and the ends of their intervals, (K, J, 2)."""
    half = float(critical_values(confidence, np.array([np.inf]))[0])
    each = [centred(latent.results(label), None)[0] for label in latent.labels]
    estimates = np.array([one.estimate for one in each])
    errors = half * np.sqrt(np.maximum([np.diag(one.cov) for one in each], 0.0))
    errors[[label - 1 for label in latent.infinite]] = np.nan
    return estimates, np.stack([estimates - errors, estimates + errors], axis=2)


@checked
def posteriors(latent_classes: Classes, *, ax: Axes | None = None) -> Axes:
    """Plot for each judge the probability of each latent class.

    Parameters
    ----------
    latent_classes : LatentClasses
        The result of ``llbt.judges.classes(formula, c)[k]``.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        A bar for each judge, divided by the probabilities of the classes. Judges of one class are grouped, the most
        certain first. If the parts of a class end in straight lines, the classes separate the judges well.

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> import pandas as pd
    >>> import llbt
    >>> matplotlib.use("Agg")
    >>> judge = np.repeat(np.arange(8), 6)
    >>> says = np.where(np.random.default_rng(1).random(48) < np.where(judge < 5, 0.9, 0.2), "i", "j")
    >>> frame = pd.DataFrame({"judge": judge, "object_i": "A", "object_j": "B", "outcome": says})
    >>> models = llbt.judges.classes("object", llbt.from_judgments(frame, clusters="judge"), k=2, starts=5, rng=1)
    >>> ax = llbt.plot.posteriors(models[2])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['class 1', 'class 2']
    """
    posterior = latent_classes.posterior.to_numpy()
    modal = posterior.argmax(axis=1)
    order = np.lexsort((-posterior.max(axis=1), modal))
    judges = len(order)
    ax = axes_of(ax, COLUMN, rows_height(min(judges, _MOST_ROWS)) + 0.1 * ((latent_classes.k + 1) // 2))
    edges = np.repeat(np.arange(judges + 1) - 0.5, 2)[1:-1]  # both ends of each row
    upto = np.concatenate([np.zeros((judges, 1)), np.cumsum(posterior[order], axis=1)], axis=1)
    upto = np.repeat(np.minimum(upto, 1.0), 2, axis=0)
    for k, label in enumerate(latent_classes.labels):
        colour, _ = look_of(k)
        ax.fill_betweenx(edges, upto[:, k], upto[:, k + 1], color=colour, linewidth=0, label=f"class {label}")
    name_rows(ax, short_names([str(latent_classes.by_judge.levels[g]) for g in order]))
    ax.set_xlim(0, 1)
    label_scale(ax, f"probability of each class, given all judgments of the judge\n({counted(judges, 'judge')})")
    legend_above(ax, columns=4)
    return finish(ax)
