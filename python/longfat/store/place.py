"""Where a store lies: a folder, or an address that fsspec knows. Files appear whole or not at all in both."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol

from longfat import drafts, extras, system
from longfat.errors import InputError
from longfat.store import whole

Put = Callable[[str, bytes], None]
"""Writes a file, by name, into a folder that is being made."""


class Place(Protocol):
    """Files by name; slashes in a name separate folders."""

    def prepare(self) -> None:
        """Creates the place if it is missing. Raises InputError if it cannot be written."""

    def lock(self, name: str, content: bytes) -> None:
        """Keeps other writers out. Raises InputError if another process writes.

        Args:
            name: a file that never changes; a writer holds it.
            content: what the file gets if it is missing.
        """

    def unlock(self) -> None:
        """Lets others write."""

    def names(self, folder: str) -> list[str]:
        """Returns the names of the files in a folder, sorted; none if the folder is missing."""

    def read(self, name: str) -> bytes:
        """Returns the content of a file. Raises FileNotFoundError if it is missing."""

    def write(self, name: str, data: bytes) -> None:
        """Writes a file, whole or not at all."""

    def move(self, name: str, to: str) -> None:
        """Renames a file."""

    def remove(self, name: str) -> None:
        """Removes a file if it exists."""

    def exchange(self, folder: str, described_by: str) -> AbstractContextManager[Put]:
        """Replaces a folder's content by the files put in the block, if the block ends without error.

        The file that describes the content is removed first: whoever reads meanwhile, or after a loss of
        power, finds it together with what it describes or not at all.
        """


def place(where: Path | str) -> Place:
    """Returns the place at a path, or at an address with "://"."""
    return Remote(where) if isinstance(where, str) and "://" in where else Folder(Path(where))


class Folder:
    """A folder on this machine, or one that several machines share."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._locks: list[int] = []

    def __str__(self) -> str:
        return str(self.path)

    def _path(self, name: str) -> Path:
        """Returns the path of a file or folder in here. Raises InputError if a link leads out of here."""
        path = self.path / name
        if not path.resolve().is_relative_to(self.path.resolve()):
            raise InputError(f"{path}: leads out of the folder; accepted: a store without such links")
        return path

    def prepare(self) -> None:
        try:
            whole.prepare(self.path)
        except OSError as error:
            raise InputError(
                f"{self.path}: {error.strerror}; accepted: a folder that can be written"
            ) from None

    def lock(self, name: str, content: bytes) -> None:
        self._locks = [self._locked(system.open_to_lock(self.path.resolve()))]
        try:
            if system.POSIX:  # on Windows, a locked file cannot be read
                self._locks.append(self._lock_file(name, content))
        except BaseException:
            self.unlock()
            raise
        drafts.clear_all(self.path)

    def _lock_file(self, name: str, content: bytes) -> int:
        """Locks a file too: across machines, NFS locks files that are open for writing, not folders."""
        path = self._path(name)
        if not path.exists():
            self.write(name, content)
        try:
            held = system.open_to_lock(path.resolve(), is_file=True)
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}; accepted: a file that can be written") from None
        self._locked(held)
        if not os.path.samestat(os.fstat(held), os.stat(path)):  # another machine made the file meanwhile
            os.close(held)
            return self._lock_file(name, content)
        return held

    def _locked(self, descriptor: int) -> int:
        """Locks an open file or folder, and closes it where that is not possible."""
        try:
            system.lock(descriptor)
        except BlockingIOError:
            problem = "another process is writing to it; accepted: one writer at a time"
        except OSError as error:
            problem = f"cannot be locked ({error.strerror}); accepted: a file system that has locks"
        else:
            return descriptor
        raise InputError(f"{self.path}: {problem}")

    def unlock(self) -> None:
        while self._locks:
            os.close(self._locks.pop())

    def names(self, folder: str) -> list[str]:
        try:
            entries = list(self._path(folder).iterdir())
        except FileNotFoundError:
            return []
        return sorted(entry.name for entry in entries if entry.is_file() and not entry.name.startswith("."))

    def read(self, name: str) -> bytes:
        return self._path(name).read_bytes()

    def write(self, name: str, data: bytes) -> None:
        path = self._path(name)
        whole.make_folder(path.parent)
        with whole.draft(path) as draft:
            draft.write_bytes(data)

    def move(self, name: str, to: str) -> None:
        target = self._path(to)
        whole.make_folder(target.parent)
        self._path(name).replace(target)

    def remove(self, name: str) -> None:
        self._path(name).unlink(missing_ok=True)

    @contextmanager
    def exchange(self, folder: str, described_by: str) -> Iterator[Put]:
        own = self._path(folder)
        draft, earlier = (self.path / f".{folder}-{what}" for what in ("draft", "earlier"))
        for rest in (draft, earlier):  # left by a program that was killed
            shutil.rmtree(rest, ignore_errors=True)
        try:
            draft.mkdir()
            yield lambda name, data: self.write(f"{draft.name}/{name}", data)
            self.remove(described_by)
            system.synchronize(self.path)
            if own.exists():
                own.replace(earlier)
            try:
                draft.replace(own)
            except BaseException:
                if earlier.exists():
                    earlier.replace(own)
                raise
            system.synchronize(self.path)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
            shutil.rmtree(earlier, ignore_errors=True)


class Remote:
    """An address that fsspec reaches. Objects there appear whole.

    Nothing there keeps a second writer out; the user has to see to that.
    """

    def __init__(self, address: str) -> None:
        fsspec = extras.load("fsspec", "cluster", address)
        self.address = address
        try:
            self._files, self._root = fsspec.core.url_to_fs(address)
        except (ImportError, ValueError) as error:
            raise InputError(
                f"{address}: {error}; accepted: a folder, or an address that fsspec knows"
            ) from None

    def __str__(self) -> str:
        return self.address

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def prepare(self) -> None:
        try:
            self._files.makedirs(self._root, exist_ok=True)
        except OSError as error:
            raise InputError(f"{self.address}: {error}; accepted: an address that can be written") from None

    def lock(self, name: str, content: bytes) -> None:
        if not self._files.exists(self._path(name)):
            self.write(name, content)

    def unlock(self) -> None:
        pass

    def names(self, folder: str) -> list[str]:
        try:
            entries: list[dict[str, Any]] = self._files.ls(self._path(folder), detail=True, refresh=True)
        except FileNotFoundError:
            return []
        return sorted(entry["name"].rpartition("/")[2] for entry in entries if entry["type"] == "file")

    def read(self, name: str) -> bytes:
        data: bytes = self._files.cat_file(self._path(name))
        return data

    def write(self, name: str, data: bytes) -> None:
        path = self._path(name)
        self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
        self._files.pipe_file(path, data)

    def move(self, name: str, to: str) -> None:
        self.write(to, self.read(name))
        self.remove(name)

    def remove(self, name: str) -> None:
        with suppress(FileNotFoundError):
            self._files.rm_file(self._path(name))

    @contextmanager
    def exchange(self, folder: str, described_by: str) -> Iterator[Put]:
        self.remove(described_by)
        written = set()

        def put(name: str, data: bytes) -> None:
            self.write(f"{folder}/{name}", data)
            written.add(self._path(f"{folder}/{name}"))

        yield put
        for path in self._files.find(self._path(folder)):
            if path not in written:
                self._files.rm_file(path)
