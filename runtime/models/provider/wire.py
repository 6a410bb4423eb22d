"""Our messages and tools as `pydantic_ai` takes them, and its replies as ours.

Imported only once a live model is made: it needs the extra `live`.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model as WireModel
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers import Provider
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from handoff_console.runtime.contract import Message, ToolCall, Usage
from handoff_console.runtime.errors import TransientModelError
from handoff_console.runtime.models.base import ModelCall, ModelReply
from handoff_console.runtime.models.provider.specs import Endpoint, Spec
from handoff_console.runtime.models.provider.wire_names import MAX_ID_CHARACTERS, WireNames, fitted
from handoff_console.runtime.tracing import HEADER, traceparent

_SURROGATE = re.compile("[\ud800-\udfff]")


def import_sdk(spec: Spec) -> None:
    """Import what asking this model takes, so that the first question need not wait for it.

    Raises:
        ImportError: The provider's SDK is not installed.
    """
    if spec.provider == "anthropic":
        import pydantic_ai.models.anthropic
        import pydantic_ai.providers.anthropic
    else:
        import pydantic_ai.models.openai
        import pydantic_ai.providers.openai  # noqa: F401 - imported to be there


def open_provider(spec: Spec, endpoint: Endpoint) -> Provider[Any]:
    """Return the client of a provider, to be entered. Only the SDK that is needed is imported."""
    base_url, key = endpoint
    if spec.provider == "anthropic":
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicProvider(base_url=base_url, api_key=key)
    if spec.provider == "openai":
        from pydantic_ai.providers.openai import OpenAIProvider

        return OpenAIProvider(base_url=base_url, api_key=key)
    from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

    return OpenAICompatibleProvider("server", base_url=base_url or "", api_key=key)


async def response(
    spec: Spec, provider: Provider[Any], call: ModelCall, names: WireNames
) -> ModelResponse:
    """Ask once, and return the whole answer; a stream tells the call when it begins."""
    asked: dict[str, Any] = {
        "model": wire_model(spec, provider),
        "messages": wire_messages(call.messages, names),
        "model_settings": wire_settings(spec, call.max_output_tokens),
        "model_request_parameters": wire_tools(call.tools, names),
    }
    if not spec.stream:
        return await model_request(**asked)
    async with model_request_stream(**asked) as stream:
        async for _ in stream:
            call.first_token()
        return stream.get()


def wire_model(spec: Spec, provider: Provider[Any]) -> WireModel:
    """Return a model of a provider."""
    if spec.provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel

        return AnthropicModel(spec.model, provider=provider)
    from pydantic_ai.models.openai import OpenAIChatModel

    # Most servers that are not OpenAI's know `max_tokens` alone, and ignore the newer name.
    older = OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False)
    profile = older if spec.provider == "server" else None
    return OpenAIChatModel(spec.model, provider=provider, profile=profile)


def wire_settings(spec: Spec, max_output_tokens: int) -> ModelSettings:
    """Return the settings of one request; the SDK's own retries are off."""
    settings = ModelSettings(max_retries=0)
    if trace := traceparent():
        settings["extra_headers"] = {HEADER: trace}
    settings.update(cast(ModelSettings, spec.settings))
    if max_output_tokens:
        settings["max_tokens"] = max_output_tokens
    return settings


def wire_tools(tools: Iterable[Mapping[str, Any]], names: WireNames) -> ModelRequestParameters:
    """Return tools and handoffs, with what the model needs to choose one."""
    return ModelRequestParameters(function_tools=[_definition(tool, names) for tool in tools])


def _definition(tool: Mapping[str, Any], names: WireNames) -> ToolDefinition:
    description = tool["description"]
    if examples := tool.get("examples"):
        description += "\nRequests that belong there: " + "; ".join(examples)
    return ToolDefinition(
        name=names.out(tool["name"]),
        description=description.strip() or None,
        parameters_json_schema=tool["parameters"],
        # Left open, the schema is made strict: a free-form payload may then hold nothing at all.
        strict=False,
    )


def wire_messages(messages: Sequence[Message], names: WireNames) -> list[ModelMessage]:
    """Return messages; what one side says in a row is one message there."""
    wire: list[ModelMessage] = []
    asked: list[ModelRequestPart] = []
    for message in messages:
        if message["role"] != "assistant":
            asked += _request_parts(message, names)
            continue
        if asked:
            wire.append(ModelRequest(parts=asked))
            asked = []
        wire.append(ModelResponse(parts=list(_response_parts(message, names))))
    return [*wire, ModelRequest(parts=asked)] if asked else wire


def _request_parts(message: Message, names: WireNames) -> Iterable[ModelRequestPart]:
    content = _sendable(message["content"])
    if message["role"] == "tool":
        name = names.out(message.get("name", ""))
        yield ToolReturnPart(name, content, _sent_id(message.get("tool_call_id", "")))
    elif message["role"] == "user":
        yield UserPromptPart(content)
    elif content:
        yield SystemPromptPart(content)


def _response_parts(message: Message, names: WireNames) -> Iterable[ModelResponsePart]:
    if message["content"]:
        yield TextPart(_sendable(message["content"]))
    for call in message.get("tool_calls", ()):
        # Servers parse what a model once wrote: what was no JSON goes back inside of some.
        broken = {"malformed": call["malformed"]} if "malformed" in call else None
        arguments = broken or call["arguments"]
        yield ToolCallPart(names.out(call["name"]), _sendable(arguments), _sent_id(call["id"]))


def _sendable(value: Any) -> Any:
    """Return a JSON value without lone surrogates: no request can carry them."""
    if isinstance(value, str):
        return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)
    if isinstance(value, dict):
        return {_sendable(key): _sendable(item) for key, item in value.items()}
    return [_sendable(item) for item in value] if isinstance(value, list) else value


def _sent_id(call_id: str) -> str:
    return fitted(call_id, MAX_ID_CHARACTERS)


def read_reply(response: ModelResponse, names: WireNames, *, streamed: bool) -> ModelReply:
    """Return what a model said.

    Raises:
        TransientModelError: A stream ended in silence: neither a finish reason nor usage.
    """
    details = response.provider_details or {}
    refused = response.finish_reason == "content_filter"
    # Where the provider gave no reason, the library says `stop`; that is a guess, and dropped.
    reason = response.finish_reason if refused or details.get("finish_reason") else None
    usage = _usage(response)
    if streamed and reason is None and usage is None:
        raise TransientModelError("the answer broke off without a finish reason", billed=True)
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    calls = (part for part in response.parts if isinstance(part, ToolCallPart))
    return ModelReply(
        text=text or str(details.get("refusal") or ""),
        tool_calls=tuple(_tool_call(part, names) for part in calls),
        usage=usage,
        finish_reason=reason or "",
    )


def _usage(response: ModelResponse) -> Usage | None:
    counted = response.usage
    # Nothing can be said to a model in no tokens: a zero is a provider that did not count.
    return Usage(counted.input_tokens, counted.output_tokens) if counted.input_tokens else None


def _tool_call(part: ToolCallPart, names: WireNames) -> ToolCall:
    call: ToolCall = {
        "id": part.tool_call_id,
        "name": names.back(part.tool_name),
        "arguments": {},
    }
    value: Any = part.args or {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    if isinstance(value, dict):
        call["arguments"] = value
    else:
        call["malformed"] = str(part.args)
    return call
