"""One module per kind of draft."""
