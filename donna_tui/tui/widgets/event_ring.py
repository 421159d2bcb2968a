"""The last things that happened, and those of them that a filter lets through; no drawing here."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from dataclasses import replace

from donna_tui.records import dataclass
from donna_tui.tui.sentences import Kind, Sentence

KEPT_ROWS = 2_000
_TYPING_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class LogRow:
    """One row of the log. `number` grows by one a row; `times` counts searches that followed each other closely."""

    number: int
    at: float
    sentence: Sentence
    times: int = 1


class EventRing:
    """Holds at most `kept` rows; adding one and dropping the oldest take the same short time however many there are.

    `shown` are the rows that pass the filter. While paused, new rows are kept but not shown.
    """

    def __init__(self, kept: int = KEPT_ROWS) -> None:
        self._rows: deque[LogRow] = deque()
        self._kept = kept
        self._next = 0
        self._text = ""
        self._kind: Kind | None = None
        self._paused_at: int | None = None
        self._cut = 0
        self.shown: deque[LogRow] = deque()

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def filtered(self) -> bool:
        """Whether some rows may be hidden."""
        return bool(self._text) or self._kind is not None

    @property
    def kind(self) -> Kind | None:
        """The one kind of rows that is shown; None for all."""
        return self._kind

    @property
    def paused(self) -> bool:
        """Whether new rows wait."""
        return self._paused_at is not None

    @property
    def waiting(self) -> int:
        """How many rows came since the pause."""
        return 0 if self._paused_at is None else self._next - self._paused_at

    def add(self, at: float, sentence: Sentence) -> None:
        """Append a row. Searches in quick succession, as typing makes them, become one row."""
        if self._continues_search(at, sentence):
            self._replace_last(replace(self._rows[-1], at=at, sentence=sentence, times=self._rows[-1].times + 1))
            return
        row = LogRow(self._next, at, sentence)
        self._next += 1
        self._rows.append(row)
        if not self.paused and self._passes(row):
            self.shown.append(row)
        if len(self._rows) > self._kept:
            self._drop_oldest()

    def narrow(self, text: str = "", kind: Kind | None = None) -> None:
        """Show only rows that hold every word of `text`, in any case, and are of `kind`."""
        self._text, self._kind = text.casefold(), kind
        self._refill()

    def pause(self) -> None:
        """Let new rows wait."""
        self._paused_at = self._next

    def resume(self) -> None:
        """Show what waited."""
        self._paused_at = None
        self._refill()

    def index_of(self, number: int) -> int:
        """Where the shown row `number` stands, or where the next one after it does."""
        return bisect_left(self.shown, number, key=lambda row: row.number)

    def taken_from_top(self) -> int:
        """How many shown rows were dropped since the last call."""
        cut, self._cut = self._cut, 0
        return cut

    def _continues_search(self, at: float, sentence: Sentence) -> bool:
        if sentence.kind is not Kind.SEARCHES or not self._rows:
            return False
        last = self._rows[-1]
        return last.sentence.kind is Kind.SEARCHES and at - last.at <= _TYPING_SECONDS

    def _replace_last(self, row: LogRow) -> None:
        self._rows[-1] = row
        if self.shown and self.shown[-1].number == row.number:
            self.shown[-1] = row

    def _drop_oldest(self) -> None:
        oldest = self._rows.popleft()
        if self.shown and self.shown[0].number == oldest.number and not self.paused:
            self.shown.popleft()
            self._cut += 1

    def _refill(self) -> None:
        end = self._next if self._paused_at is None else self._paused_at
        self.shown = deque(row for row in self._rows if row.number < end and self._passes(row))
        self._cut = 0

    def _passes(self, row: LogRow) -> bool:
        sentence = row.sentence
        if self._kind is not None and sentence.kind is not self._kind:
            return False
        if not self._text:
            return True
        whole = f"{sentence.what} {sentence.path} {sentence.detail}".casefold()
        return all(word in whole for word in self._text.split())
