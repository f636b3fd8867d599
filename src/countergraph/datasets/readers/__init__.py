"""One file per format. To add a format, write a `Reader` and add it to `READERS` in `registry`."""
