"""Recorded text made fit to be shown: nothing in it moves the cursor, turns the line or hides.

What was recorded was written by models, tools and strangers. These functions change only how it is
shown; the record keeps every byte.
"""

import re

from handoff_console.runtime.counting import count

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_SURROGATES = re.compile("[\ud800-\udfff]")

_ESCAPES = {code: f"\\x{code:02x}" for code in (*range(0x20), 0x7F)}
"""Control characters are shown as Python writes them; for their pictures many fonts have a box."""
_HIDDEN = (
    *range(0x80, 0x85), *range(0x86, 0xA0),  # C1 controls, without the line end among them
    0xAD, 0x61C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2060, 0xFEFF,  # invisible, or turn the line
    *range(0x202A, 0x202F), *range(0x2066, 0x2070),  # embed, override, isolate
    *range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080),  # annotations; tags that smuggle text
)  # fmt: skip
_BREAKS = (0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x2028, 0x2029)

_ONE_LINE: dict[int, int | str | None] = {
    **_ESCAPES,
    **dict.fromkeys(_HIDDEN),
    **dict.fromkeys(_BREAKS, " "),
}
_BLOCK: dict[int, int | str | None] = {
    **_ONE_LINE,
    **dict.fromkeys(_BREAKS, "\n"),
    0x09: "\t",
    0x0D: None,
}


def one_line(text: str, limit: int = 200) -> str:
    r"""Return text for a place of one line, at most `limit` characters, an ellipsis where cut.

    White space of any kind becomes one space, terminal colours and marks that turn the direction
    are left out, other control characters are shown as escapes (`\x00`). A megabyte costs no more
    than a sentence.
    """
    head = text[: limit * 4 + 64]
    if head.isascii() and head.isprintable():
        shown = " ".join(head.split())
    else:
        shown = " ".join(_visible(head, _ONE_LINE).split())
    if len(shown) <= limit and len(head) == len(text):
        return shown
    return shown[: limit - 1].rstrip() + "…"


def block(text: str, limit: int = 20_000) -> str:
    """Return text for a place of many lines, at most `limit` characters and a note of what is left.

    Lines and tabs stay; everything else is shown as in `one_line`.
    """
    shown = _visible(text[:limit], _BLOCK)
    if len(text) <= limit:
        return shown
    return f"{shown}\n… {count(len(text) - limit, 'more character')}"


def _visible(text: str, table: dict[int, int | str | None]) -> str:
    text = _ANSI.sub("", text)
    return _SURROGATES.sub("\ufffd", text.translate(table))


def as_name(text: str) -> str:
    """Return the name of an agent or a tool as it stands in a sentence: it may be anything."""
    return one_line(text, 40)


def ended(text: str) -> str:
    """Return recorded text as the end of a sentence, with a full stop where it has no end."""
    return text if text.endswith((".", "?", "!", "…")) else f"{text}."


def listed(names: list[str], limit: int = 3) -> str:
    """Return names as the middle of a sentence: `a`, `a and b`, `a, b and 3 more`."""
    names = [as_name(name) for name in names]
    if len(names) > limit:
        names = [*names[: limit - 1], f"{len(names) - limit + 1} more"]
    *first, last = names or ["nobody"]
    return f"{', '.join(first)} and {last}" if first else last
