"""Calendars: files and servers are read, mirrored in `memory.db`, and looked at for meetings that have ended."""
