"""A number and its word: `1 message`, `12 messages`."""


def count(number: float, singular: str, plural: str = "") -> str:
    """Return a number with its word in the form that fits it, thousands apart.

    Args:
        number: How many; a part of one (`0.5 seconds`) and none take the plural.
        singular: The word for one.
        plural: The word for all other numbers; empty is the singular with an s.
    """
    shown = f"{number:,}" if isinstance(number, int) else f"{number:,g}"
    return f"{shown} {singular if number == 1 else plural or singular + 's'}"
