"""Figures of explanations. All numbers come from `countergraph.explain`; this package only draws them."""
