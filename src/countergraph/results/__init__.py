"""What was found: a counterfactual, its words, what is proven about it."""
