"""The tree on the page, stepped through every event of every recorded sample, in a real browser.

Without a server: the component gets what the session page would send it.
"""

from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page
from support.stepped import outcomes_at

from handoff_console.console import theme
from handoff_console.console.components import tree as component
from handoff_console.console.components.source import source
from handoff_console.console.components.wire import wire
from handoff_console.console.viewmodels.tree import tree_rows
from handoff_console.sample_runs.day import RECORDINGS
from handoff_console.sample_runs.shipped import unpack
from handoff_console.store import reader
from handoff_console.store.analysis.budget import ledgers
from handoff_console.store.analysis.findings import judgement
from handoff_console.store.db import open_reader

pytestmark = pytest.mark.browser

# Draws the tree, then gives for each event the words beside the handoffs that are not grey.
WALK = """async ([text, last]) => {
    const data = new TextEncoder().encode(text);
    const parentElement = document.body;
    window.mounted?.();
    window.mounted = window.component({ data, parentElement, setStateValue: () => {} });
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const shown = () => [...document.querySelectorAll('#rows > .row:not(.later)')].map((row) => [
        row.querySelector('.name b').textContent,
        row.querySelector('.status').lastChild.textContent,
    ]);
    const found = [];
    for (let seq = 1; seq <= last; seq += 1) {
        document.dispatchEvent(new CustomEvent('handoff-cursor', {
            detail: { scope: 's', seq, handoff: null, from: 'stepper' },
        }));
        found.push(shown());
    }
    return found;
}"""


@pytest.fixture(scope="module")
def tree(browser) -> Page:
    """A page with nothing but the tree's component on it."""
    page = browser.new_page()
    page.set_viewport_size({"width": 900, "height": 900})
    script = source("common.js", "tree.js").replace(
        "export default function", "component = function"
    )
    style = source("common.css", "tree.css")
    page.set_content(f"<style>{style}</style>{component._HTML}<script>{script}</script>")
    return page


@pytest.fixture(scope="module")
def samples(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("samples") / "samples.db"
    unpack(path)
    return path


@pytest.mark.parametrize("session_id", [recording.session_id for recording in RECORDINGS])
def test_every_state_shown_is_what_the_events_so_far_say(tree, samples, session_id):
    with closing(open_reader(samples)) as db:
        events = reader.load_events(db, session_id)
        judged = judgement(events, lambda digest: reader.body(db, digest))
    rows = tree_rows(judged.tree, ledgers=ledgers(events), findings=judged.findings)
    shown = component.outline(rows, judged.tree.seq)
    values = {
        "scope": "s",
        "revision": session_id,
        "selected": None,
        "seq": None,
        "last": shown.last_seq,
        "height": "20000px",
        "palette": theme.palette(),
        "open_depth": 99,
    }

    found = tree.evaluate(WALK, [wire(values, rows=shown.text).decode(), len(events)])

    for seq, there in enumerate(found, 1):
        then = outcomes_at(events, seq)
        expected = [[r.agent, then[r.handoff_id]] for r in rows if r.handoff_id in then]
        assert there == expected, f"event {seq}"
