"""Sample flows, their prompts, and sessions recorded from them."""
