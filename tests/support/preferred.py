"""P(i preferred | decided) on a scale of two grades, written out."""

import numpy as np


def half_log_odds(difference: np.ndarray, level: np.ndarray | float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return half the log-odds of i preferred against j preferred, and its slopes in the difference and in γ.

    With γ = −∞ there is one grade, and it is the difference.
    """
    first, second = np.exp(difference), np.exp(2 * difference + level)
    back, farther = np.exp(-difference), np.exp(-2 * difference + level)
    up, down = first + second, back + farther
    slope = (first + 2 * second) / up + (back + 2 * farther) / down
    return np.log(up / down) / 2, slope / 2, (second / up - farther / down) / 2
