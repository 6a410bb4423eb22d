"""What is wrong with a data set, what it can show, and how it is split in two."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from handoff_console.console.commands.datasets import Dataset, cases_by_id
from handoff_console.console.commands.flows import LoadedFlow
from handoff_console.console.commands.prompt_folders import version_folders
from handoff_console.console.commands.routed import OWN_PROMPTS, side
from handoff_console.console.viewmodels.text import count
from handoff_console.store.analysis.comparison.cases import Expect, RouteCase
from handoff_console.store.analysis.comparison.compare import leak_words, leaked_cases
from handoff_console.store.analysis.comparison.trials import Version
from handoff_console.store.analysis.paired import detectable_points

FEW_CASES = 10
"""An agent with fewer cases than this is hardly measured."""
SAID_OF_A_KIND = 20
"""So many texts that stand there twice are named, and so many ids."""
FLIPS = (0.1, 0.2)
"""Shares of cases that usually come out differently between two versions."""


@dataclass(frozen=True)
class Check:
    """What was found out about a data set."""

    dataset: Dataset
    classes: Mapping[str, int]
    """Cases by label, the most frequent first."""
    problems: tuple[str, ...]
    """What has to be mended, a sentence each."""
    notes: tuple[str, ...]
    """What is worth knowing, a sentence each."""


def check_dataset(
    dataset: Dataset, loaded: LoadedFlow | None, store_path: Path, prompts_folder: Path | None
) -> Check:
    """Look for duplicates, unknown agents and leaks, and say what this size can show.

    Args:
        dataset: What is checked.
        loaded: The flow it is for; None leaves out what needs one.
        store_path: Versions that were saved from a page stand beside it.
        prompts_folder: Where versions are looked for instead.

    Raises:
        FlowError: A version does not fit the flow.
    """
    problems = _duplicates(dataset.cases)
    notes: list[str] = []
    if loaded is not None:
        versions = _versions(loaded, store_path, prompts_folder)
        problems += _unknown_agents(dataset.cases, loaded)
        problems += _leaks(dataset.cases, versions)
        notes += _thin_classes(dataset.cases, loaded)
    notes.append(_what_it_can_show(len(dataset.cases)))
    classes = dict(Counter(case.label for case in dataset.cases).most_common())
    return Check(dataset, classes, tuple(problems), tuple(notes))


def _duplicates(cases: Sequence[RouteCase]) -> list[str]:
    by_text: dict[str, list[RouteCase]] = defaultdict(list)
    for case in cases:
        by_text[" ".join(case.text.lower().split())].append(case)
    said = [_same_text(same) for same in by_text.values() if len(same) > 1]
    found = _first_of(said, "text stands there more than once", "texts stand there more than once")
    shared = [_same_id(same) for same in cases_by_id(cases).values() if _texts(same)[1:]]
    return found + _first_of(shared, "id belongs to several texts", "ids belong to several texts")


def _same_text(same: Sequence[RouteCase]) -> str:
    ids = list(dict.fromkeys(case.case_id for case in same))
    times = "twice" if len(same) == 2 else f"{len(same):,} times"
    stands = f"stands there as {_ids(ids)}" if len(ids) > 1 else f"stands there {times}"
    differ = len({case.label for case in same}) > 1
    how = "with different labels" if differ else f"so it counts {times}"
    return f"The text {same[0].text[:60]!r} {stands}, {how}."


def _same_id(same: Sequence[RouteCase]) -> str:
    shown = [repr(text[:40]) for text in _texts(same)]
    return f"The id {same[0].case_id!r} belongs to {_ids(shown)}; give each its own."


def _texts(cases: Sequence[RouteCase]) -> list[str]:
    return list(dict.fromkeys(case.text for case in cases))


def _first_of(said: list[str], one: str, many: str) -> list[str]:
    """Return the first sentences of a kind, and how many more there are."""
    more = len(said) - SAID_OF_A_KIND
    return said if more <= 0 else [*said[:SAID_OF_A_KIND], f"{count(more, one, many)} besides."]


def _unknown_agents(cases: Sequence[RouteCase], loaded: LoadedFlow) -> list[str]:
    start = loaded.flow.agent(loaded.flow.start)
    known = {edge.target for edge in start.edges}
    unknown: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        for name in case.wanted:
            if name not in known:
                unknown[name].append(case.case_id)
    return [
        f"{name!r} is expected by {_ids(ids)}, and {start.name!r} may not hand off to it; it may "
        f"to: {', '.join(sorted(known))}."
        for name, ids in sorted(unknown.items())
    ]


def _ids(ids: Sequence[str]) -> str:
    shown = ", ".join(ids[:3])
    return shown if len(ids) <= 3 else f"{shown} and {len(ids) - 3:,} more"


def _versions(loaded: LoadedFlow, store_path: Path, prompts_folder: Path | None) -> list[Version]:
    if prompts_folder is not None:
        labels = sorted(path.name for path in prompts_folder.iterdir() if any(path.glob("*.md")))
    else:
        labels = list(version_folders(loaded, store_path))
    return [
        side(loaded, label, "offline:bm25", store_path, prompts_folder).version
        for label in (OWN_PROMPTS, *labels)
    ]


def _leaks(cases: Sequence[RouteCase], versions: Sequence[Version]) -> list[str]:
    found = []
    for version in versions:
        leaked = leaked_cases(version, [case.text for case in cases])
        if leaked:
            name = "the flow itself" if version.label == OWN_PROMPTS else f"version {version.label}"
            words = leak_words(len(leaked), len(cases), [name])
            which = "it is" if len(leaked) == 1 else "the first is"
            found.append(f"{words}; {which} {leaked[0][:60]!r}.")
    return found


def _thin_classes(cases: Sequence[RouteCase], loaded: LoadedFlow) -> list[str]:
    start = loaded.flow.agent(loaded.flow.start)
    counted = Counter(name for case in cases for name in case.wanted)
    notes = []
    for edge in start.edges:
        number = counted[edge.target]
        if not number:
            notes.append(f"No case is for {edge.target!r}, so nothing is found out about it.")
        elif number < FEW_CASES:
            notes.append(f"Only {count(number, 'case is', 'cases are')} for {edge.target!r}.")
    if not any(case.expect is Expect.ABSTAIN for case in cases):
        notes.append("No case is for nobody, so over-eager versions are not noticed.")
    return notes


def _what_it_can_show(cases: int) -> str:
    low, high = (detectable_points(cases, flips) or 0.0 for flips in FLIPS)
    return (
        f"With {count(cases, 'case')}, differences under about {low:.0f} to {high:.0f} points "
        "cannot be told from noise."
    )


def split_dataset(cases: Sequence[RouteCase], dev_percent: float, seed: int) -> list[RouteCase]:
    """Return the cases, marked `dev` or `test`: so many of each label are for dev.

    Paraphrases of one another stay together, and a case stays where it is when others come or go.

    Args:
        cases: What is split.
        dev_percent: The share of `dev`, in percent.
        seed: Equal seeds and cases, equal split.
    """
    by_label: dict[str, list[RouteCase]] = defaultdict(list)
    for case in cases:
        by_label[case.label].append(case)
    dev: set[str] = set()
    for own in by_label.values():
        units = sorted({_unit(case) for case in own}, key=lambda unit: _place(unit, seed))
        dev |= set(units[: round(len(units) * dev_percent / 100)])
    return [replace(case, split="dev" if _unit(case) in dev else "test") for case in cases]


def _unit(case: RouteCase) -> str:
    return f"group {case.group}" if case.group else f"case {case.case_id}"


def _place(unit: str, seed: int) -> bytes:
    return blake2b(f"{seed} {unit}".encode(), digest_size=8).digest()
