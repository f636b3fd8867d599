"""From a black box, graphs and constraints to counterfactuals."""
