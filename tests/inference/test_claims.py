"""Claims about two objects: names are data, and a text with two readings is refused."""

import pytest

from llbt.errors import OptionError
from llbt.inference.claims import Claim, read_claim


@pytest.mark.parametrize(
    ("text", "objects", "expected"),
    [
        ("A > B", ["A", "B"], Claim(0, 1, ">")),
        ("A<B", ["A", "B"], Claim(0, 1, "<")),
        ("  A =  B ", ["A", "B"], Claim(0, 1, "=")),
        ("gpt-4 > claude 3", ["claude 3", "gpt-4"], Claim(1, 0, ">")),
        ("1 > 2", [1, 2], Claim(0, 1, ">")),
        ("a>b > c", ["a>b", "c"], Claim(0, 1, ">")),
        ("`a > b` > `c`", ["a > b", "c", "a", "b > c"], Claim(0, 1, ">")),
        ("`A` > `B`", ["A", "B", "`A`"], Claim(2, 1, ">")),  # a name that is in backticks itself
        ("__import__('os').system('x') > B", ["__import__('os').system('x')", "B"], Claim(0, 1, ">")),
    ],
)
def test_names_are_data(text: str, objects: list, expected: Claim) -> None:
    assert read_claim(text, objects) == expected


@pytest.mark.parametrize(
    ("text", "objects", "said"),
    [
        ("a > b > c", ["a", "b > c", "a > b", "c"], "can be read in 2 ways"),
        ("A", ["A", "B"], "has no sign"),
        ("", ["A", "B"], "has no sign"),
        ("A > C", ["A", "B"], "names 'C'"),
        ("gpt5 > B", ["gpt-5", "B"], "did you mean 'gpt-5'"),
        ("A >= B", ["A", "B"], "names"),
        ("A > B > C", ["A", "B", "C"], "names"),
        ("A > A", ["A", "B"], "compares an object with itself"),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, objects: list, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        read_claim(text, objects)
