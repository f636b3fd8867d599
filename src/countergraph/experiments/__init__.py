"""The paper's tables and figures, and running their searches on one machine or many."""
