"""Replaces the export: does what the file `behaviour` in its working directory says. Run as a module."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.unit.embedding_files import write_export


def main() -> None:
    behaviour = Path("behaviour").read_text(encoding="utf-8")
    with Path("runs").open("a", encoding="utf-8") as runs:
        runs.write("run\n")
    if behaviour == "succeed":
        write_export(Path(sys.argv[1]))
        print(json.dumps({"ok": True}))
    elif behaviour == "refuse":
        print(json.dumps({"ok": False, "reason": "disk_full", "message": "The disk is full."}))
    elif behaviour == "die":
        Path(".export-half").mkdir()
        os._exit(3)
    elif behaviour == "hang":
        Path(".export-half").mkdir()
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        Path("pids.new").write_text(f"{os.getpid()} {child.pid}", encoding="utf-8")
        Path("pids.new").rename("pids")
        time.sleep(600)
    elif behaviour == "tell":
        inherited = {"environ": dict(os.environ), "stdin": sys.stdin.read(), "path": sys.path, "session": os.getsid(0)}
        Path("told").write_text(json.dumps(inherited), encoding="utf-8")


if __name__ == "__main__":
    main()
