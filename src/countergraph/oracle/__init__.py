"""How a label is asked: any black box behind one batch question, with every question counted."""

from countergraph.oracle.answers import Label, Labels, Scored
from countergraph.oracle.oracle import Oracle

__all__ = ["Label", "Labels", "Oracle", "Scored"]
