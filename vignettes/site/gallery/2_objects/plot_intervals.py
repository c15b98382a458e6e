"""
Intervals, and objects that do not differ
=========================================

The objects with their confidence intervals, the best at the top. Letters or rank ranges at the right show which
objects do not differ significantly. Groups and several fits are drawn side by side.
"""

import numpy as np
import pandas as pd

import llbt

c = llbt.load_dataset("cems").pool()  # six business schools
res = llbt.fit("object + tie", c)
llbt.plot.intervals(res)

# %%
# Four systems by judge. Judge J3 prefers D where the others prefer A.

by_judge = llbt.fit("object * judge + tie", llbt.load_dataset("dras_table1"))
llbt.plot.intervals(by_judge, by="judge")

# %%
# A leaderboard of five systems by 24 judges with different preferences, from three fits: independent judgments,
# standard errors clustered by judge, and judges drawn from a population. Independent judgments make intervals too
# short. Random judges give the log-odds of the average judge, which are further apart than the log-odds over all
# judges.


def simulated(names, groups, each, by, differ):
    """Judgments of all pairs; the log-worths of each group differ from the common ones by normal effects."""
    rng = np.random.default_rng(1)
    i, j = np.triu_indices(len(names), 1)
    frames = []
    for group in groups:
        log_worth = np.linspace(0.8, -0.8, len(names)) + rng.normal(0, differ, len(names))
        odds = np.exp(2 * (log_worth[i] - log_worth[j]))
        wins = rng.binomial(each, odds / (1 + odds))
        frame = pd.DataFrame({"object_i": np.array(names)[i], "object_j": np.array(names)[j], "wins_i": wins})
        frames.append(frame.assign(wins_j=each - wins, **{by: group}))
    return pd.concat(frames, ignore_index=True)


c = llbt.from_counts(simulated(list("ABCDE"), range(24), 3, "judge", 0.4), clusters="judge")
fits = {
    "independent": llbt.fit("object", c),
    "clustered": llbt.fit("object", c, cov_type="cluster", groups="judge"),
    "random judges": llbt.fit("object + (object | judge)", c),
}
llbt.plot.intervals(fits)

# %%
# Sixty models.

names = [f"model {k:02}" for k in range(1, 61)]
frame = simulated(names, ["de", "en", "ja"], 6, "language", 0.2)
llbt.plot.intervals(llbt.fit("object", llbt.from_counts(frame.drop(columns="language"))))

# %%
# Sixty models in three languages.

llbt.plot.intervals(llbt.fit("object * language", llbt.from_counts(frame, covariates="language")), by="language")

# %%
# Sixty models by 40 judges, in Elo.

c = llbt.from_counts(simulated(names, range(40), 1, "judge", 0.3), clusters="judge")
fits = {
    "independent": llbt.fit("object", c),
    "clustered": llbt.fit("object", c, cov_type="cluster", groups="judge"),
}
llbt.plot.intervals(fits, scale="elo")
