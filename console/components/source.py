"""Reading the scripts and style sheets that stand beside the components."""

from functools import cache
from importlib.resources import files


@cache
def source(*names: str) -> str:
    """Return the files of these names, one after the other, as one text.

    The pieces share `common.js` and `common.css`: a component cannot import another file.
    """
    folder = files("handoff_console.console.components")
    return "\n".join(folder.joinpath(name).read_text(encoding="utf-8") for name in names)
