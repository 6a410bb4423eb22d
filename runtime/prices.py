"""What models cost: a file that the user keeps, `prices.toml`.

```toml
currency = "USD"

[models."openai:gpt-4o-mini"]
input_per_million = 0.0
output_per_million = 0.0
```

A model that it does not name has tokens and no cost: no price is ever made up.
"""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeGuard

from handoff_console.runtime.errors import FlowError, PricesError, choices
from handoff_console.runtime.flow import Flow, Price

_PER_MODEL = tuple(part.name for part in fields(Price))


@dataclass(frozen=True)
class PriceList:
    """The prices of a file, all in one currency."""

    currency: str
    """Three capital letters, such as `USD`."""
    prices: Mapping[str, Price]
    """By model name, as sessions record it: `openai:gpt-4o-mini`."""

    def applied_to(self, flow: Flow) -> Flow:
        """Return the flow with these prices; they come before its own.

        Raises:
            FlowError: The flow has prices of its own in another currency.
        """
        if flow.prices and flow.currency != self.currency:
            theirs = repr(flow.currency) if flow.currency else "no currency"
            raise FlowError(
                flow.name,
                [f"its own prices are in {theirs} and the list's in {self.currency!r}; state both "
                 "in one currency."],
            )  # fmt: skip
        return flow.changed(prices={**flow.prices, **self.prices}, currency=self.currency)


def read_prices(path: Path) -> PriceList:
    """Read a file of prices; one that names no model is an empty list.

    Raises:
        PricesError: It cannot be opened or read; the text names the place and what is allowed.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise PricesError(f"The prices {path} cannot be opened: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PricesError(f"The prices {path} are no TOML: {error}.") from error
    if unknown := content.keys() - {"currency", "models"}:
        raise _wrong(path, f"it has {choices(unknown)}; it may have: currency, models")
    currency = content.get("currency")
    if not _is_currency(currency):
        raise _wrong(path, f"currency is {currency!r}; it has to be three letters, such as 'USD'")
    models = content.get("models", {})
    if not isinstance(models, dict):
        raise _wrong(path, 'prices stand under [models."NAME"]')
    return PriceList(currency, {name: _price(path, name, value) for name, value in models.items()})


def _price(path: Path, name: str, value: Any) -> Price:
    place = f"models.{name!r}"
    if "?" in name:
        raise _wrong(path, f"{place} has settings in its name; leave out what follows the '?'")
    if not isinstance(value, dict) or value.keys() != set(_PER_MODEL):
        raise _wrong(path, f"{place} has to have: {choices(_PER_MODEL)}, and nothing else")
    for key, number in value.items():
        if not _is_amount(number):
            raise _wrong(path, f"{place}.{key} is {number!r}; it has to be a number, 0 or more")
    return Price(**{key: float(number) for key, number in value.items()})


def _is_currency(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and len(value) == 3 and value.isalpha() and value.isupper()


def _is_amount(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(value) and value >= 0


def _wrong(path: Path, problem: str) -> PricesError:
    return PricesError(f"The prices {path} cannot be read: {problem}.")
