"""The wsgidav provider of a vault: folders and files, each changed atomically."""

from __future__ import annotations

import contextlib
import posixpath
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from wsgidav.dav_error import (
    HTTP_CONFLICT,
    HTTP_FORBIDDEN,
    HTTP_INSUFFICIENT_STORAGE,
    HTTP_INTERNAL_ERROR,
    HTTP_NOT_FOUND,
    HTTP_PRECONDITION_FAILED,
    HTTP_SERVICE_UNAVAILABLE,
    DAVError,
)
from wsgidav.dav_provider import DAVCollection, DAVNonCollection, DAVProvider

from donna_tui.types.errors import DonnaError, Reason
from donna_tui.webdav.files import ServedTree
from donna_tui.webdav.gate import Environ
from donna_tui.webdav.upload import Item, Upload

TOO_LARGE = 413
BLOCK = 64 * 1024

_STATUS = {
    Reason.CONFLICT: HTTP_CONFLICT,
    Reason.MISSING: HTTP_NOT_FOUND,
    Reason.DISK_FULL: HTTP_INSUFFICIENT_STORAGE,
    Reason.ROOT_MISSING: HTTP_SERVICE_UNAVAILABLE,
    Reason.IO_ERROR: HTTP_INTERNAL_ERROR,
    Reason.BUSY: HTTP_SERVICE_UNAVAILABLE,
    Reason.GIT_LOCKED: HTTP_SERVICE_UNAVAILABLE,
    Reason.GIT_FAILED: HTTP_SERVICE_UNAVAILABLE,
}


class VaultProvider(DAVProvider):  # type: ignore[misc]  # wsgidav comes without types
    def __init__(self, tree: ServedTree, *, max_bytes: int, read_only: bool) -> None:
        super().__init__()
        self.tree = tree
        self.max_bytes = max_bytes
        self._read_only = read_only

    def is_readonly(self) -> bool:
        return self._read_only

    def get_resource_inst(self, path: str | None, environ: Environ) -> VaultFolder | VaultFile | None:
        """Return the resource at a path, or None. wsgidav passes None as the path of the parent of the vault."""
        if path is None:
            return None
        with _answered():
            item = self.tree.find(_relative(path))
        return None if item is None else _resource(item, environ)


class _VaultResource:
    """Implement what folders and files share: the modification time, MOVE and DELETE."""

    provider: Any  # this and the next are attributes of wsgidav's classes
    remove_all_locks: Callable[..., None]

    def __init__(self, item: Item, environ: Environ) -> None:
        super().__init__(f"/{item.path}", environ)  # type: ignore[call-arg]  # of wsgidav's class
        self._item = item
        self._tree: ServedTree = self.provider.tree

    def get_last_modified(self) -> float:
        return self._item.mtime_ns / 1e9

    def delete(self) -> None:
        """Remove the file, or the folder, from which wsgidav has already removed every served file."""
        self._check_removable()
        with _answered():
            self._tree.remove(self._item)
        self.remove_all_locks(recursive=True)

    def support_recursive_move(self, dest_path: str) -> bool:
        return True

    def move_recursive(self, dest_path: str) -> list[tuple[str, DAVError]]:
        return self._move(dest_path, None)

    def _move(self, dest_path: str, replaced: Item | None) -> list[tuple[str, DAVError]]:
        self._check_removable()
        with _answered():
            self._tree.move(self._item, _relative(dest_path), replaced)
        self.remove_all_locks(recursive=True)
        return []

    def _check_removable(self) -> None:
        if not self._item.path:
            raise DAVError(HTTP_FORBIDDEN, "the vault itself cannot be moved or deleted")

    def _refuse_existing(self, dest_path: str, *, but_file: bool = False) -> Item | None:
        """Return the file at a destination. Raises DAVError if a folder would be replaced, or would replace a file."""
        with _answered():
            existing = self._tree.find(_relative(dest_path))
        if existing is not None and (existing.is_folder or not but_file):
            raise DAVError(HTTP_FORBIDDEN, "a folder can neither be replaced nor replace something")
        return existing


class VaultFolder(_VaultResource, DAVCollection):  # type: ignore[misc]
    """A folder of the vault, or the vault itself."""

    def get_member_names(self) -> list[str]:
        return [item.path.rpartition("/")[2] for item in self._within()]

    def get_member_list(self) -> list[VaultFolder | VaultFile]:
        return [_resource(item, self.environ) for item in self._within()]

    def _within(self) -> list[Item]:
        with _answered():
            return self._tree.within(self._item.path)

    def create_empty_resource(self, name: str) -> VaultFile:
        """Return a new file. An upload creates nothing until it is complete; a lock reserves the name at once."""
        path = posixpath.join(self._item.path, name)
        if "HTTP_IF_MATCH" in self.environ:  # which wsgidav evaluates for existing files only
            raise DAVError(HTTP_PRECONDITION_FAILED, "the file does not exist")
        with _answered():
            if self.environ["REQUEST_METHOD"] == "PUT":
                return VaultFile(Item(path, False, 0, 0, 0), self.environ, is_new=True)
            self._tree.begin_upload(path, None).keep()
        resource: VaultFile = self.provider.get_resource_inst(path, self.environ)
        return resource

    def create_collection(self, name: str) -> None:
        with _answered():
            self._tree.make_folder(posixpath.join(self._item.path, name))

    def handle_delete(self) -> bool:
        """Refuse to delete the vault itself; let wsgidav delete any other folder file by file."""
        self._check_removable()
        return False

    def handle_move(self, dest_path: str) -> bool:
        self._check_removable()
        self._refuse_existing(dest_path)
        return False

    def handle_copy(self, dest_path: str, *, depth_infinity: bool) -> bool:
        self._refuse_existing(dest_path)
        return False

    def copy_move_single(self, dest_path: str, *, is_move: bool) -> None:
        """Create the folder of a copy; its contents follow one by one."""
        with _answered():
            self._tree.make_folder(_relative(dest_path))


class VaultFile(_VaultResource, DAVNonCollection):  # type: ignore[misc]
    """A note, or any other file of the vault."""

    def __init__(self, item: Item, environ: Environ, *, is_new: bool = False) -> None:
        super().__init__(item, environ)
        self._is_new = is_new
        self._receiving: Upload | None = None

    def get_content_length(self) -> int:
        return self._item.size

    def get_property_value(self, name: str) -> Any:
        """Return a property; the ETag with its quotes (RFC 4918 §15.6), which wsgidav omits."""
        value = super().get_property_value(name)
        return f'"{value}"' if name == "{DAV:}getetag" else value

    def get_etag(self) -> str | None:
        return None if self._is_new else self._item.etag

    def support_etag(self) -> bool:
        return True

    def support_ranges(self) -> bool:
        return True

    def get_content(self) -> BinaryIO:
        with _answered():
            return self._tree.open(self._item)

    def begin_write(self, *, content_type: str | None = None) -> _Upload:
        with _answered():
            self._receiving = self._tree.begin_upload(self._item.path, None if self._is_new else self._item)
        return _Upload(self._receiving, self.provider.max_bytes)

    def end_write(self, *, with_errors: bool) -> None:
        """Complete the upload; an aborted one leaves nothing behind."""
        upload = self._receiving
        if upload is None:
            return
        declared = self.environ.get("CONTENT_LENGTH")
        if with_errors or (declared and upload.size != int(declared)):
            upload.drop()
            if not with_errors:
                raise DAVError(HTTP_CONFLICT, "the upload was interrupted, so nothing was changed")
            return
        with _answered():
            upload.keep()
            self._item = self._tree.find(self._item.path) or self._item
            self._is_new = not self._item.inode

    def handle_move(self, dest_path: str) -> bool:
        """Move over another file atomically; wsgidav would remove that one first."""
        return self._over_another(dest_path, self._move)

    def handle_copy(self, dest_path: str, *, depth_infinity: bool) -> bool:
        return self._over_another(dest_path, self._copy)

    def _over_another(self, dest_path: str, put: Callable[[str, Item | None], object]) -> bool:
        """Put the file at a destination if another one is there, atomically; return whether one was."""
        replaced = self._refuse_existing(dest_path, but_file=True)
        if replaced is not None:
            put(dest_path, replaced)
        return replaced is not None

    def copy_move_single(self, dest_path: str, *, is_move: bool) -> None:
        self._copy(dest_path, None)

    def _copy(self, dest_path: str, replaced: Item | None) -> None:
        with _answered(), self._tree.open(self._item) as source:
            upload = self._tree.begin_upload(_relative(dest_path), replaced)
            try:
                while block := source.read(BLOCK):
                    upload.write(block)
                upload.keep()
            finally:
                upload.drop()


class _Upload:
    """The file object to which wsgidav writes the body of a request."""

    def __init__(self, upload: Upload, max_bytes: int) -> None:
        self._receiving, self._max_bytes = upload, max_bytes

    def write(self, data: bytes) -> None:
        if self._receiving.size + len(data) > self._max_bytes:
            raise DAVError(TOO_LARGE, f"files up to {self._max_bytes:,} bytes are accepted")
        with _answered():
            self._receiving.write(data)

    def close(self) -> None:
        """Do nothing: `end_write` follows with the result of the upload."""


def _relative(path: str) -> str:
    """Return the path within the vault; wsgidav may join folder and name with two slashes."""
    return "/".join(part for part in path.split("/") if part)


def _resource(item: Item, environ: Environ) -> VaultFolder | VaultFile:
    return VaultFolder(item, environ) if item.is_folder else VaultFile(item, environ)


@contextlib.contextmanager
def _answered() -> Iterator[None]:
    try:
        yield
    except DonnaError as error:
        raise DAVError(_STATUS.get(error.reason, HTTP_FORBIDDEN), error.message) from error
