"""Pure answers: events or frames in, answers out. Never touches SQLite."""
