"""Results: data, sentences, tables, JSON and certificates."""
