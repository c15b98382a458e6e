"""
Worths over time
================

Log-worths that change by a random walk from week to week, with 95 % bands. The judgments of three models are
simulated; one of the models becomes better.
"""

import numpy as np
import pandas as pd

import llbt

rng = np.random.default_rng(4)
week = np.repeat(np.arange(16), 3)
lead = np.column_stack([0.1 * week - 0.8, 0.1 * week - 0.4, np.full(len(week), 0.4)])
pair = np.tile(np.arange(3), 16)
wins = rng.binomial(60, 1 / (1 + np.exp(-2 * lead[np.arange(len(week)), pair])))
objects = pd.DataFrame({"object_i": ["new", "new", "old"], "object_j": ["old", "older", "older"]})
counts = objects.iloc[pair].reset_index(drop=True).assign(wins_i=wins, wins_j=60 - wins, week=week)
res = llbt.fit("object", llbt.from_counts(counts, clusters="week"))
llbt.plot.over_time(llbt.drift(res, time="week"))

# %%
# Elo ratings of sixty players over 3,000 games: a small picture for each of the twenty that change most.

player = np.array([f"player {k:02}" for k in range(1, 61)])
first = rng.integers(0, 60, 3000)
second = (first + rng.integers(1, 60, 3000)) % 60
first_wins = rng.random(3000) < 1 / (1 + np.exp((first - second) / 30))
games = pd.DataFrame({"object_i": player[first], "object_j": player[second]})
history = llbt.scores.elo_history(games.assign(outcome=np.where(first_wins, "i", "j")))
llbt.plot.over_time(history, most=20)
