"""Read calendars from files and servers, mirror them in `memory.db`, and poll them for meetings that are due."""
