"""What a component is given, on its way to the page: JSON as bytes."""

import json
from collections.abc import Mapping


def wire(values: Mapping[str, object], **texts: str) -> bytes:
    """Return values, and fields that are JSON text already, as one JSON object.

    Bytes, because Streamlit looks into anything else for data frames, which loads pandas for the
    first page and goes through a large tree again at every run.
    """
    parts = [json.dumps(dict(values))[1:-1]] if values else []
    parts += [f"{json.dumps(name)}: {text}" for name, text in texts.items()]
    return f"{{{', '.join(parts)}}}".encode("ascii")
