"""Baseline: `SentenceTransformer.encode` with default settings on the texts of a JSON file.

`python -m bench.baseline FILE` prints the seconds that the encoding took, without loading the model.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from bench.report import stopwatch
from donna_tui.embedding.files import OFFLINE, find_weights


def main() -> None:
    os.environ |= OFFLINE
    texts: list[str] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(find_weights()))
    model.encode(texts[:2], show_progress_bar=False)
    with stopwatch() as seconds:
        model.encode(texts, show_progress_bar=False)
    print(seconds())


if __name__ == "__main__":
    main()
