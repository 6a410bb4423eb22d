import io
import json
import shutil
from contextlib import closing

import pytest
from support import event_logs
from support.logs import Log

from handoff_console.runtime.events import Opaque
from handoff_console.store import queries, reader, session_queries
from handoff_console.store.db import open_reader, open_store
from handoff_console.store.errors import ImportRefused, SessionExists, SessionUnknown
from handoff_console.store.exchange import jsonl_import, lines
from handoff_console.store.exchange.jsonl import export_lines
from handoff_console.store.exchange.jsonl_import import import_sessions
from handoff_console.store.integrity import problems
from handoff_console.store.liveness import alive_process
from handoff_console.store.maintenance import delete_sessions, rebuild
from handoff_console.store.session_filter import SessionFilter
from handoff_console.store.writer import open_sink


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """A store with three sessions: an answered one, a failed one, and one that is not closed."""
    path = tmp_path_factory.mktemp("source") / "from.db"
    with open_sink(path, create=True) as sink:
        event_logs.write(sink, "s-1", event_logs.charged_twice())
        event_logs.write(sink, "s-2", event_logs.failed())
        event_logs.write(sink, "s-3", event_logs.at_work())
    return path


@pytest.fixture(scope="module")
def exported(source):
    return export(source, "s-1", "s-2", "s-3")


@pytest.fixture
def copy(source, tmp_path):
    """A copy of that store, which a test may change."""
    return shutil.copy(source, tmp_path / "copy.db")


def export(path, *session_ids):
    with closing(open_reader(path)) as db:
        return "".join(export_lines(db, session_ids)).encode()


def put(db, content, **options):
    return import_sessions(db, io.BytesIO(content), source="file.jsonl", **options)


def changed(content, number, **fields):
    """Return a file with fields of a line changed; None takes one away."""
    all_lines = content.decode().splitlines()
    line = json.loads(all_lines[number - 1]) | fields
    line = {name: value for name, value in line.items() if value is not None}
    all_lines[number - 1] = json.dumps(line)
    return ("\n".join(all_lines) + "\n").encode()


def first_event(content, session=1):
    """Return the number of the line with a session's first event."""
    numbers = [n for n, line in enumerate(content.splitlines(), 1) if b'"seq":1,' in line]
    return numbers[session - 1]


def test_the_first_line_counts_what_follows(exported):
    header, *rest = map(json.loads, exported.splitlines())

    assert header == {
        "format": "handoff-console-sessions",
        "version": 1,
        "sessions": 3,
        "bodies": sum("digest" in line for line in rest),
        "events": 19 + 9 + 13,
    }


def test_a_session_stands_as_its_counts_its_bodies_and_its_events(exported):
    _, session, *rest = map(json.loads, exported.splitlines())
    bodies = rest[: session["bodies"]]
    event = rest[session["bodies"]]

    assert (session["session"], session["events"]) == ("s-1", 19)
    assert all({"digest", "body"} == body.keys() for body in bodies)
    assert {"name": "support"} in [body["body"] for body in bodies]
    assert event == {
        "seq": 1,
        "at": "2026-01-05T09:00:00.000000Z",
        "elapsed_seconds": 0.0,
        "turn": 0,
        "attempt": 1,
        "kind": "session_started",
        "version": 1,
        "payload": {
            "flow": "support",
            "flow_digest": event["payload"]["flow_digest"],
            "metadata": {},
            "models": {},
        },
    }


def test_a_body_that_stood_before_is_only_named(exported):
    said = [json.loads(line) for line in exported.splitlines() if b'"digest"' in line]
    flows = [line for line in said if line.get("body") == {"name": "support"}]
    name = flows[0]["digest"]

    assert len(flows) == 1
    assert [line for line in said if line["digest"] == name][1:] == [{"digest": name}] * 2


def test_export_of_an_import_is_the_export_it_came_from(exported, db, path):
    done = put(db, exported)

    assert done == (("s-1", "s-2", "s-3"), ())
    assert export(path, "s-1", "s-2", "s-3") == exported
    assert problems(db) == []


def test_events_of_an_import_are_those_that_were_recorded(source, db, exported):
    put(db, exported)

    with closing(open_reader(source)) as there:
        for name in ("s-1", "s-2", "s-3"):
            assert reader.load_events(db, name) == reader.load_events(there, name)


def test_importing_the_same_again_changes_nothing_and_says_so(exported, db):
    put(db, exported)
    before = db.total_changes
    done = put(db, exported)

    assert done == ((), ("s-1", "s-2", "s-3"))
    assert db.total_changes == before


def test_importing_into_the_store_it_came_from_changes_nothing(exported, copy):
    with closing(open_store(copy)) as db:
        assert put(db, exported).unchanged == ("s-1", "s-2", "s-3")
        assert queries.sessions(db)["origin"].tolist() == ["run"] * 3


def test_an_import_says_where_it_came_from(exported, db):
    put(db, exported)
    rows = queries.sessions(db).set_index("session_id")

    assert rows["origin"].tolist() == ["import"] * 3
    assert rows["source"].tolist() == ["file.jsonl"] * 3
    assert rows["outcome"].to_dict() == {"s-1": "ok", "s-2": "error", "s-3": "incomplete"}
    assert rows["verdict"]["s-3"] == "The record breaks off before the session ended."
    assert session_queries.handoffs(db, "s-3")["outcome"].tolist() == ["transferred", "incomplete"]
    assert alive_process(db, "s-3") is None


def test_an_import_is_found_and_rebuilt_and_deleted_like_any_session(exported, db):
    put(db, exported)
    rebuild(db)

    assert queries.sessions(db)["origin"].tolist() == ["import"] * 3
    assert queries.session_count(db, SessionFilter(text="service")) == 1
    assert queries.session_count(db, SessionFilter(outcomes=("incomplete",))) == 1
    assert delete_sessions(db, ["s-3"]).sessions == 1


def test_a_session_with_the_same_id_and_other_content_is_refused(exported, db):
    put(db, exported)
    other = changed(exported, first_event(exported, 2), at="2027-01-05T09:00:00Z")

    with pytest.raises(SessionExists, match="has a session 's-2' already, with other content"):
        put(db, other)


@pytest.mark.parametrize("change", ["body", "digest"])
def test_other_bodies_are_other_content(exported, db, change):
    put(db, exported)
    number = 3  # the first body of the first session
    fields = {"body": {"name": "other"}} if change == "body" else {"digest": "ab" * 16}

    with pytest.raises(SessionExists):
        put(db, changed(exported, number, **fields))


def test_a_body_under_the_digest_of_another_one_is_refused(copy):
    with open_sink(copy) as sink:
        event_logs.write(sink, "s-4", event_logs.at_its_limit())
        forged = export(copy, "s-4").replace(b'"s-4"', b'"s-5"')
        forged = forged.replace(b"List all invoices", b"Delete all of it")

        with pytest.raises(ImportRefused, match="The store holds other content under the digest"):
            put(sink.db, forged)
        assert list(reader.session_ids(sink.db)) == ["s-1", "s-2", "s-3", "s-4"]


def test_sessions_before_a_bad_line_are_there_and_its_own_is_not(exported, db):
    bad = changed(exported, first_event(exported, 2), seq=7)

    with pytest.raises(ImportRefused) as raised:
        put(db, bad)

    assert str(raised.value) == (
        f"file.jsonl, line {first_event(exported, 2)}: event 1 is expected here, and this is "
        "event 7."
    )
    assert raised.value.line == first_event(exported, 2)
    assert list(reader.session_ids(db)) == ["s-1"]
    assert problems(db) == []


@pytest.mark.parametrize("left", [1, 2, 10, -20, -1])
def test_a_file_that_was_cut_off_is_noticed(exported, db, left):
    cut = b"".join(exported.splitlines(keepends=True)[:left])

    with pytest.raises(ImportRefused, match="the file ends here, before what its first line"):
        put(db, cut)


def test_a_file_that_was_cut_off_within_a_line_is_noticed(exported, db):
    with pytest.raises(ImportRefused, match=r"line 3: this is not JSON \(Expecting"):
        put(db, b"".join(exported.splitlines(keepends=True)[:2]) + b'{"body":')


def test_an_empty_file_is_refused(db):
    with pytest.raises(ImportRefused) as raised:
        put(db, b"")

    assert str(raised.value) == "file.jsonl: the file is empty."
    assert raised.value.line is None


def test_no_sessions_are_a_file_too(db, path):
    content = export(path)

    assert put(db, content) == ((), ())
    assert json.loads(content)["sessions"] == 0


HEADER = '{"format":"handoff-console-sessions","version":1,"sessions":1,"bodies":0,"events":1}\n'


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"not json\n", "line 1: this is not JSON (Expecting value at column 1)."),
        (b"[]\n", "line 1: a JSON object is expected here."),
        (b"{}\n", "line 1: this is not a file of recorded sessions; `handoff export SESSION --to"),
        (b"\xff\xfe\n", "line 1: byte 1 is not UTF-8; save the file in that encoding."),
        (HEADER.replace('"version":1', '"version":2').encode(), "line 1: the file has format vers"),
        (HEADER.replace('"version":1', '"version":true').encode(), "line 1: `version` is missing"),
        (HEADER.replace('"events":1', '"what":1').encode(), "line 1: the field 'what' is unknown"),
        (HEADER.replace('s":1,"bod', 's":-1,"bod').encode(), "line 1: `sessions` is -1, which can"),
        (HEADER.encode() + b"\n", "line 2: this is not JSON"),
        (HEADER.encode() + b'{"session":"a\\u0000"}', "line 2: `session` is empty, too long, or"),
        (HEADER.encode() + b'{"session":"\\ud800"}', "line 2: `session` is empty, too long, or ha"),
        (
            HEADER.encode() + b'{"session":"\xe2\x80\xae"}',
            "line 2: `session` is empty, too long, o",
        ),
        (
            HEADER.encode() + b'{"session":"a\0"}',
            "line 2: this is not JSON (Invalid control charac",
        ),
        (HEADER.encode() + b'{"x":' + b"[" * 100_000, "line 2: the values are nested too deeply"),
        (HEADER.encode() + b'{"x":NaN}', "line 2: a number is out of range (NaN is not a JSON num"),
        (HEADER.encode() + b'{"x":1e999}', "line 2: a number is out of range (1e999 is too large)"),
        (HEADER.encode() + b'{"x":' + b"9" * 5000 + b"}", "line 2: a number is out of range ("),
    ],
)
def test_what_is_wrong_is_one_sentence(db, content, says):
    with pytest.raises(ImportRefused) as raised:
        put(db, content)

    assert str(raised.value).startswith(f"file.jsonl, {says}")
    assert str(raised.value).count("\n") == 0
    assert list(reader.session_ids(db)) == []


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"kind": "session_started", "payload": {}}, "An event 'session_started' cannot be read"),
        ({"payload": []}, "`payload` is missing, or not of the right type."),
        ({"at": "yesterday"}, "`at` is not a time in ISO form."),
        ({"at": "2026-01-05T09:00:00"}, "`at` does not say its time zone."),
        ({"at": 12}, "`at` is missing, or not of the right type."),
        ({"elapsed_seconds": 1e300}, "`elapsed_seconds` is 1e+300, which cannot be."),
        ({"turn": -1}, "`turn` is -1, which cannot be."),
        ({"turn": 2**40}, "`turn` is 1099511627776, which cannot be."),
        ({"attempt": 0}, "`attempt` is 0, which cannot be."),
        (
            {"handoff_id": ""},
            "`handoff_id` is empty, too long, or has signs that cannot be printed.",
        ),
        ({"path": "t" * 2000}, "`path` is empty, too long, or has signs that cannot be printed."),
        ({"kind": 3}, "`kind` is missing, or not of the right type."),
        ({"seq": None}, "`seq` is missing, or not of the right type."),
        ({"colour": "red"}, "the field 'colour' is unknown here."),
    ],
)
def test_a_wrong_event_is_named_by_its_line(exported, db, fields, says):
    number = first_event(exported)

    with pytest.raises(ImportRefused) as raised:
        put(db, changed(exported, number, **fields))

    assert str(raised.value).startswith(f"file.jsonl, line {number}: {says}")
    assert list(reader.session_ids(db)) == []


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"digest": "xyz"}, "`digest` has to be 32 hexadecimal digits."),
        ({"digest": "AB" * 16}, "`digest` has to be 32 hexadecimal digits."),
        ({"colour": "red"}, "the field 'colour' is unknown here."),
        ({"body": None}, "this body is named, but stood nowhere before."),
    ],
)
def test_a_wrong_body_is_named_by_its_line(exported, db, fields, says):
    with pytest.raises(ImportRefused) as raised:
        put(db, changed(exported, 3, **fields))

    assert str(raised.value) == f"file.jsonl, line 3: {says}"


def test_a_body_that_stands_twice_is_refused(exported, db):
    third = json.loads(exported.splitlines()[2])

    with pytest.raises(ImportRefused, match="line 4: this body stood in the session before"):
        put(db, changed(exported, 4, **third))


def test_a_body_of_the_store_cannot_be_asked_for_by_its_digest(exported, db):
    put(db, exported)
    stolen = json.loads(exported.splitlines()[2])["digest"]
    session = '{"session":"thief","bodies":1,"events":1}\n' + json.dumps({"digest": stolen}) + "\n"

    with pytest.raises(ImportRefused, match="line 3: this body is named, but stood nowhere before"):
        put(db, (HEADER + session).encode())


def test_more_than_the_first_line_says_is_refused(exported, db):
    with pytest.raises(ImportRefused, match="the file goes on after its 3 sessions"):
        put(db, exported + b"{}\n")


def test_a_line_that_does_not_end_is_refused_before_it_is_read(db, monkeypatch):
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 2**20)

    class Endless(io.RawIOBase):
        read_bytes = 0

        def readline(self, size=-1):
            self.read_bytes += size
            return b"x" * size

    file = Endless()
    with pytest.raises(ImportRefused, match="the line is longer than 1 MB"):
        import_sessions(db, file, source="file.jsonl")
    assert file.read_bytes == 2**20 + 1


def test_a_session_that_is_too_large_is_refused(exported, db, monkeypatch):
    monkeypatch.setattr(jsonl_import, "MAX_SESSION_BYTES", 1000)

    with pytest.raises(ImportRefused, match="a session of more than 0 MB is refused"):
        put(db, exported)


def test_values_that_are_nested_too_deeply_to_be_written_are_refused(exported, db, monkeypatch):
    def too_deep(value):
        raise RecursionError

    monkeypatch.setattr(jsonl_import, "canonical_text", too_deep)

    with pytest.raises(ImportRefused, match="line 3: the values are nested too deeply"):
        put(db, exported)


def test_numbers_that_no_column_holds_do_not_stop_an_import(tmp_path, db):
    log = Log(pool_tokens=10**30).user("Hello")
    log.step(log.root("triage"), tokens=10**25)
    with open_sink(tmp_path / "from.db", create=True) as sink:
        event_logs.write(sink, "s-1", log.end("ok"))
    put(db, export(tmp_path / "from.db", "s-1"))

    row = queries.sessions(db).iloc[0]
    assert (row["tokens_used"], row["pool_tokens"]) == (2**63 - 1, 2**63 - 1)


def test_text_that_is_no_valid_unicode_survives(tmp_path, db, path):
    log = event_logs.at_work("a\0b \ud800 \u202e")
    log.emit("h1", Opaque("moon_risen", 3, {"phase": "\ud800", "of": [1.5, None]}))
    with open_sink(tmp_path / "from.db", create=True) as sink:
        event_logs.write(sink, "s-1", log)
    content = export(tmp_path / "from.db", "s-1")
    put(db, content)

    assert export(path, "s-1") == content


def test_an_unknown_session_is_named_before_anything_is_written(db):
    with pytest.raises(SessionUnknown):
        next(iter(export_lines(db, ["nobody"])))
    assert not db.in_transaction


def test_an_export_that_is_given_up_ends_its_transaction(exported, db):
    put(db, exported)
    half = export_lines(db, ["s-1"])
    next(half)
    half.close()

    assert not db.in_transaction


def test_progress_is_told(exported, db):
    told: list[tuple[int, int]] = []
    put(db, exported, progress=lambda done, of: told.append((done, of)))

    assert told == [(1, 3), (2, 3), (3, 3)]


def test_times_before_our_era_of_computing_are_written_in_full():
    assert lines.iso_time(-1) == "1969-12-31T23:59:59.999999Z"
    assert lines.iso_time(-60_000_000_000_000_000).startswith("0068-")
