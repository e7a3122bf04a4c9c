"""What may not change unnoticed, taken from the built things: one module per kind, each with `take()`."""
