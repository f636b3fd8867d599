"""What counterfactuals mean. Everything here is a table; `countergraph.plots` draws it."""
