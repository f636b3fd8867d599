"""How a label is learnt: the black boxes of the paper, the linear rule, honest accuracy, model files."""
