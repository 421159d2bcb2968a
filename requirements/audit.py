"""Look up every locked package in PyPI's advisory database: `make audit`, a part of `make check`.

Fail only for a package with a known vulnerability. Without pip-audit or a network, report that and succeed.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

LOCK = Path(__file__).with_name("dev.lock")
SECONDS = 120


def main(lock: Path = LOCK) -> int:
    """Print the findings. Return 1 if a package is vulnerable."""
    if importlib.util.find_spec("pip_audit") is None:
        return skipped("pip-audit is not installed")
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        options = ["--disable-pip", "--timeout", "15", "--progress-spinner", "off", "--format", "json"]
        command = [sys.executable, "-m", "pip_audit", "--requirement", str(lock), *options, "--output", str(report)]
        try:
            subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)  # noqa: S603
            return judge(json.loads(report.read_text(encoding="utf-8"))["dependencies"])
        except subprocess.TimeoutExpired:
            return skipped(f"the advisory database did not answer in {SECONDS} s")
        except (OSError, ValueError, KeyError, TypeError):
            return skipped("the advisory database cannot be reached")


def judge(packages: list[dict[str, Any]]) -> int:
    """Report the packages with a vulnerability, or that too few could be looked up."""
    known = [each for each in packages if "skip_reason" not in each]
    if not known:
        return skipped("the advisory database knows none of the packages here")
    found = [(each, one) for each in known for one in each.get("vulns", [])]
    for each, one in found:
        fixed = ", ".join(one.get("fix_versions", [])) or "no release yet"
        print(f"{each['name']} {each['version']}: {one['id']}, fixed in {fixed}")
    print(f"{len(known)} of {len(packages)} locked packages looked up, {len(found)} vulnerabilities")
    return 1 if found else 0


def skipped(why: str) -> int:
    """Report that nothing was examined, which is not a failure."""
    print(f"audit skipped: {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
