"""Rows of the table of events: selected, and read as the events they are."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from handoff_console.runtime.errors import EventError
from handoff_console.runtime.events import Event
from handoff_console.store.errors import StoreDamaged
from handoff_console.store.payloads import read_payload

Rows = Iterable[tuple[Any, ...]]
Requests = Mapping[int | None, str | None]
"""Ids of requests, by the number that stands for each in a row."""

_EVENTS = """
    select e.seq, e.at_us, e.elapsed_us, e.turn, e.request, e.handoff_id, e.parent_id, e.path,
           e.attempt, k.name, e.version, e.payload
    from events e
    join kinds k on k.kind = e.kind
    where e.event > (:session << 32) + :after and e.event <= (:session << 32) + :until
"""


def statement(*, handoff_id: str | None, kinds: Collection[str] | None, last: int | None) -> str:
    """Return the statement that selects events of `:session` by what is asked for."""
    sql = _EVENTS
    if handoff_id is not None:
        sql += " and e.handoff_id = :handoff"
    if kinds is not None:
        sql += (
            " and (k.name in (select value from json_each(:kinds))"
            " or substr(e.path, 1, length(:below)) = :below)"
        )
    sql += " order by e.event"
    return sql if last is None else f"select * from ({sql} desc limit :last) order by seq"


def read_events(session_id: str, requests: Requests, rows: Callable[[], Rows]) -> list[Event]:
    """Return rows as events, each checked against what its kind requires.

    Args:
        session_id: Whose rows they are.
        requests: The session's.
        rows: Gives the rows as the statement returns them; asked again when one cannot be read.

    Raises:
        StoreDamaged: A row cannot be read; the text names the event.
    """
    try:
        return [
            Event(
                session_id,
                seq,
                at_us / 1e6,
                elapsed_us / 1e6,
                turn,
                requests[request],
                handoff,
                parent,
                path,
                attempt,
                read_payload(kind, version, payload),
            )
            for (
                seq, at_us, elapsed_us, turn, request, handoff, parent, path, attempt, kind,
                version, payload,
            ) in rows()
        ]  # fmt: skip
    except (EventError, KeyError) as error:
        raise _damage(session_id, requests, rows()) from error


def _damage(session_id: str, requests: Requests, rows: Rows) -> StoreDamaged:
    """Return the error that names the first of these events that cannot be read."""
    for seq, _, _, _, request, *_, kind, version, payload in rows:
        where = f"Event {seq} of session {session_id!r}"
        if request not in requests:
            return StoreDamaged(
                f"{where} belongs to request {request}, which the session does not have; `handoff "
                "doctor` shows what else is damaged."
            )
        try:
            read_payload(kind, version, payload)
        except EventError as error:
            return StoreDamaged(
                f"{where} cannot be read ({error}); `handoff doctor` shows what else is damaged."
            )
    raise AssertionError("Every event could be read.")
