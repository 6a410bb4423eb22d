import random
import time

from handoff_console.store.analysis.text_diff import Segment, Side, text_diff

MEGABYTE = 1_000_000


def marked(left: str, right: str) -> str:
    """Both texts in one: `[-removed-]`, `{+added+}`."""
    marks = {Side.BOTH: "{}", Side.LEFT: "[-{}-]", Side.RIGHT: "{{+{}+}}"}
    return "".join(marks[part.side].format(part.text) for part in text_diff(left, right))


def sides(left: str, right: str) -> tuple[str, str]:
    parts = text_diff(left, right)
    return (
        "".join(part.text for part in parts if part.side is not Side.RIGHT),
        "".join(part.text for part in parts if part.side is not Side.LEFT),
    )


def test_a_changed_word_stands_alone():
    assert (
        marked("payments of customer 4812 in May", "payments of customer 4813 in May")
        == "payments of customer [-4812-]{+4813+} in May"
    )


def test_words_beside_each_other_are_one_change():
    assert marked("Answer in one word.", "Answer at great length.") == (
        "Answer [-in one word-]{+at great length+}."
    )


def test_equal_texts_are_one_segment_and_empty_ones_none():
    assert text_diff("same", "same") == (Segment(Side.BOTH, "same"),)
    assert text_diff("", "") == ()
    assert marked("", "new") == "{+new+}"
    assert marked("old", "") == "[-old-]"


def test_lines_are_added_and_removed_as_they_are():
    assert marked("one\ntwo\nthree\n", "one\nthree\nfour\n") == ("one\n[-two\n-]three{+\nfour+}\n")


def test_text_in_any_script_and_with_any_character_is_kept_to_the_letter():
    left = "Müller 支払い \x00\x1b[31m \u202e 🙂"
    right = "Mueller 支払い済み \x00\x1b[32m \u202e 🙃"

    assert sides(left, right) == (left, right)


def test_a_megabyte_with_a_few_changes_shows_exactly_these():
    words = [f"w{number % 5_003}" for number in range(MEGABYTE // 6)]
    lines = [" ".join(words[at : at + 12]) for at in range(0, len(words), 12)]
    changed = list(lines)
    for at in range(100, len(changed), 1_000):
        changed[at] = changed[at].replace(" ", " new ", 1)
    left, right = "\n".join(lines), "\n".join(changed)
    before = time.process_time()

    parts = text_diff(left, right)

    assert time.process_time() - before < 5
    assert {part.text.strip() for part in parts if part.side is Side.RIGHT} == {"new"}
    assert not [part for part in parts if part.side is Side.LEFT]
    assert len(parts) == 2 * len(range(100, len(changed), 1_000)) + 1


def test_a_megabyte_in_one_line_that_is_shuffled_is_given_as_replaced_in_time():
    words = [f"w{number % 977}" for number in range(MEGABYTE // 5)]
    left = " ".join(words)
    random.Random(1).shuffle(words)
    right = " ".join(words)
    before = time.process_time()

    assert sides(left, right) == (left, right)

    assert time.process_time() - before < 20
