"""What tools and other agents say stays data: it is fenced, and read back from its fence.

Source: S3, mistakes 2 and 3.
"""

import json
import re
from typing import Any

from handoff_console.runtime.contract.messages import Message

_MARK = re.compile(r"<(?=/?data\b)", re.IGNORECASE)
_ESCAPED = re.compile(r"&lt;(?=/?data\b)", re.IGNORECASE)
_FENCED = re.compile(r"\A<data from=[^>]*>\n(.*)\n</data>\Z", re.DOTALL)


def fenced(source: str, text: str) -> str:
    """Return what a tool or an agent said as data; marks of the fence in it are escaped."""
    name = re.sub(r"[^\w.:@-]", "_", source)
    return f'<data from="{name}">\n{_MARK.sub("&lt;", text)}\n</data>'


def unfenced(text: str) -> str:
    """Return what was fenced; any other text as it is."""
    found = _FENCED.match(text)
    return _ESCAPED.sub("<", found[1]) if found else text


def tool_value(message: Message) -> Any:
    """Return what `tool_message` was made from: JSON where it is some, else the text."""
    text = unfenced(message["content"])
    try:
        return json.loads(text)
    except ValueError:
        return text
