"""A user without patience: clicks, types and leaves at random, seldom waiting for a page.

The same seed makes the same choices. How far the page has come by then differs from run to run, so
a breach may take several runs to come again: what was done is told with it.
"""

import random
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, Page, TimeoutError
from support.consoles import Console, idle

SETTLES_MS = 60_000
WORDS = ("refund", "4812", "payments of September", "é 'quoted'", "20", "0", "-3", "null")
KEYS = (
    "ArrowRight ArrowLeft ArrowDown ArrowUp n p [ ] Escape Enter Tab Shift+Tab Home End PageDown "
    "Space 1 2 3"
).split()
KINDS = {
    "link": "a[href]",
    "button": "button:not([disabled]):not([role])",
    "choice": "[role=radio],[role=tab],[role=option]",
    "toggle": "[role=checkbox],[role=switch],summary,[type=checkbox]",
    "handoff": "[role=treeitem]",
    "event": "[data-seq]",
    "row": "tr[data-id]",
    "field": "input,textarea",
    "list": "[role=combobox]",
    "node": "g.node",
    "chart": ".js-plotly-plot .nsewdrag",
}
"""What can be clicked, by kind: each kind is as likely as another, however many there are of it."""

# Everything on the page, also what components draw. Streamlit's own menu is nobody's business here,
# and a download whose page is left at once is an error in Streamlit's log.
EVERYTHING = """
const everything = (selector, root = document) => [
    ...root.querySelectorAll(selector),
    ...[...root.querySelectorAll('[data-testid^=stBidiComponent]')]
        .flatMap((host) => host.shadowRoot ? [...host.shadowRoot.querySelectorAll(selector)] : []),
].filter((one) => !one.closest('[data-testid=stMainMenu], [data-testid=stToolbarActions]'));
"""
PICK = f"""([kinds, share, place]) => {{
    {EVERYTHING}
    const there = Object.entries(kinds).map(([kind, selector]) =>
        [kind, everything(selector).filter((one) => one.getClientRects().length)])
        .filter(([, ones]) => ones.length);
    if (!there.length) return null;
    const [kind, ones] = there[Math.floor(share * there.length)];
    const one = ones[Math.floor(place * ones.length)];
    one.scrollIntoView({{ block: 'nearest' }});
    const box = one.getBoundingClientRect();
    const name = one.getAttribute('aria-label') || one.textContent || one.id || one.tagName;
    return [kind, name.trim().slice(0, 60), box.x + box.width / 2, box.y + box.height / 2];
}}"""
# What is not as it should be, in words; empty where all is well.
BREACHES = f"""() => {{
    {EVERYTHING}
    const found = [];
    if (location.href === 'about:blank') return found;
    const query = new URLSearchParams(location.search);
    const said = document.body?.innerText ?? '';
    for (const word of ['Traceback', 'streamlit.errors', 'StreamlitAPIException'])
        if (said.includes(word)) found.push(`the page says ${{word}}`);
    if (document.querySelector('[data-testid=stException]')) found.push('an exception is shown');
    const app = document.querySelector('[data-testid=stApp]');
    if (app?.dataset.testScriptState !== 'notRunning') found.push('the page still works');
    if (document.querySelector('[data-testid=stSkeleton]')) found.push('a part is missing');
    const same = (what, there, named) => {{
        if (there !== named) found.push(`${{what}} is ${{there}}, and ${{named}} in the address`);
    }};
    const kept = (selector) => everything(selector)[0]?.__memory;
    const chosen = (words) => {{
        const one = everything('[role=radio][aria-checked=true]')
            .find((radio) => words.includes(radio.textContent.trim()));
        return one?.textContent.trim();
    }};
    const page = location.pathname.split('/').at(-1);
    if (page === 'session') {{
        const steps = kept('#stepper'), tree = kept('#outline'), line = kept('#cursor');
        if (query.get('session') && !steps && !said.includes('There is no session'))
            found.push('the session is not shown');
        if (steps) {{
            same('the session', steps.scope, query.get('session'));
            const seq = Number(query.get('seq')) || null;
            const last = steps.total;
            same('the event', steps.seq ?? null, seq && Math.min(seq, last));
            if (line) same('the line', line.seq ?? null, seq && Math.min(seq, last));
            const named = query.get('handoff');
            if (named) same('the handoff of the steps', steps.handoff, named);
            if (named && tree) same('the handoff of the tree', tree.selected, named);
            const chip = everything('#panel span.chip').map((one) => one.textContent);
            const big = everything('#panel span.big').map((one) => one.textContent);
            if (named && !chip.includes(named) && !big.includes(named))
                found.push(`the card is not that of ${{named}}`);
            const tab = chosen(['Request', 'Gate', 'Result', 'Context']);
            if (tab) same('the tab', tab, query.get('tab') ?? 'Request');
            same('the view', chosen(['Tree', 'Agents']), query.get('view') ?? 'Tree');
        }}
    }} else if (page === 'routing') {{
        const words = {{ happened: 'What happened', compare: 'Compare versions',
            drafts: 'Edit descriptions', labels: 'Label cases' }};
        const view = query.get('view') ?? (query.get('experiment') ? 'compare' : 'happened');
        same('the page of routing', chosen(Object.values(words)), words[view]);
    }} else if (page === 'rerun') {{
        const named = query.get('handoff'), shown = said.includes(`(${{named}})`)
            || everything('#panel').some((one) => one.textContent.includes(named));
        if (query.get('session') && named && !shown) found.push(`${{named}} is not shown`);
    }} else if (page === '') {{
        const search = document.querySelector('[data-testid=stTextInput] input');
        if (search && query.has('search')) same('the search', search.value, query.get('search'));
    }}
    // Names that mean nothing on a page came from another one.
    const strange = {{
        '': ['session', 'handoff', 'seq', 'tab', 'view', 'left', 'right', 'run', 'name', 'by'],
        session: ['left', 'right', 'pair', 'all', 'run', 'name', 'page', 'experiment', 'search'],
        flows: ['session', 'handoff', 'seq', 'tab', 'view', 'left', 'run', 'page', 'by'],
        live: ['session', 'handoff', 'seq', 'tab', 'view', 'left', 'page', 'by'],
        routing: ['session', 'handoff', 'seq', 'tab', 'left', 'run', 'name', 'reruns'],
        rerun: ['seq', 'tab', 'view', 'left', 'right', 'name', 'page', 'experiment'],
        side_by_side: ['seq', 'tab', 'view', 'session', 'run', 'name', 'page'],
    }}[page] ?? [];
    for (const name of strange)
        if (query.has(name)) found.push(`${{name}} is in the address of ${{page || 'the list'}}`);
    return found;
}}"""
# An exception that is shown and taken away again was seen.
WATCH = """new MutationObserver(() => {
    if (document.querySelector('[data-testid=stException]')) console.error('an exception shown: '
        + document.querySelector('[data-testid=stException]').innerText.slice(0, 3000));
}).observe(document, { childList: true, subtree: true });"""


class ImpatientUser:
    """Someone who does what comes to mind, in one window.

    Args:
        page: The window.
        console: The console that is open in it.
        seed: Decides on everything that is done.
    """

    def __init__(self, page: Page, console: Console, seed: int) -> None:
        self._page, self._console = page, console
        self._chance = random.Random(seed)
        self._sessions = _session_ids(console.store)
        self.done: list[str] = []
        """What was done, in order."""
        self._seen: list[str] = []
        page.add_init_script(WATCH)
        page.on("console", lambda said: self._note(said.text))
        page.on("pageerror", lambda error: self._seen.append(f"error in the page: {error}"))
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(console.url)

    def does_several_things(self) -> None:
        """Do a few things, often without waiting for what comes of them."""
        acts: Sequence[Callable[[], str]] = (
            *(self._click,) * 6,
            *(self._key,) * 2,
            self._type,
            self._history,
            self._goes_elsewhere,
            self._waits,
        )
        for _ in range(self._chance.randint(1, 6)):
            try:
                self.done.append(self._chance.choice(acts)())
            except Error as error:
                # The page went away in the middle of it: such is life without patience.
                if not re.search("context was destroyed|navigat|detached", str(error)):
                    raise
                self.done.append("(lost, as the page went away)")

    def breaches(self, within_ms: float = SETTLES_MS) -> list[str]:
        """Wait until the page has come to rest; return what is wrong with it then."""
        try:
            self._page.wait_for_function(f"() => !({BREACHES})().length", timeout=within_ms)
            wrong: list[str] = []
        except TimeoutError:
            wrong = self._page.evaluate(BREACHES)
        if self._page.url == "about:blank":  # back, and back again
            self._page.goto(self._console.url)
        wrong, self._seen = [*self._seen, *wrong], []
        return wrong

    def _note(self, said: str) -> None:
        if "an exception shown" in said or "Minified React error" in said:
            self._seen.append(said)

    def _click(self) -> str:
        found = self._pick(KINDS)
        if not found:
            return "nothing to click"
        kind, name, x, y = found
        self._page.mouse.click(x, y, click_count=self._chance.choice((1, 1, 1, 2)))
        return f"click {kind} {name!r}"

    def _pick(self, kinds: Mapping[str, str]) -> tuple[str, str, float, float] | None:
        shares = self._chance.random(), self._chance.random()
        found: tuple[str, str, float, float] | None = self._page.evaluate(PICK, [kinds, *shares])
        return found

    def _key(self) -> str:
        keys = self._chance.choices(KEYS, k=self._chance.randint(1, 4))
        for key in keys:
            self._page.keyboard.press(key)
        return f"keys {' '.join(keys)}"

    def _type(self) -> str:
        found = self._pick({"field": KINDS["field"]})
        if not found:
            return "no field"
        _, name, x, y = found
        self._page.mouse.click(x, y, click_count=self._chance.choice((1, 3)))
        word = self._chance.choice(WORDS)
        self._page.keyboard.type(word)
        if self._chance.random() < 0.4:
            self._page.keyboard.press(self._chance.choice(("Enter", "Tab")))
        return f"type {word!r} into {name!r}"

    def _history(self) -> str:
        where = self._chance.choice(("back", "back", "forward", "reload"))
        call = "location.reload()" if where == "reload" else f"history.{where}()"
        self._page.evaluate(call)
        return where

    def _goes_elsewhere(self) -> str:
        session = self._chance.choice(self._sessions)
        place = self._chance.choice((
            "",
            f"session?session={session}",
            f"session?session={session}&seq={self._chance.randint(1, 40)}",
            f"session?session={session}&handoff=h2&tab=Context",
            f"rerun?session={session}&handoff=h{self._chance.randint(1, 4)}",
            "live",
            "live?name=support",
            "routing",
            "routing?view=labels&by=me",
            "routing?view=drafts",
            "flows",
            "flows?name=bank",
            f"side_by_side?left={session}&right={self._chance.choice(self._sessions)}",
        ))  # fmt: skip
        self._page.evaluate("(url) => { location.href = url; }", self._console.url + place)
        return f"go to {place or 'the list'}"

    def _waits(self) -> str:
        idle(self._page)
        return "wait"


def throttle(page: Page, rate: float) -> None:
    """Make the browser slower by so much; 1 is as fast as it can."""
    client = page.context.new_cdp_session(page)
    client.send("Emulation.setCPUThrottlingRate", {"rate": rate})


def _session_ids(store: Path) -> list[str]:
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        return [row[0] for row in db.execute("select session_id from sessions order by 1")]


def recorded_events(store: Path) -> dict[int, list[tuple[Any, ...]]]:
    """Return what is recorded of each session, event by event."""
    found: dict[int, list[tuple[Any, ...]]] = {}
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as db:
        for row in db.execute("select session, * from events order by event"):
            found.setdefault(row[0], []).append(row)
    return found
