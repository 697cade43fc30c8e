"""Outcomes of finished jobs, one file each, so that a run goes on where it stopped.

Runs of parts of the jobs, in other processes or on other machines, may share a folder;
a run of all jobs with that folder then tells what was found. Nothing in it knows which
code made it: take a new folder after a change.
"""

import hashlib
import os
import pickle
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple


class Kept(NamedTuple):
    """`run`, of which an outcome that is in the folder already is read from there.

    run : function of a module, of one job (plain values, whose `repr` tells them apart)
    folder : is made where there is none; None keeps nothing
    """

    run: Callable[[Any], Any]
    folder: Path | None

    def __call__(self, job: Any) -> Any:
        if self.folder is None:
            return self.run(job)
        path = self.folder / f"{self._name(job)}.pickle"
        if path.exists():
            return pickle.loads(path.read_bytes())
        outcome = self.run(job)
        self.folder.mkdir(parents=True, exist_ok=True)
        # Whole or not at all, whoever else writes the same.
        part = path.with_suffix(f".{secrets.token_hex(8)}")
        part.write_bytes(pickle.dumps(outcome))
        os.replace(part, path)
        return outcome

    def _name(self, job: Any) -> str:
        words = f"{self.run.__module__}.{self.run.__qualname__} {job!r}"
        return hashlib.sha256(words.encode()).hexdigest()[:32]
