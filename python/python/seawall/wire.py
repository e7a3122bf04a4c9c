"""Header text to values and back: spans are in seconds, and what makes no sense is None."""

from ._seawall import (
    format_remaining,
    format_retry_after,
    format_retry_after_date,
    parse_remaining,
    parse_retry_after,
)

__all__ = [
    "format_remaining",
    "format_retry_after",
    "format_retry_after_date",
    "parse_remaining",
    "parse_retry_after",
]
