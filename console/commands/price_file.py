"""The prices that the user keeps beside the store: every way to run a flow reads the same file."""

from pathlib import Path

from handoff_console.runtime import Flow
from handoff_console.runtime.prices import PriceList, read_prices

PRICES = "prices.toml"
"""What models cost, in a file that the user keeps beside the store."""


def prices_for(store_path: Path, named: str = "") -> PriceList | None:
    """Return the prices that are named, or that lie beside the store; None where there are none.

    Raises:
        PricesError: The file cannot be read; the text names the place.
    """
    if named:
        return read_prices(Path(named))
    beside = store_path.with_name(PRICES)
    return read_prices(beside) if beside.exists() else None


def priced(flow: Flow, store_path: Path) -> Flow:
    """Return the flow with the prices beside the store, or as it is where there are none.

    Raises:
        PricesError: The file cannot be read; the text names the place.
        FlowError: The flow has prices of its own in another currency.
    """
    prices = prices_for(store_path)
    return prices.applied_to(flow) if prices else flow
