"""How a question becomes an answer: what may be changed, whom to ask, what to search for, what can be proven."""
