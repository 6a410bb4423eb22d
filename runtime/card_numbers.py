"""Card numbers in a text: by issuer, length and check digit, in the forms people write them in."""

import re
from collections.abc import Sequence

REMOVED = "[redacted: card number]"
"""What stands where a card number stood."""

_BLANKS = " \\t\\u00a0\\u2007\\u2009\\u202f"
_BARS = "./\\-\\u2010-\\u2015"
CARD_SHAPE = rf"[0-9](?:(?:[{_BLANKS}{_BARS}\r\n]|\\+[nr]){{0,3}}[0-9]){{12}}"
"""Thirteen digits with what may stand between them: every card number has this shape, and little
else. Without looking around, so that any engine takes it."""

_RUN = re.compile(r"(?:(?<![\w.+])|(?<=[A-Za-z]\.))[0-9]+(?:[ -][0-9]+)*(?![\w])")
"""Digits, in any groups, that begin and end where a word does; not the decimals of a number."""
_CLOSE = re.compile(r"(?<![0-9])(?<![0-9]\.)[0-9]{14,19}(?![0-9])")
"""Digits that something else adjoins: `no_4111…`, `+4111…`, `4111…EUR`."""
_BLOCKS = re.compile(
    rf"(?<![0-9])[0-9]{{4}}(?P<gap>[{_BLANKS}]{{1,3}}|[{_BLANKS}]?[{_BARS}][{_BLANKS}]?|\r?\n|\\+n)"
    r"(?:[0-9]{4}(?P=gap)[0-9]{4}(?P=gap)[0-9]{4}|[0-9]{6}(?P=gap)[0-9]{4,5})(?![0-9])"
)
"""The groups that are printed on cards, with the same between them all."""
_NEXT_BLOCK = re.compile(r"[0-9]{4}(?![0-9])")
_LAST_BLOCK = re.compile(r"(?<![0-9])[0-9]{4}\Z")
_WORD_BEFORE = re.compile(r"[0-9A-Za-z]*\Z")
_WORD_AFTER = re.compile(r"[0-9A-Za-z]*")
_HEX = re.compile(r"(?=.*[A-Fa-f])[0-9A-Fa-f]+")
_DIGEST_LENGTHS = frozenset((16, 20, *range(24, 129)))
"""Of hex digits that name something: digests, ids of traces and spans."""
_PHONE = re.compile(r"(?!3[47][0-9]{13})[0-9]{1,15}")
"""After a plus (E.164); the countries +34 and +37… have no numbers of fifteen digits."""

_ISSUED = re.compile(
    r"4(?:\d{12}|\d{15}|\d{18})|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}"
    r"|35\d{14,17}|(?:50|5[6-9]|6\d)\d{11,17}"
)
"""The first digits and lengths that card issuers use: one in ten timestamps in milliseconds has a
right check digit, and none of them begins like a card."""


def without_cards(text: str) -> str:
    """Return `text` without the card numbers in it; a text without one as it is."""
    text = _RUN.sub(_without_cards_of_run, text)
    text = _BLOCKS.sub(_without_blocks, text)
    return _CLOSE.sub(_without_close, text)


def _without_cards_of_run(match: re.Match[str]) -> str:
    """Return a run of digit groups without the card numbers in it."""
    parts = re.split("([ -])", match[0])  # groups at even places, what separates them at odd ones
    first, kept = 0, []
    while first < len(parts):
        last = _card_end(parts, first)
        kept.append(parts[first] if last is None else REMOVED)
        first = first + 1 if last is None else last + 1
        if first < len(parts):
            kept.append(parts[first])
        first += 1
    return "".join(kept)


def _card_end(parts: Sequence[str], first: int) -> int | None:
    """Return where the longest card number ends that begins with this group; None if none does."""
    end, number = None, ""
    for at in range(first, len(parts), 2):
        number += parts[at]
        if len(number) > 19:
            break
        # Phone numbers have 13 digits too; cards that short are not written in groups.
        if len(number) >= (13 if at == first else 14) and _is_card(number):
            end = at
    return end


def _without_blocks(match: re.Match[str]) -> str:
    gap, text = match["gap"], match.string
    before = text[max(0, match.start() - len(gap) - 5) : match.start()]
    # More blocks of four of the same kind are a column or a list of numbers.
    is_of_more = _NEXT_BLOCK.match(text, match.end() + len(gap)) and text.startswith(
        gap, match.end()
    )
    if is_of_more or (before.endswith(gap) and _LAST_BLOCK.search(before[: -len(gap)])):
        return match[0]
    return REMOVED if _is_card(match[0].replace(gap, "")) else match[0]


def _without_close(match: re.Match[str]) -> str:
    text, (start, end) = match.string, match.span()
    if text.startswith("+", max(0, start - 1)) and _PHONE.fullmatch(match[0]):
        return match[0]
    before = _WORD_BEFORE.search(text, max(0, start - 128), start)
    after = _WORD_AFTER.match(text, end, end + 128)
    word = f"{before[0] if before else ''}{match[0]}{after[0] if after else ''}"
    if len(word) in _DIGEST_LENGTHS and _HEX.fullmatch(word):
        return match[0]
    return REMOVED if _is_card(match[0]) else match[0]


def _is_card(number: str) -> bool:
    if not _ISSUED.fullmatch(number):
        return False
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in number[-2::-2]]
    return (sum(map(int, number[-1::-2])) + sum(doubled)) % 10 == 0
