"""Outcomes look different from each other, and can be read in both modes."""

from itertools import combinations

import pytest

from handoff_console.console import theme
from handoff_console.runtime.contract import WORST_FIRST, State, Status

RESULTS = [*Status, State.RUNNING]


def luminance(color):
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_every_outcome_has_a_look_and_each_glyph_stands_for_one():
    assert set(theme.LOOKS) == {*Status, *State}
    assert len({look.glyph for look in theme.LOOKS.values()}) == len(theme.LOOKS)


def test_every_outcome_has_its_place_among_the_worst():
    assert sorted(WORST_FIRST) == sorted([*Status, *State])


@pytest.mark.parametrize("outcome", theme.LOOKS)
def test_an_outcome_can_be_read_on_the_page_in_both_modes(outcome):
    look = theme.look(outcome)

    assert contrast(look.light, theme.LIGHT_BACKGROUND) >= 4.5
    assert contrast(look.dark, theme.DARK_BACKGROUND) >= 4.5


@pytest.mark.parametrize("dark", [False, True])
def test_no_two_results_share_a_colour(dark):
    for one, other in combinations(RESULTS, 2):
        assert theme.look(one).color(dark=dark) != theme.look(other).color(dark=dark)


def test_a_word_of_a_later_version_looks_unknown():
    assert theme.look("postponed").word == "unknown"


def test_selected_tabs_and_buttons_can_be_read_in_both_modes():
    assert contrast(theme.PRIMARY, theme.LIGHT_BACKGROUND) >= 4.5
    assert contrast(theme.PRIMARY_ON_DARK, theme.DARK_BACKGROUND) >= 4.5
    assert f"color: {theme.DARK_BACKGROUND}" in theme.style_sheet(dark=True)
    assert f"color: {theme.LIGHT_BACKGROUND}" in theme.style_sheet(dark=False)


def test_no_agent_looks_like_an_outcome():
    looks = {color for look in theme.LOOKS.values() for color in (look.light, look.dark)}

    assert not looks & {*theme.AGENT_COLORS, theme.OTHER_COLOR}


def test_an_agent_keeps_its_colour_while_others_overtake_it():
    order = ["triage", "billing", "ledger"]

    before = theme.agent_colors(["triage", "billing"], order)
    after = theme.agent_colors(["billing", "triage"], order)

    assert before == after == {"triage": "#4E79A7", "billing": "#A0CBE8"}


def test_agents_beyond_the_seventh_share_a_colour():
    names = [f"a{number}" for number in range(9)]

    colors = theme.agent_colors([*names, "other"], names)

    assert len({colors[name] for name in names[:7]}) == 7
    assert {colors[name] for name in [*names[7:], "other"]} == {theme.OTHER_COLOR}


def test_a_long_choice_ends_with_a_sign_that_it_goes_on():
    assert "[data-testid='stSelectbox'] input { text-overflow: ellipsis; }" in theme.style_sheet(
        dark=False
    )


def test_captions_command_lines_and_chosen_words_are_not_written_too_faintly():
    for dark, ink in ((False, theme.LIGHT_BACKGROUND), (True, theme.DARK_BACKGROUND)):
        written = theme.style_sheet(dark=dark)
        assert "[data-testid='stCaptionContainer'] { opacity: .78; }" in written
        assert "[data-testid='stCode'] code span { color: inherit !important; }" in written
        assert f"[data-testid='stMultiSelect'] [data-tag] * {{ color: {ink}; }}" in written


def tinted(tint, share, ground):
    parts = [(int(tint[at : at + 2], 16), int(ground[at : at + 2], 16)) for at in (1, 3, 5)]
    return "#" + "".join(
        f"{round(mine * share + under * (1 - share)):02X}" for mine, under in parts
    )


def test_which_of_a_row_of_buttons_is_chosen_can_be_read_on_its_tint():
    ground = tinted(theme.PRIMARY, 0.13, theme.LIGHT_BACKGROUND)

    assert contrast(theme.PRIMARY_ON_TINT, ground) >= 4.5
    assert f"color: {theme.PRIMARY_ON_TINT}" in theme.style_sheet(dark=False)
