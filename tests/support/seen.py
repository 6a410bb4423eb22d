"""What a person would read on a screen that was run without a browser."""

import json
from collections.abc import Iterator
from typing import Any

from streamlit.testing.v1 import AppTest
from support.threads import joined


def component(screen: AppTest, key: str) -> dict[str, Any]:
    """Return what a component of the page was given; its key ends the element's id."""
    for element in screen.get("bidi_component"):
        if element.proto.id.endswith(f"-{key}"):
            return json.loads(element.proto.bytes)
    raise AssertionError(f"There is no component {key!r} on this page.")


def pressed(screen: AppTest, session_id: str, label: str) -> AppTest:
    """Press a button, and wait until the session that goes on by it has ended or waits."""
    next(one for one in screen.button if one.label == label).click()
    screen.run()
    joined(f"session-{session_id}")
    assert not screen.exception
    return screen


def text(screen: AppTest, key: str) -> str:
    """Return all text of a panel, in order."""
    return " ".join(" ".join(_texts(component(screen, key)["nodes"])).split())


def _texts(node: Any) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif node and isinstance(node[0], str) and len(node) > 1 and isinstance(node[1], dict):
        for child in node[2:]:
            yield from _texts(child)
    else:
        for child in node:
            yield from _texts(child)
