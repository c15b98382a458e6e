"""The picture of discriminations shows the numbers of their table, in order, and who is named in colour."""

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex
from scipy import special
from support.calls import discriminating

import llbt
from llbt.plot.style import BLUE, GREY, ORANGE


def test_rows_are_judges_in_order_of_their_discriminations() -> None:
    res = discriminating()
    ax = llbt.plot.discrimination(res, confidence=0.9)
    frame = res.by_judge(confidence=0.9).to_frame().sort_values("estimate", ascending=False)
    line, _, (bars,) = ax.containers[0].lines
    np.testing.assert_allclose(line.get_xdata(), frame["estimate"])
    ends = np.array([segment[:, 0] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends, frame[["conf_low", "conf_high"]], atol=1e-12)
    assert [label.get_text() for label in ax.get_yticklabels()] == [str(judge) for judge in frame["judge"]]
    assert {0.0, 1.0} <= {float(line.get_xdata()[0]) for line in ax.lines if len(set(line.get_xdata())) == 1}
    assert "90 % intervals" in ax.get_xlabel().replace("\n", " ")
    assert ax.get_legend() is None


def test_who_is_inverted_and_who_guesses_is_in_colour() -> None:
    worth, rows = [0.8, 0.2, -0.6], []
    for k, factor in enumerate((1.2, 0.0, -1.0, 1.0)):
        for i, j in ((0, 1), (0, 2), (1, 2)):
            share = special.expit(2 * factor * (worth[i] - worth[j]))
            rows.append(("ABC"[i], "ABC"[j], f"J{k}", round(100 * share), 100 - round(100 * share)))
    frame = pd.DataFrame(rows, columns=["object_i", "object_j", "judge", "wins_i", "wins_j"])
    res = llbt.fit("object", llbt.from_counts(frame, covariates="judge"), discrimination="judge")
    assert isinstance(res, llbt.DiscriminationResults)
    ax = llbt.plot.discrimination(res)
    colour = {
        int(place): to_hex(bars.lines[0].get_color()).upper()
        for bars in ax.containers
        for place in bars.lines[0].get_ydata()
    }
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert {name: colour[k] for k, name in enumerate(names)} == {"J0": BLUE, "J1": GREY, "J2": ORANGE, "J3": BLUE}
    legend = ax.get_legend()
    assert legend is not None
    assert {text.get_text() for text in legend.get_texts()} == {"others", "guessing", "inverted"}
