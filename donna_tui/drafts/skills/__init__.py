"""What Donna drafts, a module for each kind."""
