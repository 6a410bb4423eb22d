"""On which kind of file system a path lies, as far as the system tells (Linux only)."""

import os
from functools import lru_cache
from pathlib import Path

NETWORK_FILE_SYSTEMS = frozenset(
    "9p afs beegfs ceph cifs coda davfs fuse.glusterfs fuse.s3fs fuse.sshfs gfs2 glusterfs lustre "
    "ncpfs nfs nfs4 ocfs2 smb3 smbfs".split()
)
"""Where locks and shared memory do not work between machines as SQLite's log needs them."""

_MOUNTS = Path("/proc/self/mountinfo")


def network_file_system(path: Path) -> str | None:
    """Return the network file system that `path` (which exists) lies on; None when it is local.

    None as well where the system does not say.
    """
    name = _file_system(os.stat(path).st_dev)
    return name if name in NETWORK_FILE_SYSTEMS else None


@lru_cache(maxsize=64)
def _file_system(device: int) -> str | None:
    try:
        mounts = _MOUNTS.read_text(errors="replace")
    except OSError:
        return None
    return file_system_of(mounts, device)


def file_system_of(mounts: str, device: int) -> str | None:
    """Return the kind of file system of a device number, from the text of `mountinfo`."""
    wanted = f"{os.major(device)}:{os.minor(device)}"
    for line in mounts.splitlines():
        before, separator, after = line.partition(" - ")
        fields = before.split()
        if separator and len(fields) > 2 and fields[2] == wanted:
            return after.split()[0]
    return None
