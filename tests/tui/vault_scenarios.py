"""Vaults for the Vault screen: a week of work, and one in which every text is hostile."""

from __future__ import annotations

from dataclasses import replace

from donna_tui.tui.vault.plan_dialog import PlanScreen
from donna_tui.types.notes import NoteState
from donna_tui.vault.write.changes import Change, Operation, OperationKind, Plan, Revision
from tests.tui import hostile
from tests.tui.driving import Driver
from tests.tui.fake_vault import FakeVault
from tests.tui.sample_vault import NOTES, NOW

DECISIONS = "Projects/gateway/decisions.md"
RUNBOOK = "Projects/gateway/runbook.md"
SYNC = "Meetings/2026-11-18-gateway-sync.md"
GARDEN = "Ideas/Garden.md"
JOURNAL = "Journal/2026-11-19.md"
PRIYA = "People/Priya Raman.md"
DRAFT = "Meetings/2026-11-20-platform-review.md"
TEMPLATE = "Templates/Meeting.md"
DAY = 86_400.0

DRAFT_TEXT = """\
---
type: meeting
donna_draft: true
---
# Platform review

Priya, Tomas and Noor went through the numbers of the week.

## Decided

- The failover drill is every quarter from January on
- Rate limits go out behind a flag
"""
TEMPLATE_TEXT = "---\ntype: meeting\ndate: {{date}}\n---\n# {{title}}\n\nBegun at {{time}}.\n\n## Decided\n"


def week() -> FakeVault:
    """Return the changes since Monday: edits of a person, of Donna and of an agent, and one outside of git."""
    before = {
        **NOTES,
        DECISIONS: NOTES[DECISIONS].replace("800 ms, once", "500 ms, twice"),
        SYNC: NOTES[SYNC].replace("31 ms", "33 ms"),
        PRIYA: NOTES[PRIYA].replace("every quarter", "twice a year"),
    }
    vault = FakeVault.of({**before, TEMPLATE: TEMPLATE_TEXT}, at=NOW - 5 * DAY)
    _by_hand(vault, "The runbook of the gateway", {RUNBOOK: NOTES[RUNBOOK]})
    vault.at = NOW - 3 * DAY
    _written(vault, SYNC, NOTES[SYNC], actor="you")
    vault.at = NOW - 2 * DAY
    _written(vault, PRIYA, NOTES[PRIYA], actor="agent:claude")
    vault.at = NOW - DAY
    _written(vault, DRAFT, DRAFT_TEXT, actor="Donna")
    vault.at = NOW - 3 * 3600
    _written(vault, DECISIONS, NOTES[DECISIONS], actor="you")
    vault.files[GARDEN] = (
        NOTES[GARDEN].replace("Garlic in before the frost.", "Garlic is in since Sunday, forty cloves.").encode()
        + b"\nThe quince needs a stake.\n"
    )
    vault.states = {
        DRAFT: frozenset({NoteState.DRAFT}),
        JOURNAL: frozenset({NoteState.LOCAL_ONLY}),
        "Journal/Health.md": frozenset({NoteState.SENSITIVE, NoteState.LOCAL_ONLY}),
        "Meetings/2025-11-04-review.md": frozenset({NoteState.NOT_INDEXED}),
        RUNBOOK: frozenset({NoteState.PENDING}),
    }
    vault.files["Journal/Health.md"] = b"---\ndonna_sensitive: true\n---\n# Health\n\nAppointment on Tuesday.\n"
    vault.files["Meetings/2025-11-04-review.md"] = b'---\ntitle: "Review\n---\n# Review\n'
    for path in ("Journal/Health.md", "Meetings/2025-11-04-review.md"):
        vault.recorded[path] = vault.files[path]
    vault.details["Meetings/2025-11-04-review.md"] = "the block of properties cannot be read (line 2)"
    vault.refusals["Journal/Health.md"] = "this note is marked as sensitive, so Donna never writes to it"
    vault.at = NOW
    return vault


def nasty() -> FakeVault:
    """Return a vault in which every path, text, author and subject is hostile."""
    text = "\n\n".join(hostile.ALL.values())
    whole = f"# {hostile.EVERYTHING}\n\n{text}\n"
    notes = {path: whole if "surrogate" in path else whole.replace("\ud800", "") for path in hostile.paths() if path}
    vault = FakeVault.of(notes, at=NOW)
    first = next(iter(notes))
    for number, path in enumerate(notes):
        vault.details[path] = hostile.EVERYTHING
        vault.states[path] = frozenset(NoteState) if number % 2 else frozenset({NoteState.NOT_INDEXED})
    changed = f"{text}\n{hostile.EVERYTHING} and more\n".encode("utf-8", "surrogatepass")
    change = Change(path=first, before=notes[first].encode("utf-8", "surrogatepass"), after=changed)
    operation = Operation(
        id="1" * 20,
        kind=OperationKind.WRITE,
        actor=f"agent:{hostile.EVERYTHING}",
        subject=hostile.EVERYTHING,
        at=NOW - 60,
        commit="",
        changes=(),
    )
    vault.commit([change], author=hostile.EVERYTHING, subject=hostile.EVERYTHING)
    commit = vault.commit([change], author=hostile.EVERYTHING, subject=hostile.EVERYTHING, operation=operation)
    vault.undo_stack.append(replace(operation, commit=commit))
    vault.files[first] = changed
    vault.recorded[first] = change.before or b""
    return vault


COPY = "Projects/gateway/decisions.sync-conflict-20261118-101500-K3XQZ7A.md"


def synced(*, base: bool = True) -> FakeVault:
    """Return a note that was edited on two devices at once, with or without the common ancestor."""
    vault = week()
    old = NOTES[DECISIONS]
    vault.files[DECISIONS] = old.replace("800 ms, once", "900 ms, once").encode()
    vault.files[COPY] = f"{old}\n- The phone asks twice, \x1b[31mthen\x1b[0m gives up\u202e\n".encode()
    vault.recorded[COPY] = vault.files[COPY]
    vault.states[COPY] = frozenset({NoteState.CONFLICT})
    vault.details[COPY] = "it is a conflict copy left by a sync program"
    if base:
        vault.bases[DECISIONS] = old.encode()
    return vault


async def back(donna: Driver, *keys: str) -> None:
    """Press keys, if any, and wait until the dialogs are closed and the tree is reloaded."""
    if keys:
        await donna.press(*keys)
    await donna.until(lambda: donna.app.screen is donna.main, "the dialogs are closed")
    await donna.rest()


async def plan(donna: Driver, *keys: str) -> PlanScreen:
    """Press keys, if any, and wait until a plan is shown with its diff."""
    screen = await donna.window(PlanScreen, *keys)
    await donna.until(lambda: screen.view.diffs or not screen._proposal.plan.changes, "the diff is shown")
    await donna.rest()
    return screen


async def confirm(donna: Driver, *keys: str) -> None:
    """Press keys, if any, and apply the plan that is then shown."""
    await plan(donna, *keys)
    await back(donna, "enter")


async def to_copy(driver: Driver) -> None:
    """Show the Vault screen with the cursor on the conflict copy."""
    driver.main.show_pane("vault")
    await driver.until(lambda: driver.vault.note_tree.notes, "the tree is shown")
    driver.vault.note_tree.reveal(COPY)
    await driver.rest()


def _written(vault: FakeVault, path: str, text: str, *, actor: str) -> None:
    vault.actor = actor
    vault.at -= 60
    change = Change(path=path, before=vault.files.get(path), after=text.encode())
    vault.apply(Plan(kind=OperationKind.WRITE, subject=f"Write {path}", changes=(change,)))
    vault.actor = "you"


def _by_hand(vault: FakeVault, subject: str, texts: dict[str, str]) -> Revision:
    changes = [Change(path=path, before=None, after=text.encode()) for path, text in texts.items()]
    vault.commit(changes, author="Noor", subject=subject)
    return vault.revisions[0]
