"""What a live model's name says: `openai:MODEL`, `anthropic:MODEL`, `server:MODEL`, and settings.

`openai:gpt-4o-mini?temperature=0&max_tries=1` names a model, and how to ask it. Where it is served,
and the key, come from the environment and are recorded nowhere.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from handoff_console.runtime.errors import ModelError, choices
from handoff_console.runtime.models.base import PROVIDERS, Terms

MAX_OUTPUT_TOKENS = 4_096
"""Of one reply, unless the name says otherwise: providers refuse more than a model can give."""
MAX_TRIES = 3


@dataclass(frozen=True, kw_only=True)
class Spec:
    """A live model, as it was named."""

    provider: str
    model: str
    """As the provider calls it."""
    stream: bool = True
    """Off for servers that cannot stream; then nobody knows when an answer began."""
    max_tries: int = MAX_TRIES
    max_output_tokens: int = MAX_OUTPUT_TOKENS
    backoff_seconds: float = 0.5
    settings: Mapping[str, Any]
    """What the provider is asked for besides: temperature and the like."""

    @property
    def name(self) -> str:
        """The name without settings: as it is recorded, and as prices name it."""
        return f"{self.provider}:{self.model}"

    @property
    def terms(self) -> Terms:
        """How it is asked; recorded with each call."""
        return Terms(
            settings={**self.settings, "stream": self.stream},
            max_output_tokens=self.max_output_tokens,
            max_tries=self.max_tries,
            backoff_seconds=self.backoff_seconds,
        )


class Endpoint(NamedTuple):
    """Where a model is served."""

    base_url: str | None
    """None is the provider's own."""
    key: str

    def __repr__(self) -> str:
        """Leave the key out."""
        return f"Endpoint({self.base_url!r})"


def read_spec(text: str) -> Spec:
    """Read a live model's name.

    Raises:
        ModelError: The provider or a setting is unknown, or a value does not fit.
    """
    name, _, query = text.partition("?")
    provider, _, model = name.partition(":")
    if provider not in PROVIDERS or not model:
        raise ModelError(
            f"The model {text!r} cannot be read: write PROVIDER:MODEL, where the provider is one "
            f"of: {choices(PROVIDERS)}."
        )
    own: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    for key, value in parse_qsl(query, keep_blank_values=True):
        into, read = (
            (own, OWN_SETTINGS[key])
            if key in OWN_SETTINGS
            else (settings, PROVIDER_SETTINGS.get(key))
        )
        if read is None:
            raise ModelError(
                f"The model {text!r} has the unknown setting {key!r}; there are: "
                f"{choices([*OWN_SETTINGS, *PROVIDER_SETTINGS])}."
            )
        try:
            into[key] = read(value)
        except ValueError as error:
            raise ModelError(f"The model {text!r}: {key} is {value!r}; it is {error}.") from None
    if provider == "anthropic" and "thinking" in settings:
        raise ModelError(
            f"The model {text!r} cannot think here: Anthropic wants its thoughts back with every "
            "tool result, and they are not kept. Leave `thinking` out."
        )
    return Spec(provider=provider, model=model, settings=settings, **own)


def spec_text(name: str, terms: Terms) -> str:
    """Return a live model's name with how it is asked, as `read_spec` reads it.

    What every live model is asked with anyway is left out.
    """
    own = {
        one: getattr(terms, one) for one in ("max_tries", "max_output_tokens", "backoff_seconds")
    }
    words = {
        one: str(value).lower() if isinstance(value, bool) else f"{value}"
        for one, value in {**own, **terms.settings}.items()
        if value is not None and (one not in OWN_SETTINGS or value != getattr(Spec, one))
    }
    return f"{name}?{urlencode(words)}" if words else name


def endpoint(spec: Spec, environment: Mapping[str, str] = os.environ) -> Endpoint:
    """Return where a model is served, as the environment says.

    Raises:
        ModelError: A variable is missing; the text names it.
    """
    prefix = {"server": "HANDOFF"}.get(spec.provider, spec.provider.upper())
    base_url = environment.get(f"{prefix}_BASE_URL", "").strip()
    key = environment.get(f"{prefix}_API_KEY", "").strip()
    if spec.provider == "server" and not base_url:
        raise ModelError(
            f"The model {spec.name!r} has no server: set HANDOFF_BASE_URL to its address, such as "
            "http://127.0.0.1:8080/v1."
        )
    if base_url and (urlsplit(base_url).scheme not in ("http", "https")):
        raise ModelError(
            f"{prefix}_BASE_URL is {base_url!r}; it has to begin with http:// or https://."
        )
    if not key and (spec.provider == "anthropic" or not base_url):
        raise ModelError(
            f"The model {spec.name!r} has no key: set {prefix}_API_KEY, or use a model that needs "
            "none, such as offline:bm25."
        )
    return Endpoint(base_url or None, key or "none")


def _number(low: float, high: float) -> Callable[[str], float]:
    def read(value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            number = low - 1
        if not low <= number <= high:
            raise ValueError(f"a number from {low:g} to {high:g}")
        return number

    return read


def _whole(low: int) -> Callable[[str], int]:
    def read(value: str) -> int:
        if not value.isdecimal() or int(value) < low:
            raise ValueError(f"a whole number, {low} or more")
        return int(value)

    return read


def _one_of(words: Mapping[str, Any]) -> Callable[[str], Any]:
    def read(value: str) -> Any:
        if value.lower() not in words:
            raise ValueError(f"one of: {', '.join(words)}")
        return words[value.lower()]

    return read


_YES_OR_NO = {"true": True, "false": False}
OWN_SETTINGS: dict[str, Callable[[str], Any]] = {
    "stream": _one_of(_YES_OR_NO),
    "max_tries": _whole(1),
    "max_output_tokens": _whole(1),
    "backoff_seconds": _number(0, 60),
}
"""What the runtime itself follows, and how each value is read."""

PROVIDER_SETTINGS: dict[str, Callable[[str], Any]] = {
    "temperature": _number(0, 2),
    "top_p": _number(0, 1),
    "seed": _whole(0),
    "presence_penalty": _number(-2, 2),
    "frequency_penalty": _number(-2, 2),
    "parallel_tool_calls": _one_of(_YES_OR_NO),
    "thinking": _one_of({"false": False, "low": "low", "medium": "medium", "high": "high"}),
}
"""What is passed on to the provider."""
