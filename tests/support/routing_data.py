"""Public data sets as cases and prompt versions, for the benchmarks: nothing of them is kept here.

Set HANDOFF_DATA to a folder that has `clinc150`, `multidogo`, `nlupp` and `sgd`.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from handoff_console.console.commands.datasets import dataset_text
from handoff_console.sample_runs.domains import DOMAINS
from handoff_console.store.analysis.comparison.cases import Expect, RouteCase

VARIABLE = "HANDOFF_DATA"


def rows(name: str, file: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file; the benchmark is skipped where there is none."""
    root = os.environ.get(VARIABLE)
    path = Path(root or "", name, file)
    if not root or not path.exists():
        pytest.skip(f"{VARIABLE} names no folder with {name}/{file}")
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def clinc(folder: Path, part: str = "test") -> Path:
    """Write a file of CLINC150 as cases of the flow `domains`, and return the new file."""
    cases = [
        RouteCase(f"c{place}", row["text"], expect=Expect.ABSTAIN)
        if row["intent"] in ("oos", "out_of_scope")
        else RouteCase(f"c{place}", row["text"], (row["domain"],))
        for place, row in enumerate(rows("clinc150", f"{part}.jsonl"))
    ]
    path = folder / f"clinc-{part}.jsonl"
    path.write_text(dataset_text(cases, flow="domains"), "utf-8")
    return path


def bare_flow(folder: Path) -> Path:
    """Write a flow of the ten domains that says nothing of them, and return its file."""
    path = folder / "bare.py"
    path.write_text(
        "from handoff_console.runtime import Agent, Edge, Flow, say\n"
        f"NAMES = {list(DOMAINS)!r}\n"
        "edges = [Edge.transfer(name) for name in NAMES]\n"
        "triage = Agent('triage', edges=edges, model='offline:bm25')\n"
        "others = [Agent(name, description=name, model=lambda call: say('done'))\n"
        "          for name in NAMES]\n"
        "flow = Flow('domains', [triage, *others])\n",
        "utf-8",
    )
    return path


def domain_versions(folder: Path) -> Path:
    """Write three versions of the ten domains' descriptions, and return the folder."""
    for version in ("v1", "v2", "v3"):
        (folder / version).mkdir(parents=True)
        for name, domain in DOMAINS.items():
            said = name.replace("_", " ") if version == "v1" else domain.description
            lines = [f"handoff_description: {said}"]
            if version == "v3":
                lines += ["examples:", *(f"  - {example}" for example in domain.examples)]
            head = "\n".join(lines)
            (folder / version / f"{name}.md").write_text(f"---\n{head}\n---\n", "utf-8")
    return folder
