"""Fits to draw, and what is read back from the artists of a picture."""

import itertools

import numpy as np
import pandas as pd

import llbt


def made(names, judges=3, n=40, seed=2):
    """Random judgments in both orders, with ties, by several judges."""
    rng = np.random.default_rng(seed)
    worth = dict(zip(names, rng.normal(0, 0.4, len(names)), strict=True))
    rows = []
    for judge, (a, b) in itertools.product(range(judges), itertools.permutations(names, 2)):
        weight = np.exp([worth[a] - worth[b] + 0.1, -0.4 + 0.2 * judge, worth[b] - worth[a] - 0.1])
        rows.append((a, b, f"J{judge}", *rng.multinomial(n, weight / weight.sum())))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i", "ties", "wins_j"])
    return llbt.from_counts(frame, covariates="judge", order=True)


def bars(container):
    """Return center, low and high of horizontal error bars, and the rows that they stand in."""
    line, _, (segments,) = container.lines
    ends = np.array([segment[:, 0] for segment in segments.get_segments()])
    return np.column_stack([line.get_xdata(), ends]), np.asarray(line.get_ydata(), dtype=float)


def row_names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def texts(ax):
    return [text.get_text() for text in ax.texts]
