"""A store as it was before sessions recorded their rules and the terms of their models."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

_TERMS = {"max_tries", "max_output_tokens", "backoff_seconds"}


def without_rules(store: Path) -> None:
    """Take out of a store what the first recordings did not say."""
    with closing(sqlite3.connect(store)) as db, db:
        for digest, content in db.execute("select digest, content from bodies").fetchall():
            earlier = _earlier(json.loads(content))
            text = json.dumps(earlier, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
            db.execute("update bodies set content = ? where digest = ?", (text, digest))


def _earlier(body: object) -> object:
    if not isinstance(body, dict):
        return body
    if "agents" in body:
        agents = [{k: v for k, v in one.items() if k != "ingress"} for one in body["agents"]]
        return {k: v for k, v in {**body, "agents": agents}.items() if k != "redaction"}
    return {k: v for k, v in body.items() if k not in _TERMS} if "stream" in body else body
