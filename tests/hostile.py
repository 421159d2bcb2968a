"""A vault of hostile and odd notes, made by a generator beside the repository."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

GENERATOR = Path(__file__).resolve().parents[2] / "shared" / "hostile" / "make_nasty.py"


def make_hostile_vault(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Create a hostile vault inside `folder`. Return its root and the manifest of the expected results.

    Skip the test if the generator is missing.
    """
    if not GENERATOR.is_file():
        pytest.skip(f"the generator of the hostile vault is not at {GENERATOR}")
    command = [sys.executable, str(GENERATOR), str(folder), "--specials"]
    subprocess.run(command, check=True, capture_output=True)
    return folder / "vault", json.loads((folder / "manifest.json").read_text())
