"""Fifty small invented source files, for agents that read code; nothing of it is ever run."""

from collections.abc import Mapping, Sequence

_AREAS = ("billing", "cart", "catalogue", "courier", "returns")
_PARTS = (
    "api", "cache", "events", "forms", "limits", "mail", "models", "prices", "reports", "views",
)  # fmt: skip

ROUNDING = {
    "shop/billing/prices.py": "def to_cents(eur: float) -> int:\n    return int(eur * 100)\n",
    "shop/cart/prices.py": "def total(rows):\n    return round(sum(rows), 2)\n",
    "shop/returns/prices.py": "def refund_cents(eur: float) -> int:\n    return int(eur * 100)\n",
}
"""The files that round amounts; two of them cut off instead: 1.15 EUR becomes 114 cents."""


def _stub(area: str, part: str) -> str:
    return (
        f'"""{part.capitalize()} of {area}."""\n\nfrom shop.{area} import settings\n\n\n'
        f"def {part}(key):\n    return settings.read({part!r}, key)\n"
    )


FILES: Mapping[str, str] = {
    f"shop/{area}/{part}.py": ROUNDING.get(f"shop/{area}/{part}.py", _stub(area, part))
    for area in _AREAS
    for part in _PARTS
}
"""By path, fifty of them."""


def list_files() -> list[str]:
    """List the paths of all source files."""
    return list(FILES)


def read_files(paths: Sequence[str]) -> dict[str, str]:
    """Read source files, ten at most in one go."""
    return {path: FILES.get(path, "(there is no such file)") for path in paths[:10]}


def run_tests(patch: str) -> dict[str, object]:
    """Apply a patch to a copy in a sandbox and run the tests there. Here nothing is run."""
    passed = "round(" in patch and "-0.5" not in patch
    return {"ran": 212, "failed": 0 if passed else 3}
