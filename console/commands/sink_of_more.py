"""What a session that goes on adds to its record: nothing before there is something."""

from collections.abc import Callable

from handoff_console.runtime import Event
from handoff_console.runtime.events import ReplayDiverged, SessionResumed
from handoff_console.store.recordings import kept_digests
from handoff_console.store.writer import StoreSink


class SinkOfMore:
    """Takes what a session adds to its record, and nothing before there is something.

    That a process took it up is written with what it then did: an attempt that ends in a divergence
    leaves the record as it was.
    """

    def __init__(self, sink: StoreSink, session_id: str, begun: Callable[[], None] | None) -> None:
        self.digest_key, self._begun = sink.digest_key, begun
        self._sink, self._session_id = sink, session_id
        self._known = kept_digests(sink.db, session_id)
        self._held: Event | None = None

    def append(self, event: Event, /) -> None:
        """Take an event; that the session was taken up waits for what it then does."""
        if isinstance(event.payload, SessionResumed):
            self._held = event
            return
        if self._held:
            if isinstance(event.payload, ReplayDiverged):
                self._sink.discard(self._session_id)
                return
            self._sink.append(self._held)
            self._held = None
        self._sink.append(event)

    def keep(self, digest: str, body: bytes, session_id: str, /) -> None:
        """Take a body, once."""
        if digest not in self._known:
            self._sink.keep(digest, body, session_id)

    def commit(self, *, synced: bool = False) -> None:
        """Write what there is."""
        if self._held and synced:  # an act is about to be tried again
            self._sink.append(self._held)
            self._held = None
        if self._held is None:
            self._sink.commit(synced=synced)
            if self._begun:
                self._begun()
