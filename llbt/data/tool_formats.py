"""The formats of judgments by people, tools and packages: Chatbot Arena, WMT, AlpacaEval, annotation tools.

Comments name the sources of the layouts.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from ..core.columns import Label
from .formats import UNNAMED, Always, ByScores, Game, JudgmentFormat, Labels, Lean, OneHot, Share, meaning
from .model_formats import A_OR_B, A_OR_B_STRENGTHS
from .wordings import CHESS, points_format, winner_format


def _arena_hard(first: str, second: str, k: int) -> Game:
    """One of the two games; the second shows the same answers in the other order."""
    outcomes = A_OR_B | meaning(None, None)
    return Game((first, second), Labels(f"games.{k}.score", outcomes, strengths=A_OR_B_STRENGTHS))


def _ranked(size: int) -> tuple[Game, ...]:
    """Each pair of the systems that one record ranks, in the order of display."""
    return tuple(
        Game(
            (f"system{a}Id", f"system{b}Id"), ByScores((f"system{a}rank", f"system{b}rank"), False, (-1.0,), (1.0, 5.0))
        )
        for a, b in combinations(range(1, size + 1), 2)
    )


_ARENA_TIES: dict[Label, str] = dict.fromkeys(("tie (bothbad)", "both_bad", "bothbad_vote"), "both_bad")
_ARENA_TIES |= dict.fromkeys(("tie (inconsistent)", "inconsistent"), "inconsistent")  # MT-Bench, like "error"
_ARENA = meaning("i", "leftvote") | meaning("j", "rightvote") | meaning("tie", *_ARENA_TIES, "tievote")
_ARENA |= meaning(None, "error")
_POTATO = Labels(
    "preference",
    meaning("i", "A++", "A+", "A") | meaning("tie", "=") | meaning("j", "B++", "B+", "B"),
    strengths={"A++": 2, "A+": 1, "=": 0, "B+": 1, "B++": 2},
)
_SELECTED = meaning("i", "left") | meaning("j", "right") | meaning(None, None)
_ALPACA = ("generator_1", "generator_2", "preference")
_WMT_HEAD = (
    *("TASK", "TYPE", "ITEM_ID", "ANNOTATOR_ID", "TIME"),
    *(name for k in range(5) for name in (f"SYSTEM_{k}", f"SCORE_{k}_A", f"SCORE_{k}_B")),
)
_NO_RESULT = (
    "an annotation without a result is left out: the tag Pairwise has no other way to say undecided; count them with "
    "outcomes={None: 'tie'}"
)


def _counted(objects: tuple[str, str], i: str, j: str, tie: str) -> tuple[Game, ...]:
    """Wins of either object and ties, each in a field of its own."""
    return (
        Game(objects, Always("i"), i),
        Game(objects, Always("j"), j),
        Game(objects, Always("tie"), tie, optional=True),
    )


TOOL_FORMATS = (
    JudgmentFormat(
        "judgments",
        (Game(("object_i", "object_j"), Labels("outcome")),),
        ("object_i", "object_j", "outcome"),
        "one judgment a row, under llbt's own names",
        advice="Pass objects= and outcome= and the names of their columns.",
    ),
    JudgmentFormat(
        "counts",
        _counted(("object_i", "object_j"), "wins_i", "wins_j", "ties"),
        ("object_i", "object_j", "wins_i", "wins_j"),
        "wins and ties of a pair, under llbt's own names",
    ),
    JudgmentFormat(  # FastChat, serve/monitor/clean_battle_data.py; lmarena-ai/arena-human-preference-140k
        "arena",
        (Game(("model_a", "model_b"), Labels("winner", _ARENA, _ARENA_TIES)),),
        ("model_a", "model_b", "winner"),
        "Chatbot Arena and MT-Bench human judgments",
    ),
    JudgmentFormat(  # lmarena-ai/arena-human-preference-55k
        "kaggle",
        (Game(("model_a", "model_b"), OneHot("winner_model_a", "winner_model_b", "winner_tie")),),
        ("model_a", "model_b", "winner_model_a", "winner_model_b", "winner_tie"),
        "Chatbot Arena as in the Kaggle competition, one column per outcome",
    ),
    JudgmentFormat(  # FastChat, llm_judge/common.py: the second winner is mapped back already
        "mt_bench_pair",
        (
            Game(("model_1", "model_2"), Labels("g1_winner", {"error": None})),
            Game(("model_2", "model_1"), Labels("g2_winner", {"error": None})),
        ),
        ("model_1", "model_2", "g1_winner", "g2_winner"),
        "MT-Bench, *_pair.jsonl: two games in both orders",
    ),
    JudgmentFormat(  # lmarena/arena-hard-auto, gen_judgment.py: the baseline is A in the first game
        "arena_hard",
        (_arena_hard("baseline", "model", 0), _arena_hard("model", "baseline", 1)),
        ("model", "games"),
        "Arena-Hard: two games against a baseline in both orders",
        prompt=("question_id", "uid"),
    ),
    JudgmentFormat(  # tatsu-lab/alpaca_eval: the preference is un-shuffled already
        "alpaca_eval",
        (Game(("generator_1", "generator_2"), Lean("preference", 1, 2, tie_values=(0.0,))),),
        _ALPACA,
        "AlpacaEval: preference 1 or 2, by the nearer end; 0 and 1.5 are ties",
        values={"preference": r"0|1|1\.5|2"},
        shown=False,
    ),
    JudgmentFormat(
        "alpaca_eval_weighted",
        (
            Game(("generator_1", "generator_2"), Always("i"), Share("preference", 2, 1, halves=(0.0,))),
            Game(("generator_1", "generator_2"), Always("j"), Share("preference", 1, 2, halves=(0.0,))),
        ),
        _ALPACA,
        "AlpacaEval 2: preferences from 1 to 2 as parts of a win, so that 1.5 (and 0) is half a win for either",
        shown=False,
        notes=("graded preferences count as parts of wins: standard errors are conservative",),
    ),
    JudgmentFormat(  # nvidia/HelpSteer3, subset preference
        "helpsteer3",
        (Game(("model_1", "model_2"), Lean("overall_preference", -3, 3)),),
        ("response1", "response2", "overall_preference"),
        "HelpSteer3: preferences from -3 (response1) to 3 (response2)",
        advice=UNNAMED,
    ),
    JudgmentFormat(  # openai/webgpt_comparisons
        "webgpt",
        (Game(("model_0", "model_1"), ByScores(("score_0", "score_1"), bounds=(-1.0, 1.0), strength=True)),),
        ("answer_0", "answer_1", "score_0", "score_1"),
        "WebGPT comparisons: the answer with the higher score won",
        advice=UNNAMED,
    ),
    JudgmentFormat(  # davidjurgens/potato, export of the schema pairwise; the showcase pairwise-preference
        "potato",
        (Game(("model_a", "model_b"), _POTATO),),
        ("instance_id", "user_id", "preference"),
        "Potato: A++, A+, =, B+, B++, or A, tie, B",
        judge=("user_id", "user"),
        prompt=("instance_id", "id"),
        advice=UNNAMED,
    ),
    JudgmentFormat(
        "potato_selection",
        (Game(("model_a", "model_b"), replace(_POTATO, field="preference.selection")),),
        ("instance_id", "user_id", "preference.selection"),
        "Potato: the table that its exporter writes",
        judge=("user_id",),
        prompt=("instance_id",),
        advice=UNNAMED,
    ),
    JudgmentFormat(
        "potato_scale",
        (Game(("model_a", "model_b"), Lean("preference.scale_value", -3, 3)),),
        ("instance_id", "user_id", "preference.scale_value"),
        "Potato: a slider from -3 (A) to 3 (B)",
        judge=("user_id",),
        prompt=("instance_id",),
        advice=UNNAMED,
    ),
    JudgmentFormat(  # HumanSignal/label-studio, tags/control/Pairwise.js: an undecided judge leaves no result
        "label_studio",
        (
            Game(
                ("data.model_left", "data.model_right"),
                Labels("result.0.value.selected", _SELECTED),
            ),
        ),
        ("data", "annotations"),
        "Label Studio, pairwise, exported as JSON",
        judge=("completed_by.email", "completed_by.id", "completed_by"),
        prompt=("data.prompt", "id"),
        each="annotations",
        only={"was_cancelled": (False, None)},
        advice=UNNAMED,
        notes=(_NO_RESULT,),
    ),
    JudgmentFormat(
        "label_studio_min",
        (Game(("model_left", "model_right"), Labels("comparison.0.selected", _SELECTED)),),
        ("annotation_id", "comparison"),
        "Label Studio, pairwise, exported as JSON_MIN",
        judge=("annotator",),
        prompt=("prompt", "id"),
        advice=UNNAMED,
        notes=(_NO_RESULT,),
    ),
    *(
        JudgmentFormat(  # argilla/distilabel-capybara-dpo-7k-binarized, argilla/ultrafeedback-…-preferences-cleaned
            name,
            (Game((f"chosen{sign}model", f"rejected{sign}model"), Always("i")),),
            ("chosen", "rejected", f"chosen{sign}model", f"rejected{sign}model"),
            f"chosen and rejected answers with the names of their models ({what})",
            shown=False,
            advice=UNNAMED,
        )
        for name, sign, what in (("chosen_rejected", "_", "Hugging Face"), ("argilla", "-", "Argilla"))
    ),
    JudgmentFormat(
        "chosen_rejected_unnamed",
        (Game(("chosen_model", "rejected_model"), Always("i")),),
        ("chosen", "rejected"),
        "chosen and rejected answers without the names of their models",
        shown=False,
        advice=UNNAMED,
    ),
    *(
        JudgmentFormat(  # statmt.org/wmt12, README of the manual evaluation; the same from WMT09 to WMT14
            f"wmt{size}",
            _ranked(size),
            ("srclang", "trglang", *(f"system{k}{what}" for k in range(1, size + 1) for what in ("Id", "rank"))),
            f"WMT rankings of {size} systems",
            unlike=(f"system{size + 1}",),
            judge=("judgeId", "judgeID"),
            prompt=("srclang+trglang+srcIndex",),
            block=("rankingID",),
            unnamed=("blank",),
            joined="+",
        )
        for size in (2, 3, 4, 5)
    ),
    JudgmentFormat(  # statmt.org/wmt08, README.evaluation-dev-data: "1 cu > umd"
        "wmt_text",
        (Game(("left", "right"), Labels("sign", {">": "i", "=": "tie", "<": "j"})),),
        (),
        "WMT07 and WMT08 rankings of segments as text: 1 cu > umd",
        prompt=("segment",),
        shown=False,
        header=("segment", "left", "sign", "right"),
    ),
    *(
        JudgmentFormat(  # statmt.org/wmt08/results.html and wmt09/results.html: 1 is the best rank
            name,  # in WMT07 5 is: its raw rows against the segment rankings in wmt08/README.evaluation-dev-data
            tuple(
                Game(
                    (f"SYSTEM_{a}", f"SYSTEM_{b}"),
                    ByScores((f"SCORE_{a}_A", f"SCORE_{b}_A"), best == 5, (-1.0, "-"), (1.0, 5.0)),
                )
                for a, b in combinations(range(5), 2)
            ),
            _WMT_HEAD[:4],
            f"{years}, raw judgments: ranks from 1 to 5, {best} is the best",
            values={"TASK": tasks},
            judge=("ANNOTATOR_ID",),
            prompt=("TASK+TYPE+ITEM_ID",),
            unnamed=("", None),
            header=_WMT_HEAD,
            only={"TYPE": ("RANK", "CONSTITUENT")},
        )
        for name, years, tasks, best in (
            ("wmt07", "WMT07", "WMT07.*", 5),
            ("wmt08", "WMT08 and WMT09", "WMT0[89].*", 1),
        )
    ),
    JudgmentFormat(  # Toloka/crowd-kit, aggregation/pairwise
        "crowd_kit",
        (Game(("left", "right"), Labels("label")),),
        ("worker", "left", "right", "label"),
        "crowd-kit: the label is the winner",
    ),
    JudgmentFormat(  # dustalov/evalica, __main__.py
        "evalica",
        (Game(("left", "right"), Labels("winner", {"draw": "tie"})),),
        ("left", "right", "winner"),
        "evalica: left, right or tie",
    ),
    replace(winner_format("winner", "loser"), description="choix: pairs (winner, loser)"),
    JudgmentFormat(  # the seven tag roster of portable game notation
        "chess",
        (Game(("White", "Black"), CHESS),),
        ("White", "Black", "Result"),
        "chess: 1-0, 0-1 and 1/2-1/2; games that go on (*) are left out",
    ),
    replace(
        points_format(("home_team", "away_team"), ("home_score", "away_score")),
        description="matches: the side with more points won",
    ),
    *(
        JudgmentFormat(  # BradleyTerry2, countsToBinomial
            name,
            _counted(objects, i, j, tie),
            (*objects, i, j),
            f"BradleyTerry2: {i} and {j} of {objects[0]} and {objects[1]}",
            shown=shown,
        )
        for name, objects, i, j, tie, shown in (
            ("bradleyterry2", ("player1", "player2"), "win1", "win2", "ties", False),
            ("bradleyterry2_wins", ("player1", "player2"), "wins1", "wins2", "ties", False),
            ("bradleyterry2_home", ("home.team", "away.team"), "home.wins", "away.wins", "ties", True),
        )
    ),
)
