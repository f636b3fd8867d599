"""How a label is asked: any black box behind one batch question, with every question counted."""
