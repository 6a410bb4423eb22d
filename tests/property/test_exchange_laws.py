"""Laws of the store for every session: what goes in comes out, and nothing else gets in."""

import io
import itertools
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import event_logs
from support.logs import Log

from handoff_console.runtime.canonical import canonical, digest
from handoff_console.runtime.events import Opaque
from handoff_console.store import reader
from handoff_console.store.db import open_store
from handoff_console.store.errors import StoreError
from handoff_console.store.exchange.jsonl import export_lines
from handoff_console.store.exchange.jsonl_import import import_sessions
from handoff_console.store.integrity import problems
from handoff_console.store.writer import open_sink

numbers = itertools.count()
text = st.text(st.characters(exclude_categories=()), max_size=30)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False,
    allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
words = st.sampled_from(["triage", "billing", "parcels"])
micros = st.integers(0, 10**15)


@st.composite
def logs(draw) -> Log:
    """A session of any shape: open or closed, with what anybody may have said in it."""
    log = Log(flow=draw(json_values), pool_tokens=1_000_000)
    for _ in range(draw(st.integers(0, 2))):
        log.user(draw(text))
        at_work = [log.root(draw(words))]
        for _ in range(draw(st.integers(0, 5))):
            now = at_work[-1]
            match draw(st.integers(0, 6)):
                case 0:
                    at_work.append(log.transfer(now, draw(words), reason=draw(text)))
                case 1:
                    child = log.call(
                        now, draw(words), task=draw(text), inputs=draw(json_values), grant=10
                    )
                    log.close(child, draw(st.sampled_from(["ok", "error", "not_found"])))
                case 2:
                    log.step(now, tokens=draw(st.integers(0, 99)), says=draw(text))
                case 3:
                    log.tool(now, draw(text), draw(json_values), error=draw(text))
                case 4:
                    log.call(now, draw(text), refused="target", reason=draw(text))
                case 5:
                    log.reject_output(now, draw(text))
                case 6:
                    log.emit(
                        now,
                        Opaque("moon_risen", draw(st.integers(0, 9)), {"is": draw(json_values)}),
                    )
        if draw(st.booleans()):
            log.close(at_work[-1], "ok", notes=draw(text), values=draw(json_values))
    if draw(st.booleans()):
        log.end(draw(st.sampled_from(["ok", "error", None])), cancelled=draw(st.booleans()))
    times = sorted(draw(st.lists(micros, min_size=len(log.events), max_size=len(log.events))))
    log.events[:] = [
        event._replace(at=us / 1e6, elapsed_seconds=(us - times[0]) / 1e6)
        for event, us in zip(log.events, times, strict=True)
    ]
    return log


@pytest.fixture(scope="module")
def stores(tmp_path_factory) -> Iterator[tuple]:
    """A sink, and another store to import into."""
    folder = tmp_path_factory.mktemp("stores")
    with (
        open_sink(folder / "from.db", create=True) as sink,
        closing(open_store(folder / "to.db", create=True)) as other,
    ):
        yield sink, other


def put(db, content: str):
    return import_sessions(db, io.BytesIO(content.encode()), source="file.jsonl")


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(log=logs())
def test_a_session_survives_recording_export_and_import(stores, log):
    sink, other = stores
    name = f"s-{next(numbers):06}"
    recorded = event_logs.write(sink, name, log)
    content = "".join(export_lines(sink.db, [name]))

    assert reader.load_events(sink.db, name) == recorded
    assert put(other, content).new == (name,)
    assert reader.load_events(other, name) == recorded
    assert "".join(export_lines(other, [name])) == content
    assert put(other, content).unchanged == (name,)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(value=json_values)
def test_what_was_said_is_read_back_as_it_was(stores, value):
    sink, _ = stores
    name = digest(canonical(value), sink.digest_key)
    sink.keep(name, canonical(value), f"s-{next(numbers):06}")
    sink.commit()

    assert canonical(reader.body(sink.db, name)) == canonical(value)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_file_that_was_tampered_with_is_refused_or_whole(stores, data):
    sink, other = stores
    name = f"s-{next(numbers):06}"
    event_logs.write(sink, name, event_logs.charged_twice(name))
    content = bytearray("".join(export_lines(sink.db, [name])).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(content) - 1))
        with_what = data.draw(st.binary(max_size=3) | st.sampled_from([b'"', b"{", b"9", b"\n"]))
        content[at : at + data.draw(st.integers(0, 5))] = with_what

    with suppress(StoreError):
        import_sessions(other, io.BytesIO(content), source="file.jsonl")
    for there in reader.session_ids(other):
        assert len(reader.load_events(other, there)) == reader.last_seq(other, there)
    assert not other.in_transaction


def test_after_all_that_both_stores_are_whole(stores):
    sink, other = stores

    assert problems(sink.db) == []
    assert problems(other) == []
