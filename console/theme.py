"""How every outcome looks: one word, one glyph, one colour each; and the agents' colours.

The palettes keep a distance (ΔE76) of at least 25 between any two results under normal, protan,
deutan and tritan sight, with a contrast on the page's background of at least 4.5.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from handoff_console.runtime.contract import State, Status

LIGHT_BACKGROUND = "#FFFFFF"
DARK_BACKGROUND = "#171614"
PRIMARY = "#2F6FD0"
PRIMARY_ON_DARK = "#7FB0F5"
"""Light enough to be read as text: selected tabs are written in it."""
PRIMARY_ON_TINT = "#285FB3"
"""The same on a light tint of itself."""
ICON = "🔀"
"""The page's icon; an emoji, so that it is not looked for in the network."""
STAYS = "stays_in_sight"
"""The key of a container whose column stays in sight while the one beside it is scrolled."""
NEUTRAL = "#8892A0"
"""Reserve marks and hatching: in the way of no status."""


@dataclass(frozen=True)
class Look:
    """How one outcome looks. Colour never stands alone: glyph and word go with it."""

    word: str
    glyph: str
    light: str
    dark: str
    meaning: str
    """One sentence for somebody who sees the word for the first time."""

    def color(self, *, dark: bool) -> str:
        """Return the colour for the mode."""
        return self.dark if dark else self.light


_GREY = ("#6B7280", "#9AA4B2")
_RED = ("#8D1213", "#FF6554")
_ORANGE = ("#AD6407", "#F4C83E")

LOOKS: dict[str, Look] = {
    look.word: look
    for look in (
        Look(Status.OK, "✓", "#028853", "#41F19B", "The task is done."),
        Look(
            Status.NOT_FOUND,
            "∅",
            "#033969",
            "#90C1FC",
            "What was asked for does not exist; that is an answer.",
        ),
        Look(Status.NEEDS_INPUT, "?", *_ORANGE, "A value is missing that only a person can give."),
        Look(Status.ERROR, "✕", *_RED, "It failed."),
        Look(
            Status.LIMIT_REACHED,
            "▲",
            "#8629C7",
            "#D339F5",
            "Stopped by a limit; what was gathered so far is incomplete.",
        ),
        Look(State.ASKED_FOR, "○", *_GREY, "Asked for, and not begun yet."),
        Look(State.WAITING, "‖", *_ORANGE, "Waits for a person."),
        Look(State.RUNNING, "…", *_GREY, "Not finished yet."),
        Look(State.INTERRUPTED, "↯", *_RED, "The process that ran it is gone."),
        Look(State.CANCELLED, "■", *_GREY, "Stopped by a person."),
        Look(State.REFUSED, "⊘", *_RED, "The gate did not let it through."),
        Look(State.TRANSFERRED, "→", *_GREY, "Passed control on; the last of the chain answers."),
        Look(State.INCOMPLETE, "◌", *_GREY, "The record breaks off."),
        Look(State.UNKNOWN, "–", *_GREY, "The record does not say."),
    )
}

AGENT_COLORS = ("#4E79A7", "#A0CBE8", "#8C6D5A", "#D7B5A6", "#B6992D", "#86BCB6", "#79706E")
"""Muted, so that no agent looks like a status."""
OTHER_AGENTS = "other"
OTHER_COLOR = "#BAB0AC"


def look(outcome: str) -> Look:
    """Return how an outcome looks; a word this version does not know looks like `unknown`."""
    return LOOKS.get(outcome, LOOKS[State.UNKNOWN])


def agent_colors(shown: Iterable[str], order: Iterable[str]) -> dict[str, str]:
    """Return a colour for each agent that is shown; those beyond the seventh share one.

    Args:
        shown: The agents' names, and perhaps `OTHER_AGENTS`.
        order: All agents, as they first appeared: so a colour stays while a session grows.
    """
    names = list(dict.fromkeys(shown))
    ranks = {name: rank for rank, name in reversed(list(enumerate(order)))}
    named = [name for name in names if name != OTHER_AGENTS]
    named.sort(key=lambda name: ranks.get(name, len(ranks)))
    colors = dict(zip(named, AGENT_COLORS, strict=False))
    return {name: colors.get(name, OTHER_COLOR) for name in names}


def palette() -> dict[str, list[str]]:
    """Return what a component needs of the looks: word → [glyph, light, dark, meaning]."""
    return {word: [it.glyph, it.light, it.dark, it.meaning] for word, it in LOOKS.items()}


def style_sheet(*, dark: bool) -> str:
    """Return what the page's own style sheet adds to Streamlit's theme.

    Streamlit writes white on primary buttons and on what was chosen of several, whatever their
    colour; which of a row of buttons is chosen, in a colour on a tint of itself; captions, and the
    words of a command line, in colours too faint to be read; and it cuts a long choice without a
    sign. A column with a container of the key `STAYS` stays in sight.
    """
    ink = DARK_BACKGROUND if dark else LIGHT_BACKGROUND
    chosen = PRIMARY_ON_DARK if dark else PRIMARY_ON_TINT
    rules = (
        ".stButtonGroup button:is([aria-checked='true'], [aria-pressed='true']) * "
        f"{{ color: {chosen}; }}",
        # Those of a form are called `stBaseButton-primaryFormSubmit`.
        f"[data-testid^='stBaseButton-primary']:enabled * {{ color: {ink}; }}",
        f"[data-testid='stMultiSelect'] [data-tag] * {{ color: {ink}; }}",
        "[data-testid='stCaptionContainer'] { opacity: .78; }",
        "[data-testid='stCode'] code span { color: inherit !important; }",
        "[data-testid='stSelectbox'] input { text-overflow: ellipsis; }",
        f"@media (min-width: 900px) {{ [data-testid='stColumn']:has(.st-key-{STAYS}) {{ "
        "position: sticky; top: 4rem; align-self: flex-start; max-height: calc(100vh - 5rem); "
        "overflow-y: auto; padding-inline: 4px; margin-inline: -4px; } }",
    )
    return f"<style>{''.join(rules)}</style>"
