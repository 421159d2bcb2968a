"""Replaces the child process that reads calendars, and never answers. It writes its process id to the file in LANG."""

from __future__ import annotations

import os
import time
from pathlib import Path

if __name__ == "__main__":
    Path(os.environ["LANG"]).write_text(str(os.getpid()))
    time.sleep(600)
