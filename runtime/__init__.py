"""Runs handoff sessions. Needs pydantic and the standard library only."""
