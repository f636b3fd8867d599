"""The paper's tables and figures, the store of finished searches, and running them on one machine or many."""
