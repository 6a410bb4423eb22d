"""Which process this is, so that a later one can tell whether it is still there."""

import os
import socket
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple


class ProcessIdentity(NamedTuple):
    """What a session records of the process that runs it."""

    host: str
    boot: str
    """Changes with every start of the machine; empty where the system does not say."""
    pid: int
    started: float
    """Seconds since 1970 when the process began; 0 where the system does not say."""


@lru_cache(maxsize=4)
def _identity(pid: int) -> ProcessIdentity:
    return ProcessIdentity(socket.gethostname(), boot_id(), pid, process_started(pid) or 0.0)


def this_process() -> ProcessIdentity:
    """Return the identity of this process (asked again after a fork)."""
    return _identity(os.getpid())


def boot_id() -> str:
    """Return what names this start of the machine; empty where the system does not say."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


def process_started(pid: int) -> float | None:
    """Return when a process began, in seconds since 1970; None when it is gone or not to be seen.

    On Linux from `/proc`; elsewhere only for processes that take a signal, and then 0.
    """
    if not sys.platform.startswith("linux"):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return None
        except OSError:
            return 0.0
        return 0.0
    try:
        stat = Path(f"/proc/{pid}/stat").read_text("ascii", errors="replace")
        ticks = float(stat.rpartition(")")[2].split()[19])
        lines = Path("/proc/stat").read_text("ascii").splitlines()
    except (OSError, IndexError, ValueError):
        return None
    began = next(
        (float(line.split()[1]) for line in lines if line.startswith("btime ")), time.time()
    )
    return round(began + ticks / os.sysconf("SC_CLK_TCK"), 2)
