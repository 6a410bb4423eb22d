"""Labels of an experiment that point to another text by now."""

from dataclasses import replace
from pathlib import Path

from handoff_console.console.commands.flow_files import file_reference
from handoff_console.console.commands.flows import LoadedFlow
from handoff_console.console.commands.prompt_folders import version_folders
from handoff_console.console.commands.routed import OWN_MODEL, OWN_PROMPTS, side
from handoff_console.runtime.errors import HandoffConsoleError
from handoff_console.store.analysis.comparison.compare import LabelNow, changed_warning
from handoff_console.store.analysis.comparison.result import Comparison
from handoff_console.store.analysis.comparison.trials import Version


def with_changes_marked(found: Comparison, loaded: LoadedFlow, store_path: Path) -> Comparison:
    """Return a comparison whose versions, and warnings, say which label has another text now.

    A label that is gone, or cannot be read or does not fit the flow any more, counts as changed.

    Args:
        found: The comparison.
        loaded: Its flow as it is now.
        store_path: Versions that were saved from a page stand beside it.
    """
    labels = {it.label: _label_now(it, loaded, store_path) for it in (found.a, found.b)}
    a, b = (
        replace(version, changed_since=labels[version.label] is not None)
        for version in (found.a, found.b)
    )
    warnings = [
        changed_warning(version, now)
        for version in (a, b)
        if (now := labels[version.label]) is not None
    ]
    if not warnings:
        return found
    return replace(found, a=a, b=b, warnings=(*found.warnings, *warnings))


def _label_now(version: Version, loaded: LoadedFlow, store_path: Path) -> LabelNow | None:
    """Return what a version's label is by now; None where it says what it said."""
    try:
        current = side(loaded, version.label, OWN_MODEL, store_path, None).version
    except HandoffConsoleError:
        named = version.label.partition("+")[0]
        is_a_name = named != OWN_PROMPTS and file_reference(named) is None
        gone = is_a_name and named not in version_folders(loaded, store_path)
        return "gone" if gone else "broken"
    return None if current.version_hash == version.version_hash else "changed"
