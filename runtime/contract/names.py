"""Names and figures that are the same in every flow and in every record."""

USER = "user"
"""Who asks for the root handoff."""
RUNTIME = "runtime"
"""Who asks an aggregator to merge the answers of a fork."""
HUMAN = "human"
"""The target that stands for a person: the session waits for an answer."""
TEXT = "Text"
"""The schema that takes plain text as the answer."""
MIN_REPLY_TOKENS = 16
"""A model is not asked when less than this is left for its answer."""
