"""The store: finished searches are kept, and only what is missing is searched."""
