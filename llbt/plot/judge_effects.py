"""The picture of how judges differ from the average judge, one below the other, with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..base.arguments import checked
from ..core.columns import Label, is_among
from ..errors import OptionError, listed
from ..fitting.fitted import EffectsFit
from ..inference.judge_effects import JudgeEffects
from ..inference.judge_effects import judge_effects as judge_effects_of
from .style import BLUE, finish, label_scale, points, rows_of, short_names, zero_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LETTERS = {"tie": "tie effect γ", "bad": "effect γ of both bad", "order": "order effect δ", "1": "log-worth λ"}


@checked
def judge_effects(effects: JudgeEffects | EffectsFit, *, of: Label | None = None, ax: Axes | None = None) -> Axes:
    """Plot one effect of all judges, in order of size (a caterpillar plot).

    Parameters
    ----------
    effects : JudgeEffects or MixedResults
        The result of ``llbt.judge_effects(res)``, or the fit itself.
    of : label, optional
        An object, ``"tie"``, ``"bad"``, ``"order"`` or ``"grade[+]"``; the name of a covariate, such as ``"length"``,
        for its slopes (``"slope of length"`` if an object has the same name); or ``"1"`` for the effects of objects. By
        default the first object, or without ``(object | …)`` the first effect.
    ax : matplotlib.axes.Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        One row for each judge who has the effect, with its interval; 0 is the average judge.

    Raises
    ------
    OptionError
        For a name without effects in the fit.

    Examples
    --------
    >>> import matplotlib
    >>> import pandas as pd
    >>> import llbt
    >>> matplotlib.use("Agg")
    >>> wins = [5, 1, 4, 0, 6, 3, 5, 2]
    >>> frame = pd.DataFrame({"object_i": "A", "object_j": "B", "wins_i": wins, "judge": range(8)})
    >>> c = llbt.from_counts(frame.assign(wins_j=6 - frame["wins_i"]), clusters="judge")
    >>> ax = llbt.plot.judge_effects(llbt.fit("object + (object | judge)", c), of="A")
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['4', '0', '6', '2', '5', '7', '1', '3']
    """
    effects = effects if isinstance(effects, JudgeEffects) else judge_effects_of(effects)
    frame = effects.to_frame()
    brackets = effects.res.brackets
    named = {str(b): f"slope of {b.effect}" if b.is_slope else b.effect for b in brackets}
    kind = frame["term"].map(named)
    things = frame["object"].where(kind == "object", kind)
    things = things.mask(kind == "grade", "grade[" + frame["object"].astype(str) + "]")
    known = list(dict.fromkeys(things))
    chosen = known[0] if of is None else of
    if not is_among(chosen, known) and f"slope of {of}" in known:
        chosen = f"slope of {of}"
    if not is_among(chosen, known):
        first = sorted(known, key=set(frame["object"]).__contains__)  # objects last: they may be too many to be listed
        raise OptionError(
            f"of={of!r} is not an effect of this fit", f"Pass of={first[0]!r}.", expected=f"one of {listed(first)}"
        )
    some = frame[things == chosen].sort_values("estimate", ascending=False, kind="stable")
    ax = rows_of(ax, short_names(some.iloc[:, 0].astype(str)))
    zero_line(ax)
    points(ax, some["estimate"], np.arange(len(some)), some[["conf_low", "conf_high"]], (BLUE, "o"))
    letter = _LETTERS.get(str(chosen), f"log-worth λ of {short_names([chosen])[0]}")
    if str(chosen).startswith("grade["):
        letter = f"effect γ of {chosen}"
    if str(chosen).startswith("slope of "):
        letter = str(chosen)
    zero = "beside the covariates" if chosen == "1" else f"minus the average {effects.by}"
    label_scale(ax, f"{letter}, {zero} ({100 * effects.confidence:.4g} % intervals)")
    return finish(ax)
