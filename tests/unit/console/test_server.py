"""The console answers this machine only, on a port it can have."""

import asyncio
import errno
import os
import queue
import socket
import tomllib
from pathlib import Path

import pytest

from handoff_console.console import ports, server
from handoff_console.console.settings import SETTINGS

CHECKOUT = Path(__file__).parents[3] / ".streamlit" / "config.toml"


def flat(settings, prefix=""):
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def listening(address="127.0.0.1"):
    taken = socket.socket()
    taken.bind((address, 0))
    taken.listen()
    return taken


def test_the_installed_command_says_what_the_checkouts_settings_say():
    assert dict(flat(tomllib.loads(CHECKOUT.read_text(encoding="utf-8")))) == SETTINGS


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "192.168.1.7", "example.com", ""])
def test_an_address_beyond_this_machine_is_refused_in_one_sentence(address):
    with pytest.raises(server.AddressRefused) as refusal:
        server.settings_for(address, None)

    assert str(refusal.value) == (
        f"The console does not listen on {address!r}, because it has no login yet; it listens on "
        "127.0.0.1, localhost or ::1. Leave the address out, or reach this machine through an SSH "
        "tunnel."
    )


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost"])
def test_an_address_of_this_machine_is_the_only_one_listened_on(address):
    settings = server.settings_for(address, None)

    assert settings["server.address"] == address
    assert set(settings["server.allowedHosts"]) == {"127.0.0.1", "localhost"}


def test_a_port_that_was_asked_for_and_is_taken_is_named():
    with listening() as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ports.PortTaken, match=f"Port {port} is taken by another program"):
            server.settings_for("127.0.0.1", port)


def test_without_a_port_the_next_free_one_is_used(monkeypatch):
    with listening() as taken:
        port = taken.getsockname()[1]
        monkeypatch.setattr(ports, "DEFAULT_PORT", port)

        assert port < server.settings_for("127.0.0.1", None)["server.port"] < port + 100


@pytest.mark.parametrize("port", [-1, 65_536])
def test_a_port_that_does_not_exist_is_refused(port):
    with pytest.raises(ports.PortTaken):
        server.settings_for("127.0.0.1", port)


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        (
            PermissionError(errno.EACCES, "Permission denied"),
            "The system does not let this program use port 80; ports from 1024 to 65535 need no "
            "rights. Choose one of them, or leave the port out and the next free one is used.",
        ),
        (
            OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address"),
            "This machine has no address ::1, so nothing can listen there; the console's own is "
            "127.0.0.1. Leave the address out.",
        ),
    ],
)
def test_a_port_that_cannot_be_had_is_not_said_to_be_taken(monkeypatch, problem, says):
    def bind(address, port):
        raise problem

    monkeypatch.setattr(ports, "_bind", bind)

    with pytest.raises(ports.ServerError) as refusal:
        server.settings_for("::1", 80)

    assert str(refusal.value) == says


def test_the_next_free_port_is_looked_for_past_those_that_this_program_may_not_have(monkeypatch):
    def bind(address, port):
        if port < 8503:
            raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(ports, "_bind", bind)

    assert ports.free_port("127.0.0.1") == 8503


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("127.0.0.1:8501", True),
        ("localhost", True),
        ("[::1]:8501", True),
        ("evil.example:8501", False),
        ("127.0.0.1.evil.example", False),
        ("127.0.0.1@evil.example", False),
        ("", False),
        ("[::1", False),
    ],
)
def test_only_the_names_of_this_machine_are_its_own(host, own):
    assert server.is_own_host(host) is own


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([(b"host", b"localhost:1")], 200),
        ([(b"host", b"evil.example")], 403),
        ([], 403),
        ([(b"host", b"localhost"), (b"host", b"evil.example")], 403),
    ],
)
def test_a_request_to_another_name_is_answered_by_nobody_behind_the_guard(headers, status):
    sent = []

    async def behind(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "headers": headers}
    asyncio.run(server.OwnHostOnly(behind)(scope, None, send))

    assert sent[0]["status"] == status


@pytest.mark.parametrize(
    ("address", "session", "url"),
    [
        ("127.0.0.1", None, "http://127.0.0.1:8501/"),
        ("::1", None, "http://[::1]:8501/"),
        ("localhost", "a&b c", "http://localhost:8501/session?session=a%26b+c"),
    ],
)
def test_the_page_opens_at_the_session_that_was_named(address, session, url):
    assert server.page_url(address, 8501, session) == url


def test_the_page_opens_at_the_comparison_that_was_just_made():
    url = server.page_url("127.0.0.1", 8501, experiment_id="20261130-01")
    assert url == "http://127.0.0.1:8501/routing?experiment=20261130-01"


def test_the_page_is_announced_and_opened_once_somebody_can_connect(monkeypatch):
    opened, announced = queue.Queue(), queue.Queue()
    monkeypatch.setattr(server.webbrowser, "open", opened.put)
    monkeypatch.setattr(server, "_load_what_pages_need", lambda page: None)
    with listening() as taken:
        page = server.page_url("127.0.0.1", taken.getsockname()[1])

        server._tell_when_ready(page, announced.put, open_browser=True)

        assert announced.get(timeout=10) == page
        assert opened.get(timeout=10) == page


def test_without_a_browser_the_page_is_only_announced(monkeypatch):
    opened, announced = queue.Queue(), queue.Queue()
    monkeypatch.setattr(server.webbrowser, "open", opened.put)
    monkeypatch.setattr(server, "_load_what_pages_need", opened.put)
    with listening() as taken:
        page = server.page_url("127.0.0.1", taken.getsockname()[1])

        server._tell_when_ready(page, announced.put, open_browser=False)

        assert announced.get(timeout=10) == page
        assert opened.get(timeout=10) == page


def test_serving_hands_over_the_store_and_the_settings(monkeypatch, tmp_path):
    served = []

    class Application:
        def run(self, config):
            served.append(config)
            raise KeyboardInterrupt

    monkeypatch.setattr(server, "application", Application)
    monkeypatch.setattr(server, "_tell_when_ready", lambda *_: None)
    monkeypatch.setenv("HANDOFF_DB", "")

    server.serve(tmp_path / "a.db")

    assert os.environ["HANDOFF_DB"] == str(tmp_path / "a.db")
    assert served[0]["server.address"] == "127.0.0.1"
    assert served[0]["browser.gatherUsageStats"] is False


def test_the_application_answers_health_and_guards_its_name():
    console = server.application()

    assert console.script_path.name == "app.py"
    assert [route.path for route in console._user_routes] == ["/health"]
    assert console._user_middleware[0].cls is server.OwnHostOnly


def test_only_errors_with_a_sentence_of_their_own_replace_a_page():
    assert server._say_known_errors(ValueError("a bug")) is False
