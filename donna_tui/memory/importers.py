"""Import chats from files, archives and exports, streaming them whatever their size, and follow growing session logs.

Sources: the `conversations.json` in the data exports of chatgpt.com and claude.ai, and the files below
`~/.claude/projects`. None of them is documented; the formats read here are those of 2025 and 2026.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import stat
import time
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from donna_tui.memory.conversations import NewTurn, Recorder
from donna_tui.memory.facts import clean_text
from donna_tui.memory.forgetting import Target, forget
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import BadLine, ImportReport
from donna_tui.types.search import ROLES, MemorySource

READ_BYTES = 1 << 20
LONGEST_LINE = 32_000_000
"""Maximum size in bytes of a line of JSONL, or of a conversation of an array; longer ones are skipped and reported."""

_MARK = re.compile(rb'["\\{}\[\]\n,]')
_IN_STRING = re.compile(rb'["\\\n]')


@dataclass(frozen=True, slots=True)
class Piece:
    """A value with the line on which it begins (1-based) and the bytes of the file read so far."""

    line: int
    value: Any
    read: int


def first_byte(file: BinaryIO) -> bytes:
    """Return the first byte that is neither white space nor a byte order mark, and rewind the file."""
    head = file.read(64)
    while head and not head.lstrip(b"\xef\xbb\xbf \t\r\n"):
        head = file.read(64)
    file.seek(0)
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]


def json_lines(file: BinaryIO) -> Iterator[Piece | BadLine]:
    """Parse each line as JSON, yielding malformed ones with the reason. Blank lines are skipped."""
    number = read = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        read += len(line)
        if len(line) >= LONGEST_LINE and not line.endswith(b"\n"):
            while part := file.readline(READ_BYTES):
                read += len(part)
                if part.endswith(b"\n"):
                    break
            yield BadLine(number, f"the line is longer than {LONGEST_LINE:,} bytes")
            continue
        text = line.strip(b"\xef\xbb\xbf \t\r\n" if number == 1 else b" \t\r\n")
        if text:
            yield _parsed(text, number, read)


def one_object(file: BinaryIO) -> tuple[Piece] | None:
    """Parse a file with a single object over several lines, and rewind it; None if it is something else."""
    head = file.readline(LONGEST_LINE).strip(b"\xef\xbb\xbf \t\r\n")
    has_line = isinstance(_parsed(head, 1, 0), Piece)
    rest = b"" if has_line else file.read(LONGEST_LINE).strip()
    at = file.tell()
    file.seek(0)
    if not rest:
        return None
    whole = _parsed(head + b"\n" + rest, 1, at)
    return (whole,) if isinstance(whole, Piece) and isinstance(whole.value, dict) else None


def array_elements(file: BinaryIO) -> Iterator[Piece | BadLine]:
    """Parse each element of a JSON array, and report a missing end."""
    scanner = _Scanner()
    while block := file.read(READ_BYTES):
        yield from scanner.feed(block)
    yield from scanner.end()


class _Scanner:
    """Find the boundaries of an array's elements in linear time, without parsing them.

    ijson 3.6 reads 240 MB/s instead of 25, and cannot keep what an import promises: it stops at the first malformed
    element, knows no line, fails at NaN, a byte order mark and integers of more than 64 bits, replaces lone surrogates,
    has no limit for an element, and stores the path of each level, so that 200 KB of brackets need more than 20 GB.
    """

    def __init__(self) -> None:
        self._line = self._began = 1
        self._depth = self._read = self._size = 0
        self._quoted = self._escaped = False
        self._parts: list[bytes] = []

    def feed(self, block: bytes) -> Iterator[Piece | BadLine]:
        """Yield the elements that end in this block."""
        start, at = 0, int(self._escaped)
        self._escaped = False
        while match := (_IN_STRING if self._quoted else _MARK).search(block, at):
            at = match.end()
            mark = match.group()
            if mark == b"\n":
                self._line += 1
            elif mark == b"\\":
                self._escaped = at == len(block)
                at += 1
            elif mark == b'"':
                self._quoted = not self._quoted
            elif self._divides(mark):
                self._take(block[start : match.start()])
                start = at
                # White space and a byte order mark between elements are ignored.
                text, size = b"".join(self._parts).strip(b"\xef\xbb\xbf \t\r\n"), self._size
                self._parts, self._size = [], 0
                if size > LONGEST_LINE:
                    yield BadLine(self._began, f"the conversation is longer than {LONGEST_LINE:,} bytes")
                elif text:
                    yield _parsed(text, self._began, self._read + at)
        self._take(block[start:])
        self._read += len(block)

    def _divides(self, mark: bytes) -> bool:
        """Return whether a mark belongs to the array itself: its brackets, or a comma between its elements."""
        if mark in b"[{":
            self._depth += 1
            return self._depth == 1
        if mark in b"]}":
            self._depth -= 1
            return self._depth == 0
        return self._depth == 1

    def _take(self, part: bytes) -> None:
        text = part.lstrip()
        if not text and not self._size:
            return
        if not self._size:
            self._began = self._line - text.count(b"\n")
        self._size += len(part)
        if self._size <= LONGEST_LINE:
            self._parts.append(part)

    def end(self) -> Iterator[BadLine]:
        """Report an incomplete element when the file ends."""
        if self._depth > 0 and self._size:
            yield BadLine(self._began, "the file ends within a conversation")


def _parsed(text: bytes, line: int, read: int) -> Piece | BadLine:
    try:
        return Piece(line, json.loads(text.decode()), read)
    except UnicodeDecodeError:
        return BadLine(line, "it is not UTF-8")
    except RecursionError:
        return BadLine(line, "it is nested too deeply")
    except ValueError:
        return BadLine(line, "it is not JSON")


LONGEST_TURN = 2_000_000
"""Maximum number of characters of a message; longer ones are skipped and reported."""

LONGEST_NAME = 200
LATEST = 253_402_300_799.0
"""The last second of the year 9999."""


@dataclass(frozen=True, slots=True)
class SkippedValue:
    """A well-formed value that is not a message: tool output, a thought, an empty text."""

    count: int = 1


@dataclass(frozen=True, slots=True)
class OtherBranches:
    """The ids of the messages of a conversation that are on other branches than the one on which it ended."""

    conversation: str
    marks: tuple[str, ...]


ImportedItem = NewTurn | SkippedValue | OtherBranches | BadLine


def made_turn(line: int, **values: Any) -> NewTurn | SkippedValue | BadLine:
    """Build a turn with its text cleaned; an empty text is left out."""
    if len(values["text"]) > LONGEST_TURN:
        return BadLine(line, f"the message has more than {LONGEST_TURN:,} characters")
    text = clean_text(values.pop("text"))
    return NewTurn(text=text, **values) if text else SkippedValue()


def moment_of(value: Any) -> float | None:
    """Parse a time as Unix seconds: a number of seconds or milliseconds, or ISO 8601, in UTC if it has no offset."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value.strip())
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        seconds = float(value)
    except (ValueError, OverflowError):
        return None
    if seconds > LATEST:
        seconds /= 1000
    return seconds if 0 <= seconds <= LATEST else None  # NaN is not in this range either


def get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def name_of(text: str) -> str:
    return " ".join(clean_text(text).split())[:LONGEST_NAME]


def title_of(value: Any) -> str:
    return name_of(value) if isinstance(value, str) else ""


def text_blocks(content: Any) -> list[str]:
    blocks = content if isinstance(content, list) else []
    texts = [get(block, "text") for block in blocks if get(block, "type") == "text"]
    return [text for text in texts if isinstance(text, str) and text.strip()]


CONVERSATIONS = ("conversations*.json", "*.jsonl")
"""File names of conversations in the exports of ChatGPT and Claude (large exports have several), and of logs."""

_ENCRYPTED = 0x1


def exports_in(path: Path) -> list[Path]:
    """List the files to import from a path: the file itself, or the exports and logs below a folder, in order."""
    if not path.is_dir():
        return [path]
    # `os.walk` passes over folders that cannot be read or vanish meanwhile
    files = (Path(folder, name) for folder, _, names in os.walk(path) for name in names)
    found = (file for file in files if any(map(file.match, (*CONVERSATIONS, "*.zip"))))
    return sorted(file for file in found if file.is_file() and not file.is_symlink())


def opened_parts(path: Path) -> Iterator[BinaryIO]:
    """Open the conversation files of an export one after the other, closing each before the next.

    Nothing is unpacked to the disk. Use it within `readable`. Raises DonnaError (`usage`) if there are none.
    """
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            yield file
        return
    with zipfile.ZipFile(path) as archive:
        for member in _members(archive, path):
            with archive.open(member) as part:
                yield cast("BinaryIO", part)


@contextlib.contextmanager
def readable(path: Path) -> Iterator[None]:
    """Convert errors of opening or reading a file or an archive into a DonnaError (`usage`)."""
    try:
        yield
    except OSError as error:
        raise _unreadable(path, error.strerror or "it is damaged") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise _unreadable(path, "the archive is damaged") from error


def size_of(path: Path) -> int:
    """Return the number of bytes to read; 0 if it is unknown."""
    try:
        if not zipfile.is_zipfile(path):
            return path.stat().st_size
        with zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in _members(archive, path))
    except (OSError, zipfile.BadZipFile, DonnaError):
        return 0


def _members(archive: zipfile.ZipFile, path: Path) -> list[zipfile.ZipInfo]:
    members = archive.infolist()
    found = [member for member in members if any(map(PurePosixPath(member.filename).match, CONVERSATIONS))]
    if not found:
        hint = "unpack it, and import the file with the conversations"
        raise _unreadable(path, "the archive contains no conversations.json", hint=hint)
    if any(member.flag_bits & _ENCRYPTED for member in found):
        raise _unreadable(path, "the archive is protected with a password")
    return sorted(found, key=lambda member: member.filename)


def _unreadable(path: Path, why: str, hint: str | None = None) -> DonnaError:
    return DonnaError(Reason.USAGE, f"{path} cannot be read ({why})", hint=hint)


def chatgpt_turns(value: Mapping[str, Any], line: int) -> Iterator[ImportedItem]:
    """Yield the turns of the branch on which the conversation ended.

    Messages of other branches count as left out. They may have been imported before a question was edited.
    """
    nodes = value["mapping"]
    identity = value.get("conversation_id") or value.get("id")
    if not isinstance(nodes, dict) or not isinstance(identity, str):
        yield BadLine(line, "the conversation has no messages or no id")
        return
    branch = _branch(nodes, value.get("current_node"))
    shared = {"conversation": name_of(f"chatgpt/{identity}"), "title": title_of(value.get("title"))}
    for place, (node, message) in enumerate(branch, 1):
        yield _chatgpt_turn(message, line, shared, place, node)
    on_branch = {node for node, _ in branch}
    others = [key for key, node in nodes.items() if isinstance(get(node, "message"), dict) and key not in on_branch]
    if others:
        yield SkippedValue(len(others))
        yield OtherBranches(shared["conversation"], tuple(others))


def _branch(nodes: Mapping[str, Any], last: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """Collect the messages from the root to the last node, or to the last leaf without one. A cycle ends the walk."""
    if not isinstance(last, str) or last not in nodes:
        leaves = [key for key, node in nodes.items() if not get(node, "children")]
        last = leaves[-1] if leaves else None
    found: list[tuple[str, Mapping[str, Any]]] = []
    seen: set[str] = set()
    while isinstance(last, str) and last in nodes and last not in seen:
        seen.add(last)
        message = get(nodes[last], "message")
        if isinstance(message, dict):
            found.append((last, message))
        last = get(nodes[last], "parent")
    return found[::-1]


def _chatgpt_turn(message: Mapping[str, Any], line: int, shared: dict[str, str], place: int, node: str) -> ImportedItem:
    role = get(message.get("author"), "role")
    hidden = get(message.get("metadata"), "is_visually_hidden_from_conversation")
    content = message.get("content")
    kind = get(content, "content_type")
    if role not in ("user", "assistant") or hidden or kind not in ("text", "multimodal_text", "code", None):
        return SkippedValue()
    if message.get("recipient") not in (None, "all"):
        return SkippedValue()
    parts = get(content, "parts")
    words = [part if isinstance(part, str) else _transcript(part) for part in parts] if isinstance(parts, list) else []
    return made_turn(
        line, **shared, role=role, speaker=role, text="\n\n".join(filter(None, words)),
        at=moment_of(message.get("create_time")), turn=place, mark=node,
    )  # fmt: skip


def _transcript(part: Any) -> str:
    """Return the words of a voice message; empty for an image or a recording."""
    text = get(part, "text") if get(part, "content_type") == "audio_transcription" else ""
    return text if isinstance(text, str) else ""


def claude_turns(value: Mapping[str, Any], line: int) -> Iterator[ImportedItem]:
    messages, identity = value["chat_messages"], value.get("uuid")
    if not isinstance(messages, list) or not isinstance(identity, str):
        yield BadLine(line, "the conversation has no messages or no uuid")
        return
    shared = {"conversation": name_of(f"claude/{identity}"), "title": title_of(value.get("name"))}
    for place, message in enumerate(messages, 1):
        if not isinstance(message, dict):
            yield BadLine(line, f"message {place} of the conversation is not an object")
            continue
        role = {"human": "user", "assistant": "assistant"}.get(str(message.get("sender")))
        mark = message.get("uuid")
        if role is None:
            yield SkippedValue()
            continue
        blocks, plain = text_blocks(message.get("content")), message.get("text")  # older exports have only plain text
        text = "\n\n".join(blocks) if blocks else plain if isinstance(plain, str) else ""
        yield made_turn(
            line, **shared, role=role, speaker=role, text=text,
            at=moment_of(message.get("created_at")), turn=place, mark=mark if isinstance(mark, str) else "",
        )  # fmt: skip


_ASSISTANTS = frozenset({"assistant", "ai", "bot", "model", "gpt", "chatgpt", "claude"})
_NAMES = frozenset({"Ai", "Claude"})
"""Names of people that are otherwise those of assistants."""

_USERS = frozenset({"user", "human", "me"})
_NO_TURNS = frozenset({"file-history-snapshot", "progress", "queue-operation", "last-prompt", "mode", "attachment"})


def format_of(value: Any) -> str:
    if not isinstance(value, dict):
        return "unknown"
    if "mapping" in value:
        return "ChatGPT export"
    if "chat_messages" in value:
        return "Claude export"
    is_log = "sessionId" in value or (value.get("type") == "summary" and "leafUuid" in value)
    return "Claude Code session" if is_log else "turns"


def turns_of(value: Any, line: int) -> Iterator[ImportedItem]:
    match format_of(value):
        case "unknown":
            yield BadLine(line, "it is not an object")
        case "ChatGPT export":
            yield from chatgpt_turns(value, line)
        case "Claude export":
            yield from claude_turns(value, line)
        case "Claude Code session":
            yield _claude_code(value, line)
        case _ if str(value.get("type")) in _NO_TURNS:
            yield SkippedValue()
        case _:
            yield _plain_turn(value, line)


def _plain_turn(value: Mapping[str, Any], line: int) -> ImportedItem:
    session, text = value.get("session_id"), value.get("text", value.get("content"))
    named = value.get("role") or value.get("speaker")
    if not isinstance(session, str | int) or isinstance(session, bool) or not str(session).strip():
        return BadLine(line, "session_id is missing")
    if not isinstance(text, str):
        return BadLine(line, "text is missing")
    if not isinstance(named, str) or not named.strip():
        return BadLine(line, "role and speaker are missing")
    turn, at = value.get("turn"), value.get("timestamp")
    if turn is not None and (not isinstance(turn, int) or isinstance(turn, bool) or abs(turn) > 2**53):
        return BadLine(line, "turn is not a whole number")
    moment = moment_of(at)
    if at is not None and moment is None:
        return BadLine(line, "timestamp is not a time")
    folded = named.strip().casefold()
    role = "assistant" if folded in _ASSISTANTS else folded if folded in ROLES else "user"
    speaker = str(value.get("speaker") if isinstance(value.get("speaker"), str) else named)
    is_role = speaker.strip() not in _NAMES and speaker.strip().casefold() in _ASSISTANTS | _USERS | frozenset(ROLES)
    return made_turn(
        line, conversation=name_of(str(session)), role=role, speaker=role if is_role else name_of(speaker), text=text,
        at=moment, turn=turn, origin=name_of(str(value.get("user_id") or "")), title=title_of(value.get("title")),
    )  # fmt: skip


_OF_THE_PROGRAM = re.compile(
    r"\s*(?:<(?:(?:local-command|bash)-std(?:out|err)|system-reminder|ide_\w+)>|\[Request interrupted by user"
    r"|<command-(name|message)>[^<]*</command-\1>(?!.*<command-args>\s*(?!</command-args>)\S))",
    re.DOTALL,
)
"""Match what Claude Code logs in the user's name: output, reminders, the open file, interruptions, bare commands."""


def _claude_code(value: Mapping[str, Any], line: int) -> ImportedItem:
    """Parse a line of a session log. Tool output, thoughts, side chains and the program's own messages are left out."""
    message = value.get("message")
    role = get(message, "role")
    aside = value.get("isSidechain") or value.get("isMeta") or value.get("isCompactSummary")
    if value.get("type") not in ("user", "assistant") or role not in ("user", "assistant") or aside:
        return SkippedValue()
    content = get(message, "content")
    texts = [content] if isinstance(content, str) else text_blocks(content)
    blocks = [text for text in texts if not _OF_THE_PROGRAM.match(text)]
    mark, path = value.get("uuid"), value.get("cwd")
    folder = path.replace("\\", "/").rstrip("/").rpartition("/")[2] if isinstance(path, str) else ""
    if not blocks or not isinstance(value.get("sessionId"), str):
        return SkippedValue()
    return made_turn(
        line, conversation=name_of(f"claude-code/{value['sessionId']}"), role=role, speaker=role,
        text="\n\n".join(blocks), at=moment_of(value.get("timestamp")), mark=mark if isinstance(mark, str) else "",
        title=title_of(f"Claude Code in {folder}" if folder else ""),
    )  # fmt: skip


BATCH = 500
"""Turns per transaction. The progress reported counts only what is committed."""

SHOWN = 100
"""Maximum number of malformed lines that are reported individually."""

Progress = tuple[int, int]
"""Bytes read, and new turns stored."""


@dataclass(slots=True)
class Import:
    """An import. Iterate `run`, then read `report`; stopping between steps loses nothing that is stored."""

    recorder: Recorder
    user: str = ""
    """Import only the turns of this user, if the file holds those of several."""

    _format: str = ""
    _left_out: int = 0
    _malformed: int = 0
    _bad: tuple[BadLine, ...] = ()

    def run(self, path: Path) -> Iterator[Progress]:
        """Import a file, yielding the progress after each batch.

        Raises DonnaError if the file cannot be read, and DatabaseError.
        """
        before = 0
        with readable(path):
            for file in opened_parts(path):
                for read, added in self._import(file):
                    yield before + read, added
                before += file.tell()
        self.recorder.close_conversations()

    def add(self, file: BinaryIO) -> None:
        """Import the lines of a growing log, leaving its conversations open. Raises DatabaseError."""
        for _ in self._import(file):
            pass

    def _import(self, file: BinaryIO) -> Iterator[Progress]:
        pieces = array_elements(file) if first_byte(file) == b"[" else one_object(file) or json_lines(file)
        batch: list[NewTurn] = []
        for piece in pieces:
            batch += self._turns(piece)
            if len(batch) >= BATCH:
                self.recorder.add(batch)
                batch = []
                yield (piece.read if isinstance(piece, Piece) else 0), self.recorder.added
        self.recorder.add(batch)
        yield file.tell(), self.recorder.added

    def _turns(self, piece: Piece | BadLine) -> Iterator[NewTurn]:
        items: Iterable[ImportedItem] = (piece,) if isinstance(piece, BadLine) else turns_of(piece.value, piece.line)
        if isinstance(piece, Piece):
            self._format = self._format or format_of(piece.value)
        for found in items:
            if isinstance(found, BadLine):
                self._malformed += 1
                if len(self._bad) < SHOWN:
                    self._bad = (*self._bad, found)
            elif isinstance(found, SkippedValue):
                self._left_out += found.count
            elif isinstance(found, OtherBranches):
                self._forget(found)
            elif self.user in ("", found.origin):
                yield found

    def _forget(self, branches: OtherBranches) -> None:
        """Forget the messages of these branches that were imported before a question was edited."""
        conversation, numbers = self.recorder.known_turns(branches.conversation, branches.marks)
        for number in numbers:
            target = Target(MemorySource.CHAT, branches.conversation, conversation, number, number)
            forget(self.recorder.db, target, time.time())

    @property
    def report(self) -> ImportReport:
        return ImportReport(
            format=self._format or "unknown",
            sessions=len(self.recorder.conversations),
            turns=self.recorder.added,
            known=self.recorder.known,
            left_out=self._left_out,
            malformed=self._malformed,
            bad=self._bad,
        )


READ_AT_ONCE = 8_000_000
"""Bytes of a log that are imported in one step."""

STATE_FILE = "chat-watch.json"


def claude_code_folder() -> Path:
    configured = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(configured).expanduser() if configured else Path.home() / ".claude") / "projects"


class LogFolder:
    """The logs below a folder, with the read position of each: its inode, and the offset after the last whole line.
    Every method blocks.

    The positions are kept in a file of the space's state folder. Without them everything is read again, which adds no
    turn twice, because each has its own id.
    """

    def __init__(self, folder: Path, state: Path) -> None:
        self.folder, self._state = folder, state / STATE_FILE
        self._positions: dict[str, tuple[int, int]] = {}
        with contextlib.suppress(OSError, ValueError, TypeError, AttributeError):
            stored = json.loads(self._state.read_text(encoding="utf-8"))
            self._positions = {path: (int(inode), int(offset)) for path, (inode, offset) in stored.items()}

    def read_new(self, importing: Import) -> Iterator[int]:
        """Import the new lines in steps, yielding the number of bytes of each step."""
        for path in sorted(self.folder.rglob("*.jsonl")):
            yield from self._read_file(path, importing)

    def _read_file(self, path: Path, importing: Import) -> Iterator[int]:
        """Import the new lines of a log, from its start if it was truncated or replaced.

        The position is saved once the turns are stored.
        """
        try:
            found = path.lstat()
            if not stat.S_ISREG(found.st_mode):
                return
            inode, offset = self._positions.get(str(path), (0, 0))
            if inode != found.st_ino or offset > found.st_size:
                offset = 0
            if offset == found.st_size:
                return
            with path.open("rb") as file:
                file.seek(offset)
                while lines := _whole_lines(file):
                    importing.add(io.BytesIO(lines))
                    offset += len(lines)
                    self._positions[str(path)] = found.st_ino, offset
                    self._save()
                    yield len(lines)
        except OSError:
            return  # missing or unreadable now; the next round tries again

    def _save(self) -> None:
        pending = self._state.with_suffix(".new")
        pending.write_text(json.dumps(self._positions), encoding="utf-8")
        pending.replace(self._state)


def _whole_lines(file: io.BufferedReader) -> bytes:
    """Read the next complete lines; an incomplete last line is left for later.

    A line longer than any message is returned in part, and is then reported as malformed.
    """
    data = file.read(READ_AT_ONCE)
    while data and b"\n" not in data and len(data) < LONGEST_LINE:
        more = file.read(READ_AT_ONCE)
        if not more:
            return b""
        data += more
    end = data.rfind(b"\n") + 1
    if not end:
        return data if len(data) >= LONGEST_LINE else b""
    file.seek(end - len(data), os.SEEK_CUR)
    return data[:end]
