"""The store of finished searches, and searching only what is missing."""
