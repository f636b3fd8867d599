"""Report of a study: one HTML page, or the same numbers as JSON or CSV."""
