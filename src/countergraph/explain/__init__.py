"""Explanations computed from counterfactuals, as tables. `countergraph.plots` draws them."""
