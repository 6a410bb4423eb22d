"""`handoff run` with a live model, as a user types it; the provider is a server on this machine."""

import re
from pathlib import Path

import pytest
from support.chat_server import ChatServer, Says

from handoff_console.runtime.models.provider.specs import OWN_SETTINGS, PROVIDER_SETTINGS

pytestmark = pytest.mark.acceptance
DOCUMENT = Path(__file__).parents[2] / "docs" / "models.md"


@pytest.fixture(autouse=True)
def no_provider_is_set(monkeypatch):
    for provider in ("OPENAI", "ANTHROPIC", "HANDOFF"):
        for part in ("BASE_URL", "API_KEY"):
            monkeypatch.delenv(f"{provider}_{part}", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def test_a_live_model_answers_from_the_command_line(handoff, monkeypatch):
    pytest.importorskip("pydantic_ai", reason="the extra `live` is not installed")
    with ChatServer(Says("You were charged once.", usage=(200, 20))) as server:
        monkeypatch.setenv("HANDOFF_BASE_URL", server.url)
        done = handoff("run", "support", "--model", "server:m?seed=7", "--message", "Twice?")

    assert (done.status, done.err) == (0, "")
    assert "You were charged once." in done.out
    assert "220 of 50,000 tokens used" in done.out
    assert server.bodies[0]["seed"] == 7


def test_a_live_model_without_a_key_is_one_sentence_and_makes_no_store(handoff, folder):
    done = handoff("run", "support", "--model", "openai:m", "--message", "Twice?")

    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "handoff: Flow 'support' cannot run: agent 'supervisor': The model 'openai:m' has no key: "
        "set OPENAI_API_KEY, or use a model that needs none, such as offline:bm25.\n"
    )
    assert list(folder.iterdir()) == []


def test_the_document_names_every_setting_and_every_variable():
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \|", text, flags=re.MULTILINE)

    named = [row for row in rows if row.islower()]
    assert sorted(named) == sorted([*OWN_SETTINGS, *PROVIDER_SETTINGS])
    assert sorted(row for row in rows if row.isupper()) == [
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        "HANDOFF_API_KEY",
        "HANDOFF_BASE_URL",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
    ]
