"""What of a root is a source, where it is not everything: some files at the top, and the notes below some folders."""

from __future__ import annotations

from donna_tui.records import dataclass

NOTE_ENDING = ".md"


@dataclass(frozen=True, slots=True)
class Include:
    """Files by their path, and folders with all that is below them. Empty means everything."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()

    @property
    def is_everything(self) -> bool:
        """Whether nothing is left out."""
        return not self.files and not self.folders

    @property
    def places(self) -> tuple[str, ...]:
        """Where sources are, for programs that take paths: the whole root if nothing is left out."""
        return (".",) if self.is_everything else (*self.files, *self.folders)

    def holds(self, path: str) -> bool:
        """Whether a file is a source, by its path alone."""
        if self.is_everything or path in self.files:
            return True
        return path.endswith(NOTE_ENDING) and self.holds_folder(path.rpartition("/")[0])

    def holds_folder(self, path: str) -> bool:
        """Whether everything in a folder may be a source."""
        return self.is_everything or any(f"{path}/".startswith(f"{folder}/") for folder in self.folders)


EVERYTHING = Include()
