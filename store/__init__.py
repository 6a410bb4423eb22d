"""Keeps the events of sessions in one SQLite file and answers questions about them."""
