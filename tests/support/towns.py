"""A flow with every way to hand off, and a count of who was really asked."""

import asyncio
import random

from handoff_console.runtime import (
    Agent,
    Edge,
    Effect,
    EventList,
    Flow,
    Limits,
    ModelCall,
    ModelReply,
    Tool,
    answer,
    delegate,
    hand_over,
    say,
    together,
    use,
)


class Town:
    """A supervisor, parallel and nested workers, a transfer, a write; and who was really asked."""

    def __init__(self) -> None:
        self.asked = self.looked = 0
        self.written: list[int] = []

    def flow(self) -> Flow:
        def supervisor(call: ModelCall) -> ModelReply:
            self.asked += 1
            if not call.results:
                return together(
                    delegate("finder", "Find the one.", name="one"),
                    delegate("finder", "Find the other.", name="other"),
                    delegate("middle", "Ask further."),
                )
            return say(", ".join(sorted(r.value["status"] for r in call.results)))

        def finder(call: ModelCall) -> ModelReply:
            self.asked += 1
            if not call.results:
                return use("look", name=call.inputs["name"])
            # Never the same twice: a played answer must be the recorded one.
            return answer("ok", f"{random.randrange(10**6, 10**7)}")

        def middle(call: ModelCall) -> ModelReply:
            self.asked += 1
            if not call.results:
                return delegate("finder", "Find the third.", name="third")
            return hand_over("clerk", "it has to be noted")

        def clerk(call: ModelCall) -> ModelReply:
            self.asked += 1
            return answer("ok", "noted") if call.results else use("note", number=7)

        async def look(name: str) -> str:
            self.looked += 1
            await asyncio.sleep(0)
            return f"{name} is here"

        async def note(number: int) -> str:
            self.written.append(number)
            return f"noted {number}"

        return Flow(
            "town",
            [
                Agent(
                    "supervisor",
                    edges=[Edge.call("finder", "Finds."), Edge.call("middle", "Asks.")],
                    model=supervisor,
                ),
                Agent("finder", tools=[Tool(look)], model=finder),
                Agent(
                    "middle",
                    edges=[
                        Edge.call("finder", "Finds.", limits=Limits(max_tokens=4_000)),
                        Edge.transfer("clerk", "Notes."),
                    ],
                    model=middle,
                ),
                Agent(
                    "clerk", tools=[Tool(note, effect=Effect.WRITE)], may_write=True, model=clerk
                ),
            ],
            depth=2,
            pool_tokens=100_000,
        )


class Journal(EventList):
    """Remembers what was durable, and what had been done, at each commit."""

    def __init__(self, town: Town) -> None:
        super().__init__()
        self._town = town
        self.cuts: list[tuple[int, tuple[int, ...]]] = []

    def commit(self, *, synced: bool = False) -> None:
        super().commit(synced=synced)
        self.cuts.append((self.committed, tuple(self._town.written)))
