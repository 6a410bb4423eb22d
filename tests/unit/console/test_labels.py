"""Recorded names as labels of fields: shown exactly as they are."""

import pytest

from handoff_console.console.components.labels import label


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("card number (1 of 2)", "card number (1 of 2)"),
        ("[x](javascript:y)", r"\[x\](javascript\:y)"),
        ("1) first", r"1\) first"),
        ("*bold* :smile: $x$", r"\*bold\* \:smile: \$x\$"),
        ("a_b <b>", r"a_b \<b\>"),
        ("_a_ b__c d-e", r"\_a\_ b\_\_c d-e"),
        ("step 1: list_pages", "step 1: list_pages"),
        ("a -> b -- :material/bolt:", "a \\-\u2060\\> b \\-\u2060\\- \\:\u2060material/bolt\\:"),
        ('look {"page": 1, "of":2}', r'look {"page": 1, "of"\:2}'),
    ],
)
def test_no_sign_of_a_name_is_markup_and_no_other_is_escaped(text, written):
    assert label(text) == written
