"""The column names of frames: llbt's own, or those of R's package broom."""

from __future__ import annotations

from typing import Literal

import pandas as pd

FrameStyle = Literal["llbt", "broom"]

# If two columns have one name in broom, the first gets it: a fit of counts also has the likelihood of its judgments.
BROOM = {
    "std_error": "std.error",
    "p_value": "p.value",
    "p_adjusted": "adj.p.value",
    "conf_low": "conf.low",
    "conf_high": "conf.high",
    "fitted": ".fitted",
    "residual": ".resid",
    "df_resid": "df.residual",
    "null_deviance": "null.deviance",
    "df_null": "df.null",
    "llf_poisson": "logLik",
    "aic_poisson": "AIC",
    "bic_poisson": "BIC",
    "n_cells": "nobs",
    "llf": "logLik",
    "aic": "AIC",
    "bic": "BIC",
    "n_judgments": "nobs",
}


def in_style(frame: pd.DataFrame, style: FrameStyle) -> pd.DataFrame:
    """Return a frame with its column names in a style; columns that broom does not have keep their names."""
    if style == "llbt":
        return frame
    names: dict[str, str] = {}
    for ours, theirs in BROOM.items():
        if ours in frame.columns and theirs not in names.values():
            names[ours] = theirs
    return frame.rename(columns=names)
