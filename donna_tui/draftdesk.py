"""Where screens and verbs list, preview, approve and reject drafts, and look at the calendar."""
