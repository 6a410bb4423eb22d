"""A live model: one question to a provider, through `pydantic_ai.direct` and nothing above it."""

from handoff_console.runtime.errors import ModelError
from handoff_console.runtime.models.base import ModelCall, ModelReply
from handoff_console.runtime.models.provider.connections import connection
from handoff_console.runtime.models.provider.specs import Spec, endpoint, read_spec
from handoff_console.runtime.models.provider.wire_names import WireNames


class ProviderModel:
    """A model of OpenAI, of Anthropic, or of any server that speaks chat completions.

    The SDKs' own retries are off: tries are the runtime's, each recorded and charged.

    Args:
        spec: `openai:MODEL`, `anthropic:MODEL` or `server:MODEL`; settings may follow, as in
            `openai:gpt-4o-mini?temperature=0`. `docs/models.md` lists them, and the environment
            variables with addresses and keys.

    Raises:
        ModelError: The name cannot be read, a variable is not set, or the extra is not installed.
    """

    offline, reads_prompt = False, True

    def __init__(self, spec: str) -> None:
        self._spec = read_spec(spec)
        self._endpoint = endpoint(self._spec)
        self.name = self._spec.name
        self.terms = self._spec.terms
        _import_extra(self._spec)

    def __repr__(self) -> str:
        """Leave the key out."""
        return f"ProviderModel({self.name!r})"

    async def reply(self, call: ModelCall, /) -> ModelReply:
        """Ask once.

        Raises:
            TransientModelError: It may work the next time; says how long to wait, where known.
            ModelError: It will not.
        """
        from handoff_console.runtime.models.provider import refusals, wire

        spec = self._spec
        names = WireNames(tool["name"] for tool in call.tools)
        try:
            provider = await connection(
                (spec.provider, self._endpoint), lambda: wire.open_provider(spec, self._endpoint)
            )
            response = await wire.response(spec, provider, call, names)
            return wire.read_reply(response, names, streamed=spec.stream)
        except Exception as error:
            raise refusals.as_model_error(error, spec, self._endpoint) from error


def _import_extra(spec: Spec) -> None:
    # When a model is made, not when it is first asked: it takes a second, in which no session that
    # shares the loop could go on.
    try:
        from handoff_console.runtime.models.provider import wire

        wire.import_sdk(spec)
    except ImportError as missing:
        raise ModelError(
            f"The model {spec.name!r} needs the extra `live`, which is not installed: "
            "pip install 'handoff-console[live]'."
        ) from missing
