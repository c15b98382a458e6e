"""
Worths by judge
===============

The worths of the objects in each class of the covariates, as the papers that use prefmod draw them. Judge J3
prefers D where the others prefer A.
"""

import numpy as np
import pandas as pd

import llbt

c = llbt.load_dataset("dras_table1")  # four systems, four judges
res = llbt.fit("object * judge + tie", c)
llbt.plot.worth(res)

# %%
# Twenty models, judged by a crowd and by experts: a small picture for each of the ten that change most.

rng = np.random.default_rng(1)
names = np.array([f"model {k:02}" for k in range(1, 21)])
i, j = np.triu_indices(20, 1)
crowd = np.linspace(0.8, -0.8, 20)
expert = crowd + rng.normal(0, 0.3, 20)
frames = []
for panel, log_worth in {"crowd": crowd, "expert": expert}.items():
    odds = np.exp(2 * (log_worth[i] - log_worth[j]))
    wins = rng.binomial(20, odds / (1 + odds))
    counts = {"object_i": names[i], "object_j": names[j], "wins_i": wins, "wins_j": 20 - wins, "panel": panel}
    frames.append(pd.DataFrame(counts))
by_panel = llbt.fit("object * panel", llbt.from_counts(pd.concat(frames), covariates="panel"))
llbt.plot.worth(by_panel)

# %%
# All in one picture, the models that change most in colour; then one for each judge of the first fit.

llbt.plot.worth(by_panel, facets=None)
llbt.plot.worth(res, facets="class")

# %%
# Sixty models in three languages, a panel for each language.

names = np.array([f"model {k:02}" for k in range(1, 61)])
i, j = np.triu_indices(60, 1)
frames = []
for language in ("de", "en", "ja"):
    log_worth = np.linspace(0.8, -0.8, 60) + rng.normal(0, 0.2, 60)
    odds = np.exp(2 * (log_worth[i] - log_worth[j]))
    wins = rng.binomial(8, odds / (1 + odds))
    counts = {"object_i": names[i], "object_j": names[j], "wins_i": wins, "wins_j": 8 - wins, "language": language}
    frames.append(pd.DataFrame(counts))
by_language = llbt.fit("object * language", llbt.from_counts(pd.concat(frames), covariates="language"))
llbt.plot.worth(by_language, facets="class")
