"""The page of an experiment: Markdown tables and figures, written whole or not."""

import os
import platform
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import lrisk

#: Bytes above which a figure is stored as pixels, and how many of these to an inch.
LARGEST_SVG, PNG_DPI = 250_000, 100


def mean_sd(values: Iterable[float], digits: int = 3) -> str:
    """``0.412 ± 0.020`` over seeds; a dash where there is nothing."""
    known = np.array([v for v in values if v is not None], dtype=float)
    if not len(known):
        return "–"
    text = f"{known.mean():.{digits}f}"
    return text if len(known) == 1 else f"{text} ± {known.std(ddof=1):.{digits}f}"


def difference(ours: float, paper: float | None) -> str:
    """Ours over the paper's, less one, in per cent; a dash for an unfinished cell."""
    if paper is None or not np.isfinite(ours):
        return "–"
    return f"{100 * (ours / paper - 1):+.1f} %"


class Page:
    """Collects what an experiment says; `write` puts it into the folder."""

    def __init__(self, folder: Path, name: str, title: str, size: str = "full") -> None:
        self.folder, self.name, self.title, self.size = folder, name, title, size
        self._parts: list[str] = []
        self.figures: list[Path] = []

    def say(self, text: str) -> None:
        """A paragraph."""
        self._parts.append(text.strip())

    def heading(self, text: str) -> None:
        """A second-level heading."""
        self._parts.append(f"## {text}")

    def table(self, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """A table; the first column is words, the others numbers."""
        lines = ["| " + " | ".join(columns) + " |"]
        lines.append("|---|" + "---:|" * (len(columns) - 1))
        for row in rows:
            if len(row) != len(columns):
                raise ValueError(f"a row of {len(row)} cells under {len(columns)}")
            lines.append("| " + " | ".join(str(cell) for cell in row) + " |")
        self._parts.append("\n".join(lines))

    def figure(self, drawing: Any, words: str, suffix: str = "") -> None:
        """Save a matplotlib figure beside the page; `words` describe it.

        As SVG, or as PNG if that would be large: many curves of many points are.
        """
        from matplotlib import pyplot as plt

        name = f"{self.name}{'-' + suffix if suffix else ''}"
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{name}.svg"
        temporary = path.with_suffix(".part")
        # No date and fixed identifiers: the same numbers give the same file.
        with plt.rc_context({"svg.hashsalt": self.name}):
            drawing.savefig(
                temporary, format="svg", bbox_inches="tight", metadata={"Date": None}
            )
        temporary.write_text(_rounded(temporary.read_text("utf-8")), "utf-8")
        if temporary.stat().st_size > LARGEST_SVG:
            path.unlink(missing_ok=True)
            path = path.with_suffix(".png")
            drawing.savefig(
                temporary, format="png", bbox_inches="tight", dpi=PNG_DPI,
                metadata={"Software": None},
            )  # fmt: skip
        plt.close(drawing)
        os.replace(temporary, path)
        self.figures.append(path)
        self._parts.append(f"![{words}]({path.name})")

    def write(
        self, command: str, cpu: float, seeds: int, commits: Sequence[str] = ()
    ) -> Path:
        """Write the page with its command, CPU time, seeds and versions."""
        versions = ", ".join(
            f"{module} {version}" for module, version in versions_used().items()
        )
        made = (
            f"`{command}` · {cpu:.0f} s of CPU time · "
            f"{seeds} seed{'s' if seeds != 1 else ''} · {versions}"
        )
        if commits:
            made += f" · commit {', '.join(commits)}"
        if self.size != "full":
            made += f" · {self.size} run: not the figures to quote"
        text = "\n\n".join([f"# {self.title}", made, *self._parts]) + "\n"
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{self.name}.md"
        temporary = path.with_suffix(".part")
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)
        return path


def _rounded(svg: str) -> str:
    """Two decimals are enough for the points of a path, and half the file."""

    def shorter(path: re.Match[str]) -> str:
        return re.sub(r"(\.\d\d)\d+", r"\1", path[0])

    return re.sub(r' d="[^"]*"', shorter, svg)


def versions_used() -> dict[str, str]:
    """What the numbers depend on."""
    import numba
    import scipy
    import sklearn

    return {
        "lrisk": lrisk.__version__,
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "numba": numba.__version__,
    }
