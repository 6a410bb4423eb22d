"""Keeping the console's own folder behind what a user's flow imports.

Streamlit puts the folder of a page's script first on Python's path while the page runs. A flow that
then imports its neighbour `settings` would get the console's.
"""

import sys
from pathlib import Path


def keep_behind_others(folder: Path) -> None:
    """Put a folder at the end of Python's path; Streamlit then finds it there and leaves it so."""
    entry = str(folder.resolve())
    sys.path[:] = [*(it for it in sys.path if it != entry), entry]
