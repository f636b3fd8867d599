"""One report of a whole study: a page, or the same numbers for machines."""
