"""What a learner is to `benchmarks.any_learner`, and how two of its fits are compared.

Figures are of losses of held-out rows: ½(y − z)² of a standardised target, or −log p
of the class. Each seed draws the rows anew and fits twice, so differences are paired:
a change is the mean over seeds of log(lrisk/ordinary), with Student's 95 % interval.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from scipy import stats

from benchmarks._any_learner_data import Task
from lrisk import risk
from lrisk.metrics import loss_quantiles, row_losses

#: What is said of held-out losses.
FIGURES: dict[str, Callable[[np.ndarray], float]] = {
    "mean": lambda losses: float(losses.mean()),
    "95 % quantile": lambda losses: float(loss_quantiles(losses, 0.95)),
    "superquantile .9": lambda losses: risk(losses, "superquantile:0.9"),
}
#: The figure that a verdict is about.
TAIL_FIGURE = "superquantile .9"


class Learner(NamedTuple):
    """Something that fits.

    fit : predictions for the test rows of a task, from its training rows, under a
        spectrum and with a seed: numbers, or a probability for each class
    tail, trimmed : spectra for clean rows and for wrong ones, chosen on the development
        sets; ``"mean"`` is the ordinary fit
    takes : whether it is for such a task
    """

    name: str
    fit: Callable[[Task, str, int], np.ndarray]
    tail: str
    trimmed: str
    takes: Callable[[Task], bool]


class Change(NamedTuple):
    """A change in percent, with its interval."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, before: Iterable[float], after: Iterable[float]) -> "Change":
        """Of paired figures, one for each seed."""
        logs = np.log(np.array(list(after))) - np.log(np.array(list(before)))
        error = logs.std(ddof=1) / np.sqrt(len(logs)) if len(logs) > 1 else np.inf
        reach = stats.t.ppf(0.975, max(len(logs) - 1, 1)) * error
        ends = (logs.mean(), logs.mean() - reach, logs.mean() + reach)
        return cls(*(100.0 * float(np.expm1(end)) for end in ends))

    def __str__(self) -> str:
        return f"{self.mean:+.0f} % [{self.low:+.0f}, {self.high:+.0f}]"

    @property
    def verdict(self) -> str:
        if self.high < 0.0:
            return "better"
        return "WORSE" if self.low > 0.0 else "no difference shown"


def held_out(task: Task, predicted: np.ndarray) -> np.ndarray:
    """Loss of each test row."""
    if not task.classes:
        return np.asarray(row_losses(task.test_y, predicted))
    labels = np.arange(task.classes)
    return np.asarray(row_losses(task.test_y, predicted, "log", labels=labels))


def heading() -> str:
    names = ["data", "learner"]
    names += [f"{figure}: ordinary, change" for figure in FIGURES]
    return f"| {' | '.join(names)} | tail |\n|{'---|' * (len(names) + 1)}"


def line(
    name: str, learner: str, ordinary: list[np.ndarray], ours: list[np.ndarray]
) -> tuple[str, Change]:
    """A row of the table, and the change of the tail."""
    cells, tail = [], Change(0.0, 0.0, 0.0)
    for figure, of in FIGURES.items():
        before, after = [of(x) for x in ordinary], [of(x) for x in ours]
        change = Change.of(before, after)
        cells.append(f"{np.mean(before):.3g}, {change}")
        tail = change if figure == TAIL_FIGURE else tail
    # Of what is chosen by held-out losses, as rounds of `RiskMeta` are.
    same = sum(np.allclose(*pair) for pair in zip(ordinary, ours, strict=True))
    kept = f"; ordinary fit kept in {same} of {len(ours)}" if same else ""
    said = " | ".join([name, learner, *cells, f"{tail.verdict}{kept}"])
    return f"| {said} |", tail
