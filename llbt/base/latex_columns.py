"""The columns of a table on a printed page: fewer than on screen, with typeset headings."""

from __future__ import annotations

# Columns that LaTeX leaves out of each answer if the caller names no columns, so that it fits an A4 page with names of
# 20 letters; a comment in the LaTeX names them. Answers that are not listed here keep all of their columns.
LEFT_OUT: dict[str, tuple[str, ...]] = {
    "audit": ("effect",),
    "influence": ("fitted", "hat"),
    "judges": ("conf_low", "conf_high", "agreement_pairs", "swapped", "model_expected"),
    "leaderboard": ("rank", "wins", "ties", "bad", "losses", "judgments", "win_share", "win_probability"),
    "leaderboard of scores": ("rank", "wins", "ties", "losses", "borda_rank", "n", "missing"),
    "model test": ("wins_i", "ties", "wins_j", "wald_statistic", "wald_p_value", "df"),
    "judgments needed": ("factor", "now", "likely"),
    "pairwise": ("std_error", "statistic", "p_value"),
    "sign test": ("n", "conf_low", "conf_high"),
    "pairs of scores": (
        "n", "cohen_dz", "conf_low", "conf_high", "median_difference", "difference_of_medians", "win_share",
        "bt_probability", "win_odds", "rank_biserial",
    ),
}  # fmt: skip

# LaTeX for printed headings; other headings are set as they are, with a capital letter.
HEADINGS: dict[str, str] = {
    "estimate": "Estimate",
    "std_error": r"Std.\ error",
    "Std. Error": r"Std.\ error",
    "z value": "$z$",
    "t value": "$t$",
    "Pr(>|z|)": "$p$",
    "Pr(>|t|)": "$p$",
    "Pr(>Chi)": "$p$",
    "Pr(>F)": "$p$",
    "Pr(flips)": "$p$ (flips)",
    "p": "$p$",
    "p (Holm)": "$p$ (Holm)",
    "p humans": "$p$ humans",
    "p metric": "$p$ metric",
    "Wald p": "Wald $p$",
    "p adjusted": "$p$ adjusted",
    "statistic": "Statistic",
    "z": "$z$",
    "F": "$F$",
    "W": "$W$",
    "n": "$n$",
    "r": "$r$",
    "d_z": "$d_z$",
    "r_rb": r"$r_{\mathrm{rb}}$",
    "acc_eq": r"$\mathrm{acc}_{\mathrm{eq}}$",
    "object": "Object",
    "object_i": "Object $i$",
    "object_j": "Object $j$",
    "judge_i": "Judge $i$",
    "judge_j": "Judge $j$",
    "wins_i": "Wins of $i$",
    "wins_j": "Wins of $j$",
    "conf_low": "Low",
    "conf_high": "High",
    "rank_low": "from",
    "rank_high": "to",
    "Df": "df",
    "Resid. Df": r"Resid.\ df",
    "Den. Df": r"Den.\ df",
    "Resid. Dev": r"Resid.\ dev.",
    "Delta AIC": r"$\Delta$AIC",
    "Delta BIC": r"$\Delta$BIC",
    "Delta log-loss": r"$\Delta$log-loss",
}
