"""Where the prompt versions of a flow are, and where a new one is saved."""

from collections.abc import Mapping
from pathlib import Path

from handoff_console.console.commands.flows import PROMPTS, LoadedFlow, adjusted, prompts_beside
from handoff_console.runtime import Flow
from handoff_console.runtime.errors import FlowError, choices


def own_folder(loaded: LoadedFlow, store_path: Path) -> Path:
    """Return where new versions of a flow are saved.

    A flow of the user's own has them beside its file. Those of a sample stand beside the store:
    what is installed is not written to.
    """
    if loaded.is_sample:
        return store_path.parent / PROMPTS / loaded.source
    return loaded.folder / PROMPTS


def version_folders(loaded: LoadedFlow, store_path: Path) -> Mapping[str, Path]:
    """Return the folder of every version of a flow, by label: those that came with it first.

    Of two with the same label the one that came with the flow counts.
    """
    found: dict[str, Path] = {}
    for folder in (prompts_beside(loaded), own_folder(loaded, store_path)):
        if folder.is_dir():
            for path in sorted(folder.iterdir()):
                if path.is_dir() and not path.name.startswith(".") and any(path.glob("*.md")):
                    found.setdefault(path.name, path)
    return found


def folder_with(label: str, loaded: LoadedFlow, store_path: Path) -> Path:
    """Return the folder in which a version of a flow stands, as `version_folders` finds it.

    Raises:
        FlowError: The flow has no version of this label; the text lists those it has.
    """
    found = version_folders(loaded, store_path)
    if label not in found:
        raise FlowError(
            loaded.flow.name,
            [f"there is no prompt version {label!r}; there are: {choices(found, 'none')}."],
        )
    return found[label].parent


def in_version(label: str, loaded: LoadedFlow, store_path: Path) -> Flow:
    """Return a flow with the prompts of one of its versions; an empty label leaves its own.

    Raises:
        FlowError: The flow has no version of this label, or the version does not fit it.
    """
    if not label:
        return loaded.flow
    folder = folder_with(label, loaded, store_path)
    return adjusted(loaded, prompts=label, prompts_folder=folder)
