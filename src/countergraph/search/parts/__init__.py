"""Steps that several searches are made of."""
