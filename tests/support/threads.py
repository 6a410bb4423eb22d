"""Work that the console does in threads of its own, waited for."""

import threading


def joined(name: str) -> None:
    """Wait until every thread has ended whose name begins so."""
    for thread in threading.enumerate():
        if thread.name.startswith(name):
            thread.join(timeout=60)
            assert not thread.is_alive(), f"{thread.name} goes on."
