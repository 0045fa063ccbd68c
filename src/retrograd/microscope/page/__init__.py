"""A recording as one HTML page."""
