"""Where tables come from: a file, plain or gzipped, or the standard input."""

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

#: The path that means the standard input.
STDIN = Path("-")
#: How files of a kind begin; what comes from the standard input has no ending.
_MAGIC = {b"PAR1": ".parquet", b"PK\x03\x04": ".xlsx", b"[": ".json", b"{": ".json"}
_GZIP = b"\x1f\x8b"
#: Marks at the beginning of a text that tell its encoding.
_MARKS = {
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
#: Bytes that are looked at to find out what a file is.
HEAD = 4096


class Source(NamedTuple):
    """A table's bytes, to be read as often as needed.

    Attributes
    ----------
    name : str
        For messages.
    ending : str
        Lower case, without ".gz".
    path : Path or None
        None for the standard input.
    content : bytes
        Of the standard input.
    """

    name: str
    ending: str
    path: Path | None
    content: bytes = b""

    @classmethod
    def of(cls, path: Path) -> "Source":
        """A file that exists and is not empty, or all of the standard input."""
        if path == STDIN:
            return cls._of_stdin()
        if not path.exists():
            raise ValueError(f"{path}: no such file")
        if not path.is_dir() and path.stat().st_size == 0:
            raise ValueError(f"{path} is empty")
        suffixes = [suffix.lower() for suffix in path.suffixes]
        if suffixes and suffixes[-1] == ".gz":
            suffixes = suffixes[:-1]
        return cls(str(path), suffixes[-1] if suffixes else "", path)

    @classmethod
    def _of_stdin(cls) -> "Source":
        content = sys.stdin.buffer.read()
        if not content:
            raise ValueError("the standard input is empty")
        whole = cls("the standard input", "", None, content)
        with whole.open() as file:
            head = file.read(HEAD).lstrip()
        ending = next((e for m, e in _MAGIC.items() if head.startswith(m)), ".csv")
        if ending == ".json" and head[:1] == b"{":
            with whole.open() as file:
                ending = _object_or_lines(file)
        return whole._replace(ending=ending)

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """The bytes, unpacked if they are gzipped."""
        raw: IO[bytes] = io.BytesIO(self.content) if self.path is None \
            else self.path.open("rb")  # fmt: skip
        with raw:
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            if not packed:
                if self.path is not None and self.path.suffix.lower() == ".gz":
                    raise ValueError(f"{self.name} is not a gzip file")
                yield raw
                return
            try:
                with gzip.GzipFile(fileobj=raw) as file:
                    yield file  # type: ignore[misc]
            except (gzip.BadGzipFile, zlib.error, EOFError):
                raise ValueError(f"{self.name} is not a whole gzip file") from None

    @contextmanager
    def text(self, encoding: str = "utf-8-sig") -> Iterator[IO[str]]:
        """The file as text; bytes that are none become a ValueError."""
        with self.open() as raw:
            wrapped: Any = raw
            with io.TextIOWrapper(wrapped, encoding, newline="") as file:
                try:
                    yield file
                except UnicodeDecodeError as error:
                    raise ValueError(
                        f"{self.name} is not {encoding.removesuffix('-sig').upper()} "
                        f"text (byte {error.object[error.start]:#04x}); save it as "
                        "UTF-8 first"
                    ) from None

    def encoding(self) -> str:
        """The encoding of a text: by its mark, UTF-8 if it is, or Western Windows."""
        with self.open() as file:
            head = file.read(HEAD)
        for mark, name in _MARKS.items():
            if head.startswith(mark):
                return name
        nulls = head.count(b"\0")
        if nulls >= len(head) // 3 > 0:  # every other byte of Western text
            return "utf-16-le" if head[1::2].count(b"\0") > nulls / 2 else "utf-16-be"
        if nulls:
            raise ValueError(f"{self.name} holds NUL bytes: it is no text")
        for name in ("utf-8", "cp1252"):
            if self._is(name):
                return name
        return "latin-1"

    def _is(self, encoding: str) -> bool:
        with self.open() as raw:
            wrapped: Any = raw
            with io.TextIOWrapper(wrapped, encoding, newline="") as file:
                try:
                    while file.read(1 << 20):
                        pass
                except UnicodeDecodeError:
                    return False
        return True


def _object_or_lines(file: IO[bytes]) -> str:
    """Whether the text is one JSON object, or one in each line."""
    first, second = file.readline().strip(), file.readline().strip()
    lines = first.endswith(b"}") and second.startswith(b"{")
    return ".jsonl" if lines else ".json"
