"""Judgments in the formats of the field, each with the table that it holds, written out by hand."""

import dataclasses

import numpy as np
import pandas as pd


@dataclasses.dataclass
class Case:
    """One input with the table that it stands for.

    The rows of `table` are object_i, object_j, outcome and then the columns of `also`; standard columns beyond
    them are empty. `counts` are object_i, object_j, wins_i, ties, wins_j, in the order of display. `left` are the
    number and a word of the reason of every note on what was left out or added.
    """

    id: str
    source: object
    table: list
    counts: list
    also: str = ""
    others: str = ""
    left: tuple = ()
    format: str = ""
    auto: bool = True
    suffix: str = ""
    options: dict = dataclasses.field(default_factory=dict)

    @property
    def name(self):
        return self.format or self.id

    def open(self, folder):
        if not self.suffix:
            return self.source
        path = folder / f"judgments{self.suffix}"
        path.write_text(self.source, encoding="utf-8")
        return path


ARENA = [
    dict(
        question_id=81, model_a="gpt", model_b="llama", winner="model_a", judge="J1", turn=1, language="en", tstamp=1.5
    ),
    dict(
        question_id=82, model_a="llama", model_b="gpt", winner="model_a", judge="J2", turn=1, language="de", tstamp=2.5
    ),
    dict(
        question_id=82, model_a="gpt", model_b="claude", winner="model_b", judge="J1", turn=2, language="en", tstamp=3
    ),
    dict(question_id=83, model_a="gpt", model_b="claude", winner="tie", judge="J3", turn=1, language="en", tstamp=4),
    dict(
        question_id=84,
        model_a="gpt",
        model_b="llama",
        winner="tie (bothbad)",
        judge="J1",
        turn=1,
        language="fr",
        tstamp=5,
    ),
    dict(
        question_id=85, model_a="gpt", model_b="llama", winner="both_bad", judge="J1", turn=1, language="fr", tstamp=6
    ),
]

PAIRS = [
    dict(
        question_id=81,
        model_1="alpaca",
        model_2="gpt",
        g1_winner="model_2",
        g2_winner="model_2",
        judge=["gpt-4", "pair-v2"],
        turn=1,
    ),
    dict(
        question_id=82,
        model_1="alpaca",
        model_2="vicuna",
        g1_winner="tie",
        g2_winner="error",
        judge=["gpt-4", "pair-v2"],
        turn=1,
    ),
    dict(
        question_id=83,
        model_1="alpaca",
        model_2="vicuna",
        g1_winner="model_1",
        g2_winner="model_2",
        judge=["gpt-4", "pair-v2"],
        turn=2,
    ),
]

HARD = [
    dict(question_id="q1", model="m", judge="g", baseline="b", games=[{"score": "A>>B"}, {"score": "A<B"}]),
    dict(question_id="q2", model="m", judge="g", baseline="b", games=[{"score": "A=B"}, {"score": None}]),
    dict(question_id="q3", model="n", judge="g", baseline="b", games=[None, {"score": "A>B"}]),
    dict(question_id="q4", model="n", judge="g", baseline="b", games=[{"score": "B>>A"}, {"score": "B>A"}]),
]

HARD_TABLE = [
    ("b", "m", "i", "g", "q1", 2.0, 0),
    ("m", "b", "j", "g", "q1", 1.0, 0),
    ("b", "m", "tie", "g", "q2", 0.0, 1),
    ("n", "b", "i", "g", "q3", 1.0, 2),
    ("b", "n", "j", "g", "q4", 2.0, 3),
    ("n", "b", "j", "g", "q4", 1.0, 3),
]

HARD_COUNTS = [("b", "m", 1, 1, 0), ("m", "b", 0, 0, 1), ("n", "b", 1, 0, 1), ("b", "n", 0, 0, 1)]

ALPACA = [
    dict(instruction="p1", generator_1="ref", generator_2="new", preference=1.0, annotator="w", output_1="a"),
    dict(instruction="p2", generator_1="ref", generator_2="new", preference=2.0, annotator="w", output_1="b"),
    dict(instruction="p3", generator_1="ref", generator_2="new", preference=1.5, annotator="w", output_1="c"),
    dict(instruction="p4", generator_1="ref", generator_2="new", preference=1.25, annotator="w", output_1="d"),
    dict(instruction="p5", generator_1="ref", generator_2="new", preference=0.0, annotator="w", output_1="e"),
    dict(instruction="p6", generator_1="ref", generator_2="new", preference=None, annotator="w", output_1="f"),
]

WMT5_HEAD = ",".join(
    ["srclang,trglang,srcIndex,documentId,segmentId,judgeId"]
    + [f"system{k}Number,system{k}Id" for k in range(1, 6)]
    + [f"system{k}rank" for k in range(1, 6)]
)

WMT5 = f"""{WMT5_HEAD}
Czech,English,12,d1,12,anno1,1,cu,2,umd,3,_ref,4,blank,5,uk,2,2,1,-1,-1
Czech,English,13,d1,13,anno2,1,umd,2,cu,3,uk,4,jhu,5,_ref,3,1,-1,-1,-1
"""

WMT2 = """srclang,trglang,srcIndex,segmentId,judgeID,system1Id,system1rank,system2Id,system2rank,rankingID
cze,eng,7,70,anno1,a+b,1,c,3,901
cze,eng,7,70,anno1,c,3,d,3,901
cze,eng,8,71,anno2,d,4,a,2,902
"""

WMT08 = """WMT08 Czech-English News,RANK,12,anno1,31,cu,1,,umd,2,,uk,2,
WMT08 Czech-English News,RANK,13,anno2,40,umd,-1,,cu,1,,jhu,3,,uk,3,
WMT08 Czech-English News,CONSTITUENT,14,anno2,11,cu,2,NP,umd,1,NP
WMT08 Czech-English News,CONSTITUENT_ACCEPT,15,anno1,9,cu,1,NP
"""

RAW_HEAD = "TASK,TYPE,ITEM_ID,ANNOTATOR_ID,TIME," + ",".join(f"SYSTEM_{k},SCORE_{k}_A,SCORE_{k}_B" for k in range(5))

# rows of the raw file of WMT07 (github.com/alopez/wmt-ranking), here without a judge's name
WMT07 = f"""{RAW_HEAD}
WMT07 Czech-English News Commentary,NIST,12,a,46,pctranslator2007,-,2,cu,4,2,umd,4,3,uedin,3,2
WMT07 Czech-English News Commentary,RANK,0,b,24,uedin,4,,umd,5,,pctranslator2007,2,,cu,3,
WMT07 Czech-English News Commentary,RANK,0,b,93,uedin,3,,umd,5,,pctranslator2007,2,,cu,4,
WMT07 Czech-English News Commentary,RANK,13,c,102,uedin,3,,cu,4,,umd,3,,pctranslator2007,2,
WMT07 Czech-English News Commentary,RANK,15,d,23,umd,2,,cu,2,,pctranslator2007,2,,uedin,2,
"""

WMT07_TASK = "WMT07 Czech-English News Commentary:RANK"

STUDIO = [
    dict(
        id=1,
        data=dict(model_left="x", model_right="y", prompt="P1"),
        annotations=[
            dict(
                id=10, completed_by=5, was_cancelled=False, result=[dict(type="pairwise", value={"selected": "left"})]
            ),
            dict(id=11, completed_by=6, was_cancelled=False, result=[]),
            dict(id=12, completed_by=7, was_cancelled=True, result=[dict(type="pairwise", value={"selected": "left"})]),
        ],
    ),
    dict(
        id=2,
        data=dict(model_left="y", model_right="z", prompt="P2"),
        annotations=[
            dict(
                id=13, completed_by=5, was_cancelled=False, result=[dict(type="pairwise", value={"selected": "right"})]
            )
        ],
    ),
]

POTATO = [
    dict(instance_id="q1", user_id="u1", preference="A++", model_a="x", model_b="y"),
    dict(instance_id="q2", user_id="u1", preference="A+", model_a="x", model_b="z"),
    dict(instance_id="q3", user_id="u1", preference="=", model_a="x", model_b="y"),
    dict(instance_id="q1", user_id="u2", preference="B+", model_a="x", model_b="y"),
    dict(instance_id="q2", user_id="u2", preference="B++", model_a="z", model_b="x"),
]

POTATO_TABLE = [
    ("x", "y", "i", "u1", "q1", 2.0),
    ("x", "z", "i", "u1", "q2", 1.0),
    ("x", "y", "tie", "u1", "q3", 0.0),
    ("x", "y", "j", "u2", "q1", 1.0),
    ("z", "x", "j", "u2", "q2", 2.0),
]

POTATO_COUNTS = [("x", "y", 1, 1, 1), ("x", "z", 1, 0, 0), ("z", "x", 0, 0, 1)]

PREFMOD = pd.DataFrame({"A:B": [0, 2, 1], "A:C": [0, np.nan, 0], "B:C": [2, 1, 2], "AGE": [20, 30, 40]})

PREFMOD_COUNTS = [("A", "B", 1, 1, 1), ("A", "C", 2, 0, 0), ("B", "C", 0, 1, 2)]

PROMPTFOO = {
    "evalId": "eval-1",
    "results": {
        "version": 3,
        "results": [
            {
                "promptIdx": prompt,
                "testIdx": test,
                "provider": {"id": f"openai:{provider}", "label": ""},
                "score": 1,
                "gradingResult": {
                    "pass": selected,
                    "componentResults": [
                        {"pass": True, "score": 1, "assertion": {"type": "contains", "value": "a"}},
                        {
                            "pass": selected,
                            "score": int(selected),
                            "assertion": {"type": "select-best", "value": "fun"},
                        },
                    ],
                },
            }
            for test, prompt, provider, selected in (
                *((0, 0, "x", True), (0, 1, "y", False), (0, 2, "y", False)),
                *((1, 0, "x", False), (1, 1, "y", True)),
                *((2, 0, "x", False), (2, 1, "y", False)),  # the grader gave no verdict
            )
        ],
    },
    "config": {"description": "d"},
}

OPENCOMPASS = [
    {
        "origin_prompt": "o",
        "prediction": said,
        "gold": {"answer1": a, "answer2": b, "question_id": q, "capability": "c"},
    }
    for said, a, b, q in (
        ("A is far better: [[A>>B]].", "x", "y", "q1"),
        ("[[A<B]]", "x", "y", "q2"),
        ("My verdict is [[A=B]], not [[A>B]]", "y", "z", "q1"),
        ("[[B>>A]]", "y", "z", "q2"),
        ("I cannot say.", "y", "z", "q3"),
    )
]

JUDGEARENA = [
    dict(dataset="d", model_A="x", model_B="y", judge_model="g", num_wins=2, preferences=[0.0, 0.5, 1.0, 0.25, None]),
    dict(dataset="d", model_A="z", model_B="y", judge_model="h", num_wins=0, preferences=[0.75]),
]


def selection(records):
    return [{("preference.selection" if k == "preference" else k): v for k, v in record.items()} for record in records]


CASES = [
    Case(
        "judgments",
        [
            dict(object_i="x", object_j="y", outcome="i", judge="J1", prompt="p", lang="en"),
            dict(object_i="y", object_j="x", outcome="tie", judge="J2", prompt="q", lang="de"),
            dict(object_i="y", object_j="z", outcome="j", judge="J2", prompt="q", lang="de"),
        ],
        [("x", "y", "i", "J1", "p"), ("y", "x", "tie", "J2", "q"), ("y", "z", "j", "J2", "q")],
        [("x", "y", 1, 0, 0), ("y", "x", 0, 1, 0), ("y", "z", 0, 0, 1)],
        also="judge prompt",
        others="lang",
    ),
    Case(
        "counts",
        [
            dict(object_i="x", object_j="y", wins_i=3, wins_j=2, ties=1, judge="J1"),
            dict(object_i="y", object_j="z", wins_i=1, wins_j=4, ties=2, judge="J1"),
        ],
        [
            ("x", "y", "i", "J1", 3),
            ("x", "y", "j", "J1", 2),
            ("x", "y", "tie", "J1", 1),
            ("y", "z", "i", "J1", 1),
            ("y", "z", "j", "J1", 4),
            ("y", "z", "tie", "J1", 2),
        ],
        [("x", "y", 3, 1, 2), ("y", "z", 1, 2, 4)],
        also="judge weight",
    ),
    Case(
        "arena",
        ARENA,
        [
            ("gpt", "llama", "i", "J1", 81, None),
            ("llama", "gpt", "i", "J2", 82, None),
            ("gpt", "claude", "j", "J1", 82, None),
            ("gpt", "claude", "tie", "J3", 83, None),
            ("gpt", "llama", "tie", "J1", 84, "both_bad"),
            ("gpt", "llama", "tie", "J1", 85, "both_bad"),
        ],
        [("gpt", "llama", 1, 2, 0), ("llama", "gpt", 1, 0, 0), ("gpt", "claude", 0, 1, 1)],
        also="judge prompt tie_kind",
        others="turn language tstamp",
    ),
    Case(
        "mt_bench_human",
        [
            dict(question_id=81, model_a="a", model_b="b", winner="model_b", judge="author_2", turn=1),
            dict(question_id=81, model_a="a", model_b="b", winner="tie (inconsistent)", judge="expert_1", turn=2),
        ],
        [("a", "b", "j", "author_2", 81, None), ("a", "b", "tie", "expert_1", 81, "inconsistent")],
        [("a", "b", 0, 1, 1)],
        also="judge prompt tie_kind",
        others="turn",
        format="arena",
    ),
    Case(
        "kaggle",
        [
            dict(id=1, model_a="x", model_b="y", prompt="p", winner_model_a=1, winner_model_b=0, winner_tie=0),
            dict(id=2, model_a="x", model_b="y", prompt="q", winner_model_a=0, winner_model_b=1, winner_tie=0),
            dict(id=3, model_a="z", model_b="y", prompt="r", winner_model_a=0, winner_model_b=0, winner_tie=1),
        ],
        [("x", "y", "i", "p"), ("x", "y", "j", "q"), ("z", "y", "tie", "r")],
        [("x", "y", 1, 0, 1), ("z", "y", 0, 1, 0)],
        also="prompt",
        others="id",
    ),
    Case(
        "mt_bench_pair",
        PAIRS,
        [
            ("alpaca", "gpt", "j", "gpt-4/pair-v2", 81, 0),
            ("gpt", "alpaca", "i", "gpt-4/pair-v2", 81, 0),
            ("alpaca", "vicuna", "tie", "gpt-4/pair-v2", 82, 1),
            ("alpaca", "vicuna", "i", "gpt-4/pair-v2", 83, 2),
            ("vicuna", "alpaca", "i", "gpt-4/pair-v2", 83, 2),
        ],
        [
            ("alpaca", "gpt", 0, 0, 1),
            ("gpt", "alpaca", 1, 0, 0),
            ("alpaca", "vicuna", 1, 1, 0),
            ("vicuna", "alpaca", 1, 0, 0),
        ],
        also="judge prompt block",
        left=((1, "error"),),
    ),
    Case(
        "arena_hard",
        HARD,
        HARD_TABLE,
        HARD_COUNTS,
        also="judge prompt strength block",
        left=((2, ""),),
    ),
    Case(
        "alpaca_eval",
        [record for record in ALPACA if record["preference"] != 1.25],
        [
            ("ref", "new", "i", "w", "p1", 0.5),
            ("ref", "new", "j", "w", "p2", 0.5),
            ("ref", "new", "tie", "w", "p3", 0.0),
            ("ref", "new", "tie", "w", "p5", 0.0),
        ],
        [("ref", "new", 1, 2, 1)],
        also="judge prompt strength",
        left=((1, "preference"),),
        others="output_1",
    ),
    Case(
        "alpaca_eval_weighted",
        ALPACA[2:],
        [
            ("ref", "new", "i", "w", "p3", 0.5),
            ("ref", "new", "j", "w", "p3", 0.5),
            ("ref", "new", "i", "w", "p4", 0.75),
            ("ref", "new", "j", "w", "p4", 0.25),
            ("ref", "new", "i", "w", "p5", 0.5),
            ("ref", "new", "j", "w", "p5", 0.5),
        ],
        [("ref", "new", 1.75, 0, 1.25)],
        also="judge prompt weight",
        left=((1, "preference"),),
        others="output_1",
    ),
    Case(
        "helpsteer3",
        [
            dict(
                response1="r", response2="s", overall_preference=-3, left="x", right="y", language="en", domain="code"
            ),
            dict(response1="r", response2="s", overall_preference=0, left="x", right="y", language="en", domain="code"),
            dict(response1="r", response2="s", overall_preference=2, left="y", right="z", language="en", domain="code"),
            dict(
                response1="r", response2="s", overall_preference=-1, left="x", right="z", language="en", domain="stem"
            ),
        ],
        [("x", "y", "i", 3), ("x", "y", "tie", 0), ("y", "z", "j", 2), ("x", "z", "i", 1)],
        [("x", "y", 1, 1, 0), ("y", "z", 0, 0, 1), ("x", "z", 1, 0, 0)],
        also="strength",
        others="response1 response2 language domain",
        options={"objects": ("left", "right")},
    ),
    Case(
        "webgpt",
        [
            dict(answer_0="r", answer_1="s", score_0=1.0, score_1=-1.0, m0="x", m1="y"),
            dict(answer_0="r", answer_1="s", score_0=-0.5, score_1=0.5, m0="x", m1="y"),
            dict(answer_0="r", answer_1="s", score_0=0.0, score_1=0.0, m0="z", m1="y"),
        ],
        [("x", "y", "i", 2), ("x", "y", "j", 1), ("z", "y", "tie", 0)],
        [("x", "y", 1, 0, 1), ("z", "y", 0, 1, 0)],
        also="strength",
        others="answer_0 answer_1",
        options={"objects": ("m0", "m1")},
    ),
    Case("potato", POTATO, POTATO_TABLE, POTATO_COUNTS, also="judge prompt strength"),
    Case("potato_selection", selection(POTATO), POTATO_TABLE, POTATO_COUNTS, also="judge prompt strength"),
    Case(
        "potato_scale",
        [
            {"instance_id": "q1", "user_id": "u1", "preference.scale_value": -3, "model_a": "x", "model_b": "y"},
            {"instance_id": "q2", "user_id": "u1", "preference.scale_value": 0, "model_a": "x", "model_b": "y"},
            {"instance_id": "q3", "user_id": "u2", "preference.scale_value": 1, "model_a": "x", "model_b": "z"},
        ],
        [("x", "y", "i", "u1", "q1", 3), ("x", "y", "tie", "u1", "q2", 0), ("x", "z", "j", "u2", "q3", 1)],
        [("x", "y", 1, 1, 0), ("x", "z", 0, 0, 1)],
        also="judge prompt strength",
    ),
    Case(
        "label_studio",
        STUDIO,
        [("x", "y", "i", 5, "P1"), ("y", "z", "j", 5, "P2")],
        [("x", "y", 1, 0, 0), ("y", "z", 0, 0, 1)],
        also="judge prompt",
        left=((1, "was_cancelled"), (1, "missing")),
    ),
    Case(
        "label_studio_min",
        [
            dict(
                id=1,
                annotation_id=10,
                annotator=5,
                model_left="x",
                model_right="y",
                prompt="P1",
                comparison=[{"selected": "left"}],
            ),
            dict(
                id=2,
                annotation_id=11,
                annotator=6,
                model_left="y",
                model_right="z",
                prompt="P2",
                comparison=[{"selected": "right"}],
            ),
        ],
        [("x", "y", "i", 5, "P1"), ("y", "z", "j", 6, "P2")],
        [("x", "y", 1, 0, 0), ("y", "z", 0, 0, 1)],
        also="judge prompt",
    ),
    Case(
        "chosen_rejected",
        [
            dict(prompt="p", chosen="r", rejected="s", chosen_model="x", rejected_model="y", source="u"),
            dict(prompt="q", chosen="r", rejected="s", chosen_model="y", rejected_model="x", source="u"),
            dict(prompt="r", chosen="r", rejected="s", chosen_model="x", rejected_model="z", source="u"),
        ],
        [("x", "y", "i", "p"), ("y", "x", "i", "q"), ("x", "z", "i", "r")],
        [("x", "y", 1, 0, 0), ("y", "x", 1, 0, 0), ("x", "z", 1, 0, 0)],
        also="prompt",
        others="chosen rejected source",
    ),
    Case(
        "argilla",
        [
            {"prompt": "p", "chosen": [{"role": "user"}], "rejected": "s", "chosen-model": "x", "rejected-model": "y"},
            {"prompt": "q", "chosen": [{"role": "user"}], "rejected": "s", "chosen-model": "y", "rejected-model": "z"},
        ],
        [("x", "y", "i", "p"), ("y", "z", "i", "q")],
        [("x", "y", 1, 0, 0), ("y", "z", 1, 0, 0)],
        also="prompt",
        others="chosen rejected",
    ),
    Case(
        "chosen_rejected_unnamed",
        [dict(chosen="r", rejected="s", best="x", worst="y"), dict(chosen="r", rejected="s", best="z", worst="y")],
        [("x", "y", "i"), ("z", "y", "i")],
        [("x", "y", 1, 0, 0), ("z", "y", 1, 0, 0)],
        others="chosen rejected",
        options={"objects": ("best", "worst")},
    ),
    Case(
        "wmt5",
        WMT5,
        [
            ("cu", "umd", "tie", "anno1", "Czech:English:12", 0),
            ("cu", "_ref", "j", "anno1", "Czech:English:12", 0),
            ("umd", "_ref", "j", "anno1", "Czech:English:12", 0),
            ("umd", "cu", "j", "anno2", "Czech:English:13", 1),
        ],
        [("cu", "umd", 0, 1, 0), ("cu", "_ref", 0, 0, 1), ("umd", "_ref", 0, 0, 1), ("umd", "cu", 0, 0, 1)],
        also="judge prompt block",
        left=((4, "blank"), (12, "ranked")),  # 3 of 10 with uk in the first row; all but umd and cu in the second
        suffix=".csv",
    ),
    Case(
        "wmt2",
        WMT2,
        [
            ("a", "c", "i", "anno1", "cze:eng:7", 901),
            ("b", "c", "i", "anno1", "cze:eng:7", 901),
            ("c", "d", "tie", "anno1", "cze:eng:7", 901),
            ("d", "a", "j", "anno2", "cze:eng:8", 902),
        ],
        [("a", "c", 1, 0, 0), ("b", "c", 1, 0, 0), ("c", "d", 0, 1, 0), ("d", "a", 0, 0, 1)],
        also="judge prompt block",
        left=((1, "identical"),),
        suffix=".csv",
    ),
    Case(
        "wmt_text",
        "1 cu = uedin\n1 cu > umd\n2 uedin < umd\n",
        [("cu", "uedin", "tie", "1"), ("cu", "umd", "i", "1"), ("uedin", "umd", "j", "2")],
        [("cu", "uedin", 0, 1, 0), ("cu", "umd", 1, 0, 0), ("uedin", "umd", 0, 0, 1)],
        also="prompt",
        auto=False,
        suffix=".txt",
    ),
    Case(
        "wmt08",
        WMT08,
        [
            ("cu", "umd", "i", "anno1", "WMT08 Czech-English News:RANK:12", 0),
            ("cu", "uk", "i", "anno1", "WMT08 Czech-English News:RANK:12", 0),
            ("umd", "uk", "tie", "anno1", "WMT08 Czech-English News:RANK:12", 0),
            ("cu", "jhu", "i", "anno2", "WMT08 Czech-English News:RANK:13", 1),
            ("cu", "uk", "i", "anno2", "WMT08 Czech-English News:RANK:13", 1),
            ("jhu", "uk", "tie", "anno2", "WMT08 Czech-English News:RANK:13", 1),
            ("cu", "umd", "j", "anno2", "WMT08 Czech-English News:CONSTITUENT:14", 2),
        ],
        [
            ("cu", "umd", 1, 0, 1),
            ("cu", "uk", 2, 0, 0),
            ("umd", "uk", 0, 1, 0),
            ("cu", "jhu", 1, 0, 0),
            ("jhu", "uk", 0, 1, 0),
        ],
        also="judge prompt block",
        left=((1, "CONSTITUENT"), (3, "ranked"), (20, "no object")),
        auto=False,
        suffix=".csv",
    ),
    Case(
        "wmt07",
        WMT07.splitlines()[0] + "\n" + WMT07.splitlines()[4] + "\n",
        [
            ("uedin", "cu", "j", "c", f"{WMT07_TASK}:13", 0),
            ("uedin", "umd", "tie", "c", f"{WMT07_TASK}:13", 0),
            ("uedin", "pctranslator2007", "i", "c", f"{WMT07_TASK}:13", 0),
            ("cu", "umd", "i", "c", f"{WMT07_TASK}:13", 0),
            ("cu", "pctranslator2007", "i", "c", f"{WMT07_TASK}:13", 0),
            ("umd", "pctranslator2007", "i", "c", f"{WMT07_TASK}:13", 0),
        ],
        [
            ("uedin", "cu", 0, 0, 1),
            ("uedin", "umd", 0, 1, 0),
            ("uedin", "pctranslator2007", 1, 0, 0),
            ("cu", "umd", 1, 0, 0),
            ("cu", "pctranslator2007", 1, 0, 0),
            ("umd", "pctranslator2007", 1, 0, 0),
        ],
        also="judge prompt block",
        left=((4, "no object"),),
        suffix=".csv",
    ),
    Case(
        "crowd_kit",
        [
            dict(worker="w1", left="x", right="y", label="x"),
            dict(worker="w2", left="x", right="y", label="y"),
            dict(worker="w2", left="z", right="y", label="y"),
        ],
        [("x", "y", "i", "w1"), ("x", "y", "j", "w2"), ("z", "y", "j", "w2")],
        [("x", "y", 1, 0, 1), ("z", "y", 0, 0, 1)],
        also="judge",
    ),
    Case(
        "evalica",
        [
            dict(left="x", right="y", winner="left", round=1),
            dict(left="z", right="y", winner="right", round=1),
            dict(left="x", right="z", winner="tie", round=2),
        ],
        [("x", "y", "i"), ("z", "y", "j"), ("x", "z", "tie")],
        [("x", "y", 1, 0, 0), ("z", "y", 0, 0, 1), ("x", "z", 0, 1, 0)],
        others="round",
    ),
    Case(
        "chess",
        [
            dict(White="x", Black="y", Result="1-0", Event="a"),
            dict(White="y", Black="x", Result="0-1", Event="a"),
            dict(White="z", Black="x", Result="1/2-1/2", Event="b"),
            dict(White="z", Black="x", Result="½-½", Event="b"),
            dict(White="z", Black="y", Result="*", Event="b"),
        ],
        [("x", "y", "i"), ("y", "x", "j"), ("z", "x", "tie"), ("z", "x", "tie")],
        [("x", "y", 1, 0, 0), ("y", "x", 0, 0, 1), ("z", "x", 0, 2, 0)],
        others="Event",
        left=((1, "'*'"),),
    ),
    Case(
        "points",
        [
            dict(home_team="x", away_team="y", home_score=3, away_score=1, neutral=True),
            dict(home_team="y", away_team="x", home_score=0, away_score=0, neutral=False),
            dict(home_team="z", away_team="x", home_score=1, away_score=10, neutral=False),
            dict(home_team="z", away_team="y", home_score=None, away_score=None, neutral=False),
        ],
        [("x", "y", "i"), ("y", "x", "tie"), ("z", "x", "j")],
        [("x", "y", 1, 0, 0), ("y", "x", 0, 1, 0), ("z", "x", 0, 0, 1)],
        others="neutral",
        left=((1, "no result"),),
    ),
    Case(
        "choix",
        [(1, 0), (0, 2), (0, 1)],
        [(1, 0, "i"), (0, 2, "i"), (0, 1, "i")],
        [(1, 0, 1, 0, 0), (0, 2, 1, 0, 0), (0, 1, 1, 0, 0)],
    ),
    *(
        Case(
            name,
            [{a: "x", b: "y", i: 3, j: 2}, {a: "y", b: "z", i: 1, j: 4}],
            [("x", "y", "i", 3), ("x", "y", "j", 2), ("y", "z", "i", 1), ("y", "z", "j", 4)],
            [("x", "y", 3, 0, 2), ("y", "z", 1, 0, 4)],
            also="weight",
        )
        for name, a, b, i, j in (
            ("bradleyterry2", "player1", "player2", "win1", "win2"),
            ("bradleyterry2_wins", "player1", "player2", "wins1", "wins2"),
            ("bradleyterry2_home", "home.team", "away.team", "home.wins", "away.wins"),
        )
    ),
    Case(
        "comparia",
        [
            dict(
                model_a_name=a,
                model_b_name=b,
                chosen_model_name=chosen,
                both_equal=chosen is None,
                visitor_id=who,
                opening_msg=what,
                conv_turns=2,
            )
            for a, b, chosen, who, what in (
                ("x", "y", "x", "v1", "p1"),
                ("x", "y", None, "v2", "p2"),
                ("z", "y", "y", "v1", "p1"),
                ("both_equal", "w", "w", "v2", "p3"),
            )
        ],
        [
            ("x", "y", "i", "v1", "p1"),
            ("x", "y", "tie", "v2", "p2"),
            ("z", "y", "j", "v1", "p1"),
            ("both_equal", "w", "j", "v2", "p3"),
        ],
        [("x", "y", 1, 1, 0), ("z", "y", 0, 0, 1), ("both_equal", "w", 0, 0, 1)],
        also="judge prompt",
        others="conv_turns",
    ),
    Case(
        "helpsteer2",
        [
            dict(prompt="p", response_1="r", response_2="s", preference_strength=n, split="train", m1="x", m2=other)
            for n, other in ((-3, "y"), (0, "y"), (2, "y"), (-1, "z"))
        ],
        [("x", "y", "i", "p", 3), ("x", "y", "tie", "p", 0), ("x", "y", "j", "p", 2), ("x", "z", "i", "p", 1)],
        [("x", "y", 1, 1, 1), ("x", "z", 1, 0, 0)],
        also="prompt strength",
        others="response_1 response_2 split",
        options={"objects": ("m1", "m2")},
    ),
    Case(
        "autoarena",
        [
            dict(judge="g", prompt=p, model_a="x", model_b="y", response_a="r", response_b="s", winner=said)
            for p, said in (("p1", "A"), ("p2", "B"), ("p3", "-"), ("p4", "A"))
        ],
        [
            ("x", "y", "i", "g", "p1"),
            ("x", "y", "j", "g", "p2"),
            ("x", "y", "tie", "g", "p3"),
            ("x", "y", "i", "g", "p4"),
        ],
        [("x", "y", 2, 1, 1)],
        also="judge prompt",
        others="response_a response_b",
    ),
    Case(
        "multipref",
        [
            dict(
                comparison_id=k,
                prompt_id=what,
                model_a="x",
                model_b="y",
                normal_worker_annotations=[dict(evaluator=who, overall_pref=said) for who, said in normal],
                expert_worker_annotations=[dict(evaluator=who, overall_pref=said) for who, said in expert],
            )
            for k, what, normal, expert in (
                (
                    1,
                    "p1",
                    [("n1", "A-is-clearly-better"), ("n2", "Tie")],
                    [("e1", "B-is-slightly-better"), ("e2", "A-is-slightly-better")],
                ),
                (2, "p2", [("n1", "B-is-clearly-better")], [("e1", "Tie")]),
            )
        ],
        [
            ("x", "y", "i", "n1", "p1", 2),
            ("x", "y", "tie", "n2", "p1", 0),
            ("x", "y", "j", "e1", "p1", 1),
            ("x", "y", "i", "e2", "p1", 1),
            ("x", "y", "j", "n1", "p2", 2),
            ("x", "y", "tie", "e1", "p2", 0),
        ],
        [("x", "y", 2, 2, 2)],
        also="judge prompt strength",
        others="list comparison_id",
    ),
    Case(
        "judgearena",
        JUDGEARENA,
        [
            ("x", "y", "i", "g", 0.5),
            ("x", "y", "tie", "g", 0),
            ("x", "y", "j", "g", 0.5),
            ("x", "y", "i", "g", 0.25),
            ("z", "y", "j", "h", 0.25),
        ],
        [("x", "y", 2, 1, 1), ("z", "y", 0, 0, 1)],
        also="judge strength",
        others="dataset num_wins",
        left=((1, "preferences"),),
    ),
    Case(
        "langsmith",
        [
            dict(
                run_id=f"r{k}",
                key=key,
                score=score,
                session_id=session,
                comparative_experiment_id="c",
                feedback_group_id=group,
            )
            for k, (key, score, session, group) in enumerate(
                (
                    *(("preference", 1, "x", "g1"), ("preference", 0, "y", "g1")),
                    *(("length", 0, "x", "g2"), ("length", 1, "y", "g2")),
                    *(("preference", 0.5, "x", "g3"), ("preference", 0.5, "y", "g3")),
                    ("helpfulness", 1, "x", None),
                )
            )
        ],
        [
            ("x", "y", "i", "preference", "g1"),
            ("x", "y", "j", "length", "g2"),
            ("x", "y", "tie", "preference", "g3"),
        ],
        [("x", "y", 1, 1, 1)],
        also="judge block",
        left=((1, "no other record"),),
    ),
    Case(
        "deepeval",
        [
            dict(
                contestants=[dict(name=name, test_case=dict(input=what, actual_output="o")) for name in names],
                winner=winner,
                reason="because",
            )
            for names, winner, what in (("xyz", "x", "p1"), ("xy", "y", "p2"), ("xy", None, "p3"))
        ],
        [("x", "y", "i", "p1", 0), ("x", "z", "i", "p1", 0), ("x", "y", "j", "p2", 1)],
        [("x", "y", 1, 0, 1), ("x", "z", 1, 0, 0)],
        also="prompt block",
        others="reason",
        left=((2, "neither"),),
    ),
    Case(
        "promptfoo",
        [PROMPTFOO],
        [
            ("openai:x:0", "openai:y:1", "i", 0, "0:fun"),
            ("openai:x:0", "openai:y:2", "i", 0, "0:fun"),
            ("openai:x:0", "openai:y:1", "j", 1, "1:fun"),
        ],
        [("openai:x:0", "openai:y:1", 1, 0, 1), ("openai:x:0", "openai:y:2", 1, 0, 0)],
        also="prompt block",
        left=((7, "select-best"), (2, "neither")),
    ),
    Case(
        "openai_evals",
        [
            dict.fromkeys(("run_id", "event_id", "sample_id", "type", "data", "created_by", "final_report"))
            | dict(spec=dict(completion_fns=["gpt"], eval_name="battle"), created_at="t"),
            dict(run_id="r", event_id=0, sample_id="s.1", type="sampling", data=dict(prompt="p"), created_by="u"),
            *(
                dict(run_id="r", event_id=k, sample_id=f"s.{k}", type="metrics", data=dict(choice=said), created_by="u")
                for k, said in enumerate(("Yes", "No", "Yes", "__invalid__"), 1)
            ),
            dict(final_report={"score/choice": 0.5}),
        ],
        [
            ("completion1", "completion2", "i", "s.1"),
            ("completion1", "completion2", "j", "s.2"),
            ("completion1", "completion2", "i", "s.3"),
        ],
        [("completion1", "completion2", 2, 0, 1)],
        also="prompt",
        left=((3, "metrics"), (1, "'__invalid__'")),
    ),
    Case(
        "autoevals",
        [
            dict(id=k, input=f"p{k}", output="o", expected="e", scores={"Battle": score, "Length": 0.5})
            for k, score in enumerate((1, 0, 1, None))
        ],
        [("output", "expected", "i", "p0"), ("output", "expected", "j", "p1"), ("output", "expected", "i", "p2")],
        [("output", "expected", 2, 0, 1)],
        also="prompt",
        left=((1, "missing"),),
    ),
    Case(
        "opencompass",
        OPENCOMPASS,
        [
            ("x", "y", "i", "q1", 2),
            ("x", "y", "j", "q2", 1),
            ("y", "z", "tie", "q1", 0),
            ("y", "z", "j", "q2", 2),
        ],
        [("x", "y", 1, 0, 1), ("y", "z", 0, 1, 1)],
        also="prompt strength",
        others="origin_prompt",
        left=((1, "missing"),),
    ),
    Case(
        "judgebench",
        [
            dict(
                pair_id=pair,
                source="mmlu",
                response_model="gpt",
                response_A="r",
                response_B="s",
                label=label,
                judge_name="arena_hard",
                judgments=[
                    None if said is None else dict(judgment=dict(judge_model="g"), decision=said) for said in decisions
                ],
            )
            for pair, label, decisions in (
                ("p1", "A>B", ["A>B", "B>A"]),
                ("p2", "B>A", ["A>B", "A=B"]),
                ("p3", "B>A", ["B>A", None]),
            )
        ],
        [
            ("correct", "incorrect", "i", "g", "p1", 0),
            ("incorrect", "correct", "j", "g", "p1", 0),
            ("incorrect", "correct", "i", "g", "p2", 1),
            ("correct", "incorrect", "tie", "g", "p2", 1),
            ("incorrect", "correct", "j", "g", "p3", 2),
        ],
        [("correct", "incorrect", 1, 1, 0), ("incorrect", "correct", 1, 0, 2)],
        also="judge prompt block",
        left=((1, "missing"),),
    ),
    Case(
        "prism",
        [
            dict(
                utterance_id=f"u{k}",
                interaction_id=interaction,
                user_id=who,
                within_turn_id=k,
                model_name=model,
                score=score,
                if_chosen=chosen,
            )
            for k, (interaction, who, model, score, chosen) in enumerate(
                (
                    *(("i1", "v1", "x", 80, True), ("i1", "v1", "y", 20, False), ("i1", "v1", "z", 20, False)),
                    *(("i2", "v1", "x", 60, True), ("i2", "v1", "x", 40, False)),
                    *(("i3", "v2", "y", 100, True), ("i3", "v2", "x", 30, False)),
                )
            )
        ],
        [
            ("x", "y", "i", "v1", "i1", 60, "i1"),
            ("x", "z", "i", "v1", "i1", 60, "i1"),
            ("y", "z", "tie", "v1", "i1", 0, "i1"),
            ("y", "x", "i", "v2", "i3", 70, "i3"),
        ],
        [("x", "y", 1, 0, 0), ("x", "z", 1, 0, 0), ("y", "z", 0, 1, 0), ("y", "x", 1, 0, 0)],
        also="judge prompt strength block",
        others="if_chosen other_if_chosen",
        left=((1, "itself"),),
    ),
    Case(
        "pickapic",
        [
            dict(
                image_0_uid="a",
                image_1_uid="b",
                label_0=label,
                label_1=1 - label,
                model_0=i,
                model_1=j,
                caption="c",
                user_id=7,
                ranking_id=ranking,
                has_label=has,
            )
            for i, j, label, ranking, has in (
                ("x", "y", 1.0, 1, True),
                ("x", "y", 0.5, 1, True),
                ("z", "y", 0.0, 2, True),
                ("x", "x", 1.0, 2, True),
                ("x", "y", 0.0, 3, False),
            )
        ],
        [("x", "y", "i", 7, "c", 1), ("x", "y", "tie", 7, "c", 1), ("z", "y", "j", 7, "c", 2)],
        [("x", "y", 1, 1, 0), ("z", "y", 0, 0, 1)],
        also="judge prompt block",
        left=((1, "itself"), (1, "has_label")),
    ),
    *(
        Case(
            name,
            [
                dict(
                    prompt=what,
                    response_0="r",
                    response_1="s",
                    response_0_source=i,
                    response_1_source=j,
                    better_response_id=better,
                    safer_response_id=safer,
                )
                for what, i, j, better, safer in (
                    ("p1", "x", "y", 0, 1),
                    ("p2", "x", "y", 1, 1),
                    ("p3", "z", "y", 0, 0),
                    ("p4", "x", "x", 0, 1),
                )
            ],
            [("x", "y", first, "p1"), ("x", "y", "j", "p2"), ("z", "y", "i", "p3")],
            [("x", "y", int(first == "i"), 0, 1 + int(first == "j")), ("z", "y", 1, 0, 0)],
            also="prompt",
            left=((1, "itself"),),
            format="pku_saferlhf",
            options=options,
        )
        for name, first, options in (
            ("pku_saferlhf", "i", {}),
            ("pku_saferlhf_safer", "j", {"outcome": "safer_response_id"}),
        )
    ),
    Case(
        "matrix",
        pd.DataFrame([[0, 3, 1], [2, 0, 4], [5, 6, 0]], index=list("xyz"), columns=list("xyz")),
        [
            ("x", "y", "i", 3),
            ("x", "y", "j", 2),
            ("x", "z", "i", 1),
            ("x", "z", "j", 5),
            ("y", "z", "i", 4),
            ("y", "z", "j", 6),
        ],
        [("x", "y", 3, 0, 2), ("x", "z", 1, 0, 5), ("y", "z", 4, 0, 6)],
        also="weight",
        auto=False,
    ),
    Case(
        "prefmod",
        PREFMOD,
        [
            ("A", "B", "i", 0),
            ("A", "C", "i", 0),
            ("B", "C", "j", 0),
            ("A", "B", "j", 1),
            ("B", "C", "tie", 1),
            ("A", "B", "tie", 2),
            ("A", "C", "i", 2),
            ("B", "C", "j", 2),
        ],
        PREFMOD_COUNTS,
        also="judge",
        others="AGE",
        left=((1, "missing"),),
        auto=False,
    ),
]
