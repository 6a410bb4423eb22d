"""Sessions on their way into and out of a store: one module per format."""
