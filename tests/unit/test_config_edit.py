"""Adding to a list in a settings file changes nothing else in the file."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
import yaml

from donna_tui.config.document import Origin
from donna_tui.config.files import add_item
from donna_tui.config.yaml_text import with_item
from donna_tui.types.errors import ConfigError, DonnaError, Reason

HOME = {"name": "Home", "kind": "ics", "path": "/calendars/home: all.ics"}
ORIGIN = Origin("user", "memory.yaml")

FILES = {
    "empty": "",
    "other settings": "# mine\nretrieval:\n  default_k: 7   # more\n",
    "no newline at the end": "ui: {theme: nord}",
    "no value": "calendars:\nui:\n  theme: nord\n",
    "empty list": "calendars: []  # none yet\nui: {theme: nord}\n",
    "block list": "calendars:\n  - name: Work\n    kind: ics\n    path: /w.ics  # the firm's\n\n# look\nui:\n  theme: nord\n",
    "unindented list": "calendars:\n- {name: Work, kind: ics, path: /w.ics}\n# end\n",
    "flow list": "calendars: [{name: Work, kind: ics, path: /w.ics}]\nui: {theme: nord}\n",
    "flow list over lines": "calendars: [\n  {name: Work, kind: ics, path: /w.ics},\n]\n",
}


@pytest.mark.parametrize("text", FILES.values(), ids=FILES)
def test_an_item_is_added_and_every_line_stays(text: str) -> None:
    changed = with_item(text, "calendars", HOME, ORIGIN)
    before, after = yaml.safe_load(text) or {}, yaml.safe_load(changed)
    assert after.pop("calendars") == [*(before.pop("calendars", None) or []), HOME]
    assert after == before
    assert all("#" + line.split("#")[1] in changed for line in text.splitlines() if "#" in line)
    assert with_item(changed, "calendars", HOME, ORIGIN).count("/calendars/home") == 2


@pytest.mark.parametrize("text", ["calendars: home\n", "calendars: {a: b}\n", "calendars: [\n", "- a\n"])
def test_item_is_not_added_to_a_setting_that_is_not_a_list(text: str) -> None:
    with pytest.raises(ConfigError):
        with_item(text, "calendars", HOME, ORIGIN)


def test_the_file_is_made_private_and_left_alone_when_it_is_broken(tmp_path: Path) -> None:
    file = tmp_path / "config" / "memory.yaml"
    add_item(file, "calendars", HOME)
    assert file.stat().st_mode & 0o777 == 0o600
    assert yaml.safe_load(file.read_text()) == {"calendars": [HOME]}
    file.write_text("calendars: [")
    with pytest.raises(ConfigError):
        add_item(file, "calendars", HOME)
    assert file.read_text() == "calendars: ["
    assert [each.name for each in file.parent.iterdir()] == ["memory.yaml"]


def test_the_target_of_a_link_is_changed_and_the_link_stays(tmp_path: Path) -> None:
    target, file = tmp_path / "dotfiles" / "donna.yaml", tmp_path / "config" / "memory.yaml"
    target.parent.mkdir(mode=0o755)
    target.write_text("# mine\n")
    file.parent.mkdir()
    file.symlink_to(target)
    add_item(file, "calendars", HOME)
    assert file.is_symlink()
    assert yaml.safe_load(target.read_text()) == {"calendars": [HOME]}
    assert target.parent.stat().st_mode & 0o777 == 0o755


def test_a_full_disk_has_its_own_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DonnaError) as refusal:
        add_item(tmp_path / "memory.yaml", "calendars", HOME)
    assert refusal.value.reason is Reason.DISK_FULL
    assert list(tmp_path.iterdir()) == []
