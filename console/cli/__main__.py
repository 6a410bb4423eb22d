"""`python -m handoff_console.console.cli`, for where the command is not on the path."""

import sys

from handoff_console.console.cli import main

if __name__ == "__main__":
    sys.exit(main())
