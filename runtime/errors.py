"""Every exception this package raises.

```
HandoffConsoleError
├── ArgumentUnknown      (also a TypeError) an argument that is spelt wrong
├── FlowError            a flow contradicts itself; raised before any model call
├── RequestError         a handoff request that cannot be sent
├── PricesError          a file of prices that cannot be read
├── BudgetError          the pool was asked for something it cannot do
├── ToolError            a tool could not do what was asked
│   ├── TransientToolError    it may be tried again
│   └── OutcomeUnknown        it cannot tell whether it did
├── EventError           a recorded event that cannot be read
├── ModelError           a model could not answer
│   ├── TransientModelError   it may be tried again
│   └── FunctionFailed        a function that stands for one has a mistake
├── ReplayDiverged       a re-run asks for something else than was recorded
└── SessionStopped       (also a RuntimeError) only with `on_stop="raise"`
    ├── TooManyHandoffs
    └── CycleStopped
```

A worker that fails is no exception: it is a `HandoffResult` with a status. Exceptions are for the
programmer, except `ToolError` and `TransientToolError`, which a tool raises to say in its own words
what went wrong; the model reads the sentence.
"""

from collections.abc import Collection, Sequence

from handoff_console.runtime.counting import count


class HandoffConsoleError(Exception):
    """The root of all errors of this package; its text is one sentence for the user."""


class FlowError(HandoffConsoleError):
    """A flow contradicts itself."""

    def __init__(self, flow: str, mistakes: Sequence[str]) -> None:
        self.flow, self.mistakes = flow, tuple(mistakes)
        others = "; ".join(mistake.removesuffix(".") for mistake in self.mistakes[1:])
        rest = f" ({len(self.mistakes) - 1} more: {others}.)" if others else ""
        super().__init__(f"Flow {flow!r} cannot run: {self.mistakes[0]}{rest}")


class ArgumentUnknown(HandoffConsoleError, TypeError):
    """Something was given an argument that it does not take."""

    def __init__(self, of: str, name: str, known: Collection[str], *, likely: str = "") -> None:
        self.of, self.name, self.known, self.likely = of, name, tuple(known), likely
        meant = f"did you mean {likely!r}? It" if likely else "it"
        super().__init__(
            f"{of} has no argument {name!r}; {meant} takes: {', '.join(self.known) or 'none'}."
        )


class RequestError(HandoffConsoleError):
    """A handoff request that is incomplete or says too much."""


class PricesError(HandoffConsoleError):
    """A file of prices cannot be opened or read."""


class BudgetError(HandoffConsoleError):
    """The pool cannot do what was asked; nothing changed."""


class EventError(HandoffConsoleError):
    """A recorded event does not have the form its kind requires."""


class ModelError(HandoffConsoleError):
    """A model could not answer; the handoff ends with status `error`.

    Args:
        text: What went wrong, in one sentence.
        billed: The model had begun to work, so its provider may ask to be paid for the input.
    """

    def __init__(self, text: str, *, billed: bool = False) -> None:
        self.billed = billed
        super().__init__(text)


class TransientModelError(ModelError):
    """A model could not answer this time; it, or the handoff, may be tried once more.

    Args:
        text: What went wrong, in one sentence.
        billed: As for `ModelError`.
        retry_after_seconds: How long the provider wants to be left alone; None when it did not say.
    """

    def __init__(
        self, text: str, *, billed: bool = False, retry_after_seconds: float | None = None
    ) -> None:
        self.retry_after_seconds = retry_after_seconds
        super().__init__(text, billed=billed)


class ToolError(HandoffConsoleError):
    """A tool could not do what was asked; the model reads why and may go on.

    From a tool that writes it says that nothing was done: the same act may be tried again.
    """


class TransientToolError(ToolError):
    """A tool could not do it this time; an error result that follows from it may be retried."""


OUTCOME_UNKNOWN = "nobody knows whether it did its work"
"""How the error of a tool ends that may have done what it was asked to."""


class OutcomeUnknown(ToolError):
    """A tool cannot tell whether it did what was asked; nothing tries that again by itself.

    So is every error of a tool that writes which is no `ToolError`: a time-out, say.
    """


class FunctionFailed(ModelError):
    """A function of the user's own, which stands for a model, raised or returned what it may not.

    Args:
        text: What went wrong, in one sentence.
        raised_at: Where in the user's files, as `desk.py, line 8`.
    """

    def __init__(self, text: str, raised_at: str) -> None:
        self.raised_at = raised_at
        super().__init__(text)


class ReplayDiverged(HandoffConsoleError):
    """A re-run asked for something else than was recorded at the same place."""

    def __init__(self, place: str) -> None:
        self.place = place
        super().__init__(
            f"The session cannot go on from its record: at {place} the flow now asks for something "
            "else than it did. Run it with the flow, prompts and tools it was recorded with."
        )


class SessionStopped(HandoffConsoleError, RuntimeError):
    """The runtime stopped a session (`on_stop="raise"` only; otherwise it is a result)."""


class TooManyHandoffs(SessionStopped):
    """A request would have made more transfers than the flow allows."""

    def __init__(self, source: str, target: str, max_handoffs: int) -> None:
        self.source, self.target, self.max_handoffs = source, target, max_handoffs
        super().__init__(
            f"too many handoffs: {source!r} asked for {target!r}, which would be transfer "
            f"{max_handoffs + 1} of at most {max_handoffs}. Raise `max_handoffs` of the flow "
            "if so many are intended."
        )


class CycleStopped(SessionStopped):
    """Two or more agents passed the task back and forth."""

    def __init__(self, transitions: Sequence[str], max_edge_repeats: int) -> None:
        self.transitions, self.max_edge_repeats = tuple(transitions), max_edge_repeats
        super().__init__(
            f"cycle stopped: {', '.join(self.transitions)}. A transfer may repeat "
            f"{count(max_edge_repeats, 'time')} in a turn; raise `max_edge_repeats` of the flow if "
            "the repeat is intended."
        )


MISTAKES = (Exception, SystemExit, BaseExceptionGroup)
"""What code of somebody else may raise that is its mistake; Ctrl-C and a cancellation are none."""

_LONGEST = 2_000
"""Characters of an error that are recorded and read by a model: some quote all they were given."""


def named(error: BaseException) -> str:
    """Return what an error is and says, however long it is, and even if it cannot say it."""
    kind = type(error).__name__
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - an error of somebody else may be broken itself
        return kind
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}… ({len(text)} characters)"
    return f"{kind}: {text}" if text else kind


def choices(names: Collection[str], nobody: str = "nobody") -> str:
    """Return names as the end of a sentence that lists what is allowed."""
    return ", ".join(sorted(names)) or nobody


def of_another_form(session_id: str, error: Exception) -> str:
    """Return the sentence for a record that is not what its events say: a file may hold anything.

    Args:
        session_id: Whose record it is.
        error: What came of reading it.
    """
    return (
        f"What session {session_id!r} said has another form than its events say "
        f"({type(error).__name__}), so it cannot be run; import it again from where it was "
        "recorded."
    )
