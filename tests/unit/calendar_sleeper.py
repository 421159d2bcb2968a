"""Stands in for the child that reads calendars, and never answers. It tells its process id in the file LANG names."""

from __future__ import annotations

import os
import time
from pathlib import Path

if __name__ == "__main__":
    Path(os.environ["LANG"]).write_text(str(os.getpid()))
    time.sleep(600)
