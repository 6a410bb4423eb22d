"""What went wrong at a provider, as one sentence, and whether another try may help.

Imported only once a live model is made: it needs the extra `live`.
"""

from collections.abc import Mapping
from typing import Any

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRequestRejectedError,
    UnexpectedModelBehavior,
    UserError,
)

from handoff_console.runtime.errors import ModelError, TransientModelError
from handoff_console.runtime.models.provider.specs import Endpoint, Spec

MAX_REASON_CHARACTERS = 300
_TRY_AGAIN = frozenset({408, 409, 425, 429})
"""Statuses below 500 that may not come back."""
_NOT_SENT = ("pool", "connect")


def as_model_error(error: Exception, spec: Spec, endpoint: Endpoint) -> ModelError:
    """Return an error of the provider, its SDK or `pydantic_ai` as one of ours.

    A request that was refused costs nothing; one that was being answered may be billed.
    """
    if isinstance(error, ModelError):
        return error
    text = _without_key(f"{spec.name}: {_sentence(error, spec, endpoint)}", endpoint)
    billed = _may_be_billed(error)
    if not _may_pass(error):
        return ModelError(text, billed=billed)
    wait = error.retry_after if isinstance(error, ModelAPIError) else None
    return TransientModelError(text, billed=billed, retry_after_seconds=wait)


def _may_pass(error: Exception) -> bool:
    if isinstance(error, ModelHTTPError):
        if error.provider_retry_hint is not None:
            return error.provider_retry_hint
        if isinstance(error, ModelQuotaExceededError):
            return False
        return error.status_code >= 500 or error.status_code in _TRY_AGAIN
    if isinstance(error, ModelQuotaExceededError | ModelRequestRejectedError):
        return False
    # The rest of these is a connection that failed, or a body that ended too early to be read.
    return isinstance(error, ModelAPIError | OSError)


def _may_be_billed(error: Exception) -> bool:
    if isinstance(error, UserError):
        return False
    if isinstance(error, ModelHTTPError):
        return error.in_stream
    if isinstance(error, ModelConnectionError):
        return error.phase not in _NOT_SENT
    return True


def _sentence(error: Exception, spec: Spec, endpoint: Endpoint) -> str:
    where = endpoint.base_url or "the provider"
    if isinstance(error, ModelHTTPError):
        code = f", {known}" if (known := _short(_code(error), endpoint)) else ""
        reason = _short(_message(error.body) or "it gave no reason", endpoint)
        return f"status {error.status_code}{code}: {reason}{_remedy(error, spec)}"
    if isinstance(error, ModelConnectionError):
        if error.phase in _NOT_SENT:
            return f"{where} cannot be reached; check the address and the network."
        return f"{where} closed the connection before the answer was complete."
    if isinstance(error, UnexpectedModelBehavior):
        kind = "message" if spec.provider == "anthropic" else "chat completion"
        return (
            f"{where} answered with something that is no {kind} "
            f"({_short(error.message, endpoint)}); check the address, and whether it can stream."
        )
    return _short(str(error), endpoint) or type(error).__name__


def _remedy(error: ModelHTTPError, spec: Spec) -> str:
    variable = {"server": "HANDOFF"}.get(spec.provider, spec.provider.upper())
    if isinstance(error, ModelAuthenticationError):
        return f" (check {variable}_API_KEY)"
    if isinstance(error, ModelNotFoundError):
        return f" (check the model's name, and {variable}_BASE_URL where it is set)"
    return ""


def _code(error: ModelHTTPError) -> str:
    """Return the provider's own word for the error; Anthropic calls it the error's type."""
    if error.provider_error_code:
        return str(error.provider_error_code)
    inner = error.body.get("error") if isinstance(error.body, Mapping) else None
    found = inner.get("type") if isinstance(inner, Mapping) else None
    return found if isinstance(found, str) and found != "error" else ""


def _message(body: Any) -> str:
    """Return the sentence inside an error's body, wherever the provider put it."""
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        found = inner.get("message") if isinstance(inner, Mapping) else inner
        return str(found or "")
    return str(body or "")


def _short(text: str, endpoint: Endpoint) -> str:
    # Before it is cut: half a key is not found any more.
    line = _without_key(" ".join(text.split()), endpoint)
    return line if len(line) <= MAX_REASON_CHARACTERS else f"{line[:MAX_REASON_CHARACTERS]}…"


def _without_key(text: str, endpoint: Endpoint) -> str:
    return text if endpoint.key == "none" else text.replace(endpoint.key, "[key]")
