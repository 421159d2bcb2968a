"""Draft skills, one module per kind of draft."""
