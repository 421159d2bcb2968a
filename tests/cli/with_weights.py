"""Run `donna` as on a machine with a model's weights: `python -m tests.cli.with_weights VERB …`."""

from __future__ import annotations

from pathlib import Path

from donna_tui.__main__ import main
from donna_tui.embedding import files

if __name__ == "__main__":
    files.find_weights = lambda: Path("weights")
    main()
