"""A coder and its subagents: one reads fifty files, one reviews, one alone may run anything.

What the explorer reads stays in its own context; the coder gets a list of places. The reviewer
answers in a fixed shape. The tool that runs code belongs to a subagent with two steps and no edges.
Source: S4, "How it works: subagents".
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from handoff_console.runtime import (
    Agent,
    Edge,
    Effect,
    Flow,
    Limits,
    ModelCall,
    ModelReply,
    Tool,
    answer,
    delegate,
    say,
    use,
)
from handoff_console.sample_runs.codebase import list_files, read_files, run_tests
from handoff_console.sample_runs.pace import by_rule
from handoff_console.sample_runs.rules import first_error, has_any, status_of, values_of, why
from handoff_console.sample_runs.sample_flow import SampleFlow

_FILES_AT_ONCE = 10


class Question(BaseModel):
    """What to look for in the code."""

    pattern: str


class Place(BaseModel):
    """A place in the code."""

    path: str
    line: str


class PlacesFound(BaseModel):
    """What the explorer returns: places, no files."""

    files_read: int
    places: list[Place]


class Patch(BaseModel):
    """A change that is proposed."""

    patch: str


class Review(BaseModel):
    """What the reviewer returns."""

    approved: bool
    remarks: list[str]


class TestRun(BaseModel):
    """What the runner returns."""

    ran: int
    failed: int


def coder(call: ModelCall) -> ModelReply | None:
    """Find the places, propose a patch, have it reviewed, have it tested, and report."""
    if not (has_any(call.text, ("round", "cents")) and has_any(call.text, ("fix", "wrong"))):
        return None
    found = call.result_of("delegate_to_explorer")
    if found is None:
        return delegate(
            "explorer",
            "Find every line that turns an amount into cents or rounds it",
            pattern=r"int\(.*\* 100\)|round\(",
        )
    if status_of(found) != "ok":
        return answer("error", f"I changed nothing: {why(found)}.")
    return _with_patch(call, found)


def _with_patch(call: ModelCall, found: Mapping[str, Any]) -> ModelReply:
    """Have a patch reviewed, once more after remarks, and then tested."""
    reviews = values_of(call, "delegate_to_reviewer")
    patch = _patch(found["data"]["places"], careful=len(reviews) > 1)
    if not reviews:
        return delegate("reviewer", "Review the patch", patch=patch)
    if not _is_approved(reviews[-1]):
        if len(reviews) > 1 or status_of(reviews[-1]) != "ok":
            return answer("error", f"No patch passed the review: {why(reviews[-1])}.")
        patch = _patch(found["data"]["places"], careful=True)
        return delegate("reviewer", "Review the changed patch", patch=patch)
    tests = call.result_of("delegate_to_runner")
    if tests is None:
        return delegate("runner", "Run the tests with the patch", patch=patch)
    return say(_report(found, reviews, tests, patch))


def _patch(places: Sequence[Mapping[str, str]], *, careful: bool) -> str:
    cutting = [place for place in places if "int(" in place["line"]]
    mended = "int(round(eur * 100))" if careful else "int(eur * 100 + 0.5)"
    return "\n".join(f"{place['path']}: {place['line']} -> return {mended}" for place in cutting)


def _is_approved(review: Mapping[str, Any]) -> bool:
    return status_of(review) == "ok" and bool(review["data"]["approved"])


def _report(
    found: Mapping[str, Any],
    reviews: Sequence[Mapping[str, Any]],
    tests: Mapping[str, Any],
    patch: str,
) -> str:
    remarks = [remark for review in reviews for remark in review["data"]["remarks"]]
    said = f" After the remark “{remarks[0]}” it was changed." if remarks else ""
    if status_of(tests) != "ok":
        return f"The patch is reviewed but was not tested: {why(tests)}.\n{patch}"
    outcome = tests["data"]
    return (
        f"{found['data']['files_read']} files read; {len(patch.splitlines())} places cut amounts "
        f"off.{said} {outcome['ran']} tests ran, {outcome['failed']} failed. Proposed, not "
        f"applied:\n{patch}"
    )


def explorer(call: ModelCall) -> ModelReply:
    """Read all files, ten at a time, and return the lines that match."""
    if error := first_error(call):
        return answer("error", error)
    paths = call.result_of("code.list")
    if paths is None:
        return use("code.list")
    read: dict[str, str] = {}
    for batch in values_of(call, "code.read"):
        read |= batch
    if len(read) < len(paths):
        return use("code.read", paths=paths[len(read) : len(read) + _FILES_AT_ONCE])
    pattern = re.compile(call.inputs["pattern"])
    places = [
        {"path": path, "line": line.strip()}
        for path, text in read.items()
        for line in text.splitlines()
        if pattern.search(line)
    ]
    return answer("ok", f"{len(places)} places", files_read=len(read), places=places)


def reviewer(call: ModelCall) -> ModelReply:
    """Look for what is often wrong with rounding."""
    remarks = []
    if "+ 0.5" in call.inputs["patch"]:
        remarks.append("adding 0.5 rounds negative amounts the wrong way")
    if not call.inputs["patch"]:
        remarks.append("the patch is empty")
    approved = not remarks
    return answer("ok", "approved" if approved else "sent back", approved=approved, remarks=remarks)


def runner(call: ModelCall) -> ModelReply:
    """Run the tests once."""
    if error := first_error(call):
        return answer("error", error)
    outcome = call.result_of("sandbox.run_tests")
    if outcome is None:
        return use("sandbox.run_tests", patch=call.inputs["patch"])
    return answer("ok", f"{outcome['failed']} failed", **outcome)


def _limits(steps: int, tokens: int) -> Limits:
    return Limits(max_steps=steps, max_tokens=tokens, deadline_seconds=60)


flow = Flow(
    "coding",
    description=(
        "A coder has fifty files searched, a patch reviewed and tested by three subagents; its own "
        "context grows by their short results, and only one of them may run anything."
    ),
    examples=("Some amounts are a cent too low, please fix the rounding.",),
    schemas={"PlacesFound": PlacesFound, "Review": Review, "TestRun": TestRun},
    agents=[
        Agent(
            "coder",
            "You fix faults in code. Have the code searched instead of reading it, have every "
            "patch reviewed, then tested. Propose the patch; a person applies it.",
            edges=[
                Edge.call(
                    "explorer",
                    "Searches the code and returns places.",
                    payload=Question,
                    limits=_limits(8, 30_000),
                ),
                Edge.call(
                    "reviewer",
                    "Reviews a patch it has not written.",
                    payload=Patch,
                    limits=_limits(2, 4_000),
                ),
                Edge.call(
                    "runner",
                    "Runs the tests in a sandbox.",
                    payload=Patch,
                    limits=_limits(2, 4_000),
                ),
            ],
            model=by_rule(coder),
        ),
        Agent(
            "explorer",
            "You search the code and return places, never whole files.",
            tools=[
                Tool(list_files, name="code.list", inline=True),
                Tool(read_files, name="code.read", inline=True),
            ],
            model=by_rule(explorer),
            output_schema="PlacesFound",
        ),
        Agent(
            "reviewer",
            "You review patches that others wrote: approve, or say what is wrong.",
            model=by_rule(reviewer),
            output_schema="Review",
        ),
        Agent(
            "runner",
            "You run the tests once and say how many failed.",
            tools=[Tool(run_tests, name="sandbox.run_tests", effect=Effect.WRITE, inline=True)],
            model=by_rule(runner),
            output_schema="TestRun",
            may_write=True,
        ),
    ],
)

sample = SampleFlow(flow, title="A coder and three subagents")
