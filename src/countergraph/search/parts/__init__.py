"""Steps that several searches share."""
