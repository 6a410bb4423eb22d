"""A port for the console: the one asked for, or the next free one; or why there is none."""

import errno
import socket
import sys
from contextlib import suppress

from handoff_console.runtime.errors import HandoffConsoleError

DEFAULT_PORT = 8501
PORTS_TRIED = 100


class ServerError(HandoffConsoleError):
    """The console cannot be served as asked."""


class PortTaken(ServerError):
    """Something else listens on the port that was asked for."""

    def __init__(self, port: int) -> None:
        self.port = port
        super().__init__(
            f"Port {port} is taken by another program; any free port from 1 to 65535 will do. "
            "Choose another one, or leave the port out and the next free one is used."
        )


class PortForbidden(ServerError):
    """The system keeps the port that was asked for from this program."""

    def __init__(self, port: int) -> None:
        self.port = port
        super().__init__(
            f"The system does not let this program use port {port}; ports from 1024 to 65535 need "
            "no rights. Choose one of them, or leave the port out and the next free one is used."
        )


class AddressMissing(ServerError):
    """This machine does not have the address."""

    def __init__(self, address: str) -> None:
        self.address = address
        super().__init__(
            f"This machine has no address {address}, so nothing can listen there; the console's "
            "own is 127.0.0.1. Leave the address out."
        )


def free_port(address: str) -> int:
    """Return the first free port from `DEFAULT_PORT` on.

    Raises:
        AddressMissing: The machine does not have the address.
        PortTaken: None of the first `PORTS_TRIED` is free.
    """
    for port in range(DEFAULT_PORT, DEFAULT_PORT + PORTS_TRIED):
        with suppress(PortTaken, PortForbidden):
            return usable_port(address, port)
    raise PortTaken(DEFAULT_PORT)


def usable_port(address: str, port: int) -> int:
    """Return a port that can be listened on.

    Raises:
        AddressMissing: The machine does not have the address.
        PortForbidden: The system does not let this program have the port.
        PortTaken: Another program has it, or there is no such port.
    """
    try:
        _bind(address, port)
    except PermissionError as error:
        raise PortForbidden(port) from error
    except (OSError, OverflowError) as error:
        if getattr(error, "errno", None) in {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}:
            raise AddressMissing(address) from error
        raise PortTaken(port) from error
    return port


def _bind(address: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        if sys.platform != "win32":  # there the option would let two programs share a port
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((address, port))
