import os

import pytest

from handoff_console.store import file_systems
from handoff_console.store.file_systems import file_system_of, network_file_system

MOUNTS = """\
22 28 0:20 / /proc rw,nosuid - proc proc rw
28 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
99 28 0:47 / /home/a\\040b rw,relatime shared:7 master:2 - nfs4 server:/home rw
broken
"""


@pytest.mark.parametrize(
    ("device", "name"), [((8, 1), "ext4"), ((0, 47), "nfs4"), ((0, 20), "proc"), ((9, 9), None)]
)
def test_a_device_is_looked_up_among_the_mounts(device, name):
    assert file_system_of(MOUNTS, os.makedev(*device)) == name


def test_a_network_file_system_is_named_and_a_local_one_is_not(tmp_path, monkeypatch):
    found = iter(["nfs4", "ext4", None])
    monkeypatch.setattr(file_systems, "_file_system", lambda device: next(found))

    assert [network_file_system(tmp_path) for _ in range(3)] == ["nfs4", None, None]


def test_a_system_that_does_not_say_is_taken_for_local(tmp_path, monkeypatch):
    monkeypatch.setattr(file_systems, "_MOUNTS", tmp_path / "nowhere")
    file_systems._file_system.cache_clear()

    assert network_file_system(tmp_path) is None
    file_systems._file_system.cache_clear()


def test_this_folder_is_on_this_machine(tmp_path):
    assert network_file_system(tmp_path) is None
