"""Run `donna` as on a machine without a model: `python -m tests.cli.without_model VERB …`."""

from __future__ import annotations

from donna_tui.__main__ import main
from donna_tui.embedding import files

if __name__ == "__main__":
    files.find_weights = lambda: None
    main()
