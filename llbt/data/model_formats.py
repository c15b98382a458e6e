"""The formats in which judgments of language and image models are published and exported.

The sources of the layouts are named beside them.
"""

from __future__ import annotations

from ..core.columns import Label
from .formats import (
    UNNAMED,
    ByScores,
    Choice,
    Constant,
    Game,
    JudgmentFormat,
    Labelled,
    Labels,
    Lean,
    Reworded,
    meaning,
)

_BETTER = ("A>>B", "A>B", "B<A", "B<<A")
_WORSE = ("A<<B", "A<B", "B>A", "B>>A")
A_OR_B = meaning("i", *_BETTER) | meaning("tie", "A=B", "B=A") | meaning("j", *_WORSE)
A_OR_B_STRENGTHS: dict[Label, float] = {label: len(label) - 2.0 for label in (*_BETTER, *_WORSE)}
A_OR_B_STRENGTHS |= {"A=B": 0, "B=A": 0}

_MULTIPREF: dict[Label, float] = {
    "A-is-clearly-better": 2,
    "A-is-slightly-better": 1,
    "Tie": 0,
    "B-is-slightly-better": 1,
    "B-is-clearly-better": 2,
}
_RIGHT = (("A>B", "correct"), ("B>A", "incorrect"))
_WRONG = (("A>B", "incorrect"), ("B>A", "correct"))
_OUTPUTS = (("provider.id+promptIdx",), ("other_provider.id+other_promptIdx",))
_COMPLETIONS = (Constant("completion1"), Constant("completion2"))


MODEL_FORMATS = (
    JudgmentFormat(  # ministere-culture/comparia-votes
        "comparia",
        (Game(("model_a_name", "model_b_name"), Labels("chosen_model_name", "names", tie="both_equal")),),
        ("model_a_name", "model_b_name", "chosen_model_name", "both_equal"),
        "compar:IA: the name of the chosen model, or both equal",
        judge=("visitor_id", "session_hash"),
        prompt=("opening_msg", "conversation_pair_id"),
    ),
    JudgmentFormat(  # nvidia/HelpSteer2, preference/preference.jsonl.gz
        "helpsteer2",
        (Game(("model_1", "model_2"), Lean("preference_strength", -3, 3)),),
        ("response_1", "response_2", "preference_strength"),
        "HelpSteer2-Preference: preferences from -3 (response_1) to 3 (response_2)",
        advice=UNNAMED,
    ),
    JudgmentFormat(  # kolenaIO/autoarena, service/judge.py: get_df_vote
        "autoarena",
        (Game(("model_a", "model_b"), Labels("winner", {"A": "i", "B": "j", "-": "tie"})),),
        ("model_a", "model_b", "response_a", "response_b", "winner"),
        "AutoArena: head-to-heads with the winner A, B or -",
        values={"winner": "A|B|-"},
    ),
    JudgmentFormat(  # allenai/multipref
        "multipref",
        (
            Game(
                ("model_a", "model_b"),
                Labels(
                    "overall_pref",
                    meaning("i", *list(_MULTIPREF)[:2]) | meaning("tie", "Tie") | meaning("j", *list(_MULTIPREF)[3:]),
                    strengths=_MULTIPREF,
                ),
            ),
        ),
        ("model_a", "model_b", "normal_worker_annotations", "expert_worker_annotations"),
        "MultiPref: annotations of crowd workers and experts; the overall preference",
        judge=("evaluator",),
        prompt=("prompt_id", "comparison_id"),
        each="normal_worker_annotations+expert_worker_annotations",
    ),
    JudgmentFormat(  # OpenEuroLLM/JudgeArena, generate_and_evaluate.py: below .5 model_A is better
        "judgearena",
        (Game(("model_A", "model_B"), Lean("preferences", 0, 1)),),
        ("model_A", "model_B", "preferences"),
        "JudgeArena (OpenJury): preferences from 0 (model_A) to 1 (model_B)",
        judge=("judge", "judge_model"),
        prompt=("instruction_index",),
        each="preferences",
        shown=False,
        notes=("with swap_mode='both' every second half of the preferences was judged in the other order",),
    ),
    JudgmentFormat(  # langchain-ai/langsmith-sdk, schemas.FeedbackBase: as evaluate_comparative leaves it
        "langsmith",
        (Game(("session_id", "other_session_id"), ByScores(("score", "other_score"))),),
        ("run_id", "session_id", "score", "comparative_experiment_id", "feedback_group_id"),
        "LangSmith: feedback of comparative experiments, a row for each run of a group",
        judge=("key",),
        every_two="feedback_group_id",
        itself=True,
        shown=False,
        notes=("the objects are experiments, by session_id",),
    ),
    JudgmentFormat(  # confident-ai/deepeval, test_case/arena_test_case.py and ArenaGEval.winner
        "deepeval",
        (Game(("name", "other_name"), Choice(("name", "other_name"), "winner")),),
        ("contestants", "winner"),
        "DeepEval arena: the contestants of a test case, and the name of the winner",
        prompt=("test_case.input",),
        each="contestants",
        every_two="",
        shown=False,
    ),
    JudgmentFormat(  # promptfoo/promptfoo, the file of `promptfoo eval -o`; assertions/index.ts: runCompareAssertion
        "promptfoo",
        (
            Game(
                (
                    Labelled("provider.label", *_OUTPUTS[0], ("other_provider.label", *_OUTPUTS[1])),
                    Labelled("other_provider.label", *_OUTPUTS[1], ("provider.label", *_OUTPUTS[0])),
                ),
                Choice(("pass", "other_pass"), Constant(True)),
            ),
        ),
        ("evalId", "results", "config"),
        "promptfoo select-best: the output that was selected won against each of the others",
        prompt=("testIdx",),
        each=("results.results", "gradingResult.componentResults"),
        every_two="testIdx+assertion.value",
        only={"assertion.type": ("select-best",)},
        shown=False,
        notes=(
            "the objects are outputs, named by the provider's label if labels are unique, else by its id and the "
            "prompt number",
        ),
    ),
    JudgmentFormat(  # openai/evals, registry/modelgraded/battle.yaml and record.py
        "openai_evals",
        (Game(_COMPLETIONS, Labels("data.choice", {"Yes": "i", "No": "j", "__invalid__": None})),),
        ("run_id", "event_id", "sample_id", "type", "data"),
        "OpenAI evals, log of a battle: is the first completion better than the second?",
        prompt=("sample_id",),
        only={"type": ("metrics",)},
        notes=("the log does not name who wrote completion1 and completion2",),
    ),
    JudgmentFormat(  # braintrustdata/autoevals, templates/battle.yaml
        "autoevals",
        (
            Game(
                (Constant("output"), Constant("expected")),
                Labels("scores.Battle", {1: "i", 0: "j", None: None}),
            ),
        ),
        ("input", "output", "expected", "scores"),
        "autoevals Battle: 1 if the output is better than the expected one, else 0",
        prompt=("input", "id"),
        notes=("the objects are called output and expected, because the record does not name their authors",),
    ),
    JudgmentFormat(  # open-compass/opencompass, datasets/subjective/arena_hard.py
        "opencompass",
        (
            Game(
                ("gold.answer1", "gold.answer2"),
                Labels(
                    "prediction",
                    A_OR_B | meaning(None, None),
                    strengths=A_OR_B_STRENGTHS,
                    pattern=r"\[\[([AB<>=]+)\]\]",
                ),
            ),
        ),
        ("prediction", "gold", "origin_prompt"),
        "OpenCompass, judgments of subjective evaluation: [[A>>B]] to [[A<<B]]",
        prompt=("gold.question_id", "gold.question"),
    ),
    JudgmentFormat(  # ScalerLab/JudgeBench, run_judge.py: the second judgment shows the responses in the other order
        "judgebench",
        tuple(
            Game(
                (Reworded("label", first), Reworded("label", second)),
                Labels(f"judgments.{k}.decision", A_OR_B | meaning(None, None)),
            )
            for k, (first, second) in enumerate(((_RIGHT, _WRONG), (_WRONG, _RIGHT)))
        ),
        ("pair_id", "response_A", "response_B", "label"),
        "JudgeBench, output of a judge: does it prefer the correct response to the incorrect one, in both orders?",
        judge=("judgments.0.judgment.judge_model", "judge_name"),
        prompt=("pair_id",),
        advice="Pass what run_judge.py writes; the file of pairs alone holds no judgments.",
    ),
    JudgmentFormat(  # HannahRoseKirk/prism-alignment, utterances.jsonl
        "prism",
        (
            Game(
                ("model_name", "other_model_name"),
                ByScores(("score", "other_score"), bounds=(0.0, 100.0), strength=True),
            ),
        ),
        ("utterance_id", "interaction_id", "model_name", "score", "if_chosen"),
        "PRISM: scores of the responses to one prompt, each pair of them compared",
        judge=("user_id",),
        prompt=("interaction_id",),
        every_two="interaction_id",
        itself=True,
        shown=False,
    ),
    JudgmentFormat(  # yuvalkirstain/pickapic_v1 and _v2
        "pickapic",
        (Game(("model_0", "model_1"), ByScores(("label_0", "label_1"), bounds=(0.0, 1.0))),),
        ("image_0_uid", "image_1_uid", "label_0", "label_1", "model_0", "model_1"),
        "Pick-a-Pic: label_0 and label_1 are 1 and 0, 0 and 1, or .5 for a tie",
        judge=("user_id",),
        prompt=("caption",),
        block=("ranking_id",),
        itself=True,
        only={"has_label": (True, None)},
        shown=False,
    ),
    JudgmentFormat(  # PKU-Alignment/PKU-SafeRLHF
        "pku_saferlhf",
        (Game(("response_0_source", "response_1_source"), Labels("better_response_id", {0: "i", 1: "j"})),),
        ("response_0", "response_1", "better_response_id", "safer_response_id"),
        "PKU-SafeRLHF: the more helpful response; the safer one with outcome='safer_response_id'",
        itself=True,
        advice=UNNAMED,
        shown=False,
        notes=("better_response_id says which is more helpful; outcome='safer_response_id' reads which is safer",),
    ),
)
