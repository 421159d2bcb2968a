"""`donna eval`: questions made from a vault, and a folder of questions, compared with grep."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.running import Donna
from tests.git_vaults import write


def test_eval_generates_questions_from_a_vault(donna: Donna, vault: Path) -> None:
    write(vault, "birds.md", "---\naliases: [feathered friends]\n---\n# Birds\n\n## Where they nest\n\nHigh up.\n")
    ran = donna("eval", vault, "--mode", "keyword", "--by-kind")
    assert ran.code == 0
    assert "nDCG@10" in ran.out
    assert any(line.split()[:2] == ["alias", "keyword"] for line in ran.out.splitlines())
    assert donna("status", "--json").json["reason"] == "no_vault", "an evaluated vault is not one of the user's own"


def test_eval_of_a_question_set_scores_every_search_mode(donna: Donna, vault: Path, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    vault.rename(folder / "vault")
    questions = [
        {"id": "1", "query": "osprey", "gold": [{"path": "private.md"}]},
        {"id": "2", "query": "zzzunheardof", "gold": [], "answerable": False},
    ]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, questions)))
    ran = donna("eval", folder, "--json")
    rows = {row["system"]: row for row in ran.json["rows"]}
    assert set(rows) == {"hybrid", "semantic", "keyword", "grep"}
    assert rows["keyword"]["scores"]["ndcg"] == rows["grep"]["scores"]["ndcg"] == 1.0
    assert rows["keyword"]["abstained"] == 1.0
    assert rows["keyword"]["count"] == 2


def test_a_bad_mode_or_question_is_refused(donna: Donna, vault: Path, tmp_path: Path) -> None:
    assert donna("eval", vault, "--mode", "magic").code == 2
    (tmp_path / "empty").mkdir()
    assert "no questions" in donna("eval", tmp_path / "empty").err
    write(vault, "queries.jsonl", "{}\n")
    ran = donna("eval", vault)
    assert ran.code == 2
    assert "line 1" in ran.err
