"""Networks of `benchmarks.any_learner`: an MLP, and a small CNN for images.

Adam, batches of 64, a fixed number of epochs, no early stopping: the same for every
risk. Learning rate, epochs and spectra were chosen on the development sets. Trimming
begins after some ordinary epochs, which also fill the table.
"""

import argparse
import itertools
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks._any_learner_data import DEVELOPMENT, Task, task
from benchmarks._any_learner_report import Change, Learner, held_out
from lrisk import RiskRegressor, risk
from lrisk.spectra import parse_spectrum
from lrisk.torch import RiskTable, SpectralRisk

BATCH, RATE = 64, 1e-3
WIDTH, MLP_EPOCHS = 64, 60
CHANNELS, CNN_EPOCHS = 8, 30
#: Share of the epochs that are ordinary where a spectrum trims.
ORDINARY_FIRST = 1 / 3
TAIL, TRIMMED = "superquantile:0.5", "subquantile:0.75"

#: Rows of the table whose step is timed.
ROWS = 1_000_000

#: From the losses of a batch and its rows to what is minimised.
Reducer = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def mlp(rows: Task) -> nn.Module:
    return nn.Sequential(
        nn.Linear(rows.X.shape[1], WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, WIDTH),
        nn.ReLU(),
        nn.Linear(WIDTH, max(rows.classes, 1)),
    )


def cnn(rows: Task) -> nn.Module:
    inner = (rows.side // 2) ** 2
    return nn.Sequential(
        nn.Unflatten(1, (1, rows.side, rows.side)),
        nn.Conv2d(1, CHANNELS, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(CHANNELS, 2 * CHANNELS, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(2 * CHANNELS * inner, rows.classes),
    )


def ordinary(losses: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    return losses.mean()


def by_table(spectrum: str, n_rows: int) -> Reducer:
    return ordinary if spectrum == "mean" else RiskTable(n_rows, spectrum)


def by_batch(spectrum: str, _: int) -> Reducer:
    own = SpectralRisk(spectrum)
    return lambda losses, rows: own(losses)


def fit(
    make: Callable[[Task], nn.Module],
    epochs: int,
    rows: Task,
    spectrum: str,
    seed: int,
    reducer: Callable[[str, int], Reducer] = by_table,
) -> np.ndarray:
    """Predictions for the test rows."""
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    model = make(rows)
    steps = torch.optim.Adam(model.parameters(), lr=RATE)
    X, test_X = (torch.tensor(X, dtype=torch.float32) for X in (rows.X, rows.test_X))
    y = torch.tensor(rows.y, dtype=torch.int64 if rows.classes else torch.float32)

    def losses_of(places: torch.Tensor) -> torch.Tensor:
        output = model(X[places])
        if rows.classes:
            return nn.functional.cross_entropy(output, y[places], reduction="none")
        return 0.5 * (output[:, 0] - y[places]) ** 2

    reduce = reducer(spectrum, len(y))
    first = int(ORDINARY_FIRST * epochs) if parse_spectrum(spectrum).trims else 0
    for epoch in range(epochs):
        for places in torch.randperm(len(y)).split(BATCH):
            losses = losses_of(places)
            value = reduce(losses, places)
            if epoch < first:
                value = losses.mean()
            steps.zero_grad()
            value.backward()
            steps.step()
    with torch.no_grad():
        output = model(test_X).double()
    if rows.classes:
        return np.asarray(torch.softmax(output, 1))
    return np.asarray(output[:, 0])


def _learner(name: str, make: Any, epochs: int, takes: Any) -> Learner:
    def fitted(rows: Task, spectrum: str, seed: int) -> np.ndarray:
        return fit(make, epochs, rows, spectrum, seed)

    return Learner(name, fitted, TAIL, TRIMMED, takes)


LEARNERS = [
    _learner("MLP", mlp, MLP_EPOCHS, lambda rows: True),
    _learner("CNN", cnn, CNN_EPOCHS, lambda rows: rows.side > 0),
]


def batches(options: argparse.Namespace) -> None:
    """Superquantile .95 of an MLP, batches of 64: the table or the batch's own tail."""
    print("| data | the batch's own tail | RiskTable, change |  |\n|---|---|---|---|")
    changes = []
    for name in options.sets:
        figures: dict[Any, list[float]] = {by_batch: [], by_table: []}
        for seed in range(options.seeds):
            rows = task(name, seed)
            for reducer, told in figures.items():
                predicted = fit(
                    mlp, MLP_EPOCHS, rows, "superquantile:0.95", seed, reducer
                )
                told.append(risk(held_out(rows, predicted), "superquantile:0.95"))
        change = Change.of(figures[by_batch], figures[by_table])
        shown = f"{name} (development)" if name in DEVELOPMENT else name
        print(f"| {shown} | {np.mean(figures[by_batch]):.3g} | {change} |", end=" ")
        print(f"{change.verdict} |", flush=True)
        if name not in DEVELOPMENT:
            changes.append(change.mean)
    if len(changes) > 1:
        error = np.std(changes, ddof=1) / np.sqrt(len(changes))
        print(f"\nMean over {len(changes)} sets outside of development: ", end="")
        print(f"{np.mean(changes):+.1f} % (standard error {error:.1f})")
    print(
        "\nRisk of lognormal losses in the mean over batches of 64, over the exact one:"
    )
    losses = np.random.default_rng(0).lognormal(size=(20_000, BATCH))
    for q in (0.5, 0.9, 0.95, 0.99):
        exact = risk(losses.ravel(), f"superquantile:{q}")
        own = SpectralRisk(f"superquantile:{q}")
        with torch.no_grad():
            told = [float(own(batch)) for batch in torch.from_numpy(losses)]
        print(f"  superquantile {q}: {np.mean(told) / exact:.3f}")


def minimum(options: argparse.Namespace) -> None:
    """How far a linear model stays above the certified minimum of the training risk.

    Adam with a cosine schedule, as many rows seen as in 100 epochs.
    """
    print("| data | spectrum | batch | the batch's own tail | RiskTable |")
    print("|---|---|---|---|---|")
    for name in ("synthetic", "diabetes"):
        for q in (0.95, 0.99):
            for size in (16, BATCH):
                spectrum = f"superquantile:{q}"
                told = [
                    np.mean(
                        [_above(task(name, k), k, spectrum, size, r) for k in (0, 1)]
                    )
                    for r in (by_batch, by_table)
                ]
                cells = " | ".join(f"{100 * above:.2f} %" for above in told)
                print(f"| {name} | {spectrum} | {size} | {cells} |", flush=True)


def _above(
    rows: Task,
    seed: int,
    spectrum: str,
    size: int,
    reducer: Callable[[str, int], Reducer],
) -> float:
    X, y = torch.tensor(rows.X), torch.tensor(rows.y)
    proven = RiskRegressor(spectrum, alpha=1e-6 * len(y)).fit(rows.X, rows.y)
    torch.manual_seed(seed)
    model = nn.Linear(X.shape[1], 1, dtype=torch.float64)
    nn.init.zeros_(model.weight)
    nn.init.zeros_(model.bias)
    reduce, count = reducer(spectrum, len(y)), 100 * len(y) // size
    adam = torch.optim.Adam(model.parameters(), lr=0.03)
    # It ends above zero: the last steps are small, not nothing.
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(adam, count + 50)
    places = itertools.chain.from_iterable(
        torch.randperm(len(y)).split(size) for _ in itertools.count()
    )
    for here in itertools.islice(places, count):
        losses = 0.5 * (model(X[here])[:, 0] - y[here]) ** 2
        adam.zero_grad()
        reduce(losses, here).backward()
        adam.step()
        schedule.step()
    with torch.no_grad():
        losses = 0.5 * (model(X)[:, 0] - y) ** 2
    return risk(losses.numpy(), spectrum) / proven.objective_ - 1.0


def steps(options: argparse.Namespace) -> None:
    """CPU time of a training step over that with a mean: medians of pairs."""
    torch.set_num_threads(1)
    table = RiskTable(ROWS, "superquantile:0.9")
    with torch.no_grad():
        for rows in torch.randperm(ROWS).split(65_536):
            table(torch.rand(len(rows)), rows)
    reducers: dict[str, Reducer] = {"mean": ordinary, "RiskTable, n=1e6": table}
    for given in (("superquantile:0.9",), ("esrm:2", "l2", 100.0)):
        reducers[f"SpectralRisk{given}"] = by_module(SpectralRisk(*given))
    for size in (4096, BATCH):
        step = _step(size)
        for reduce in reducers.values():
            step(reduce)
        pairs = [{name: step(r) for name, r in reducers.items()} for _ in range(15)]
        base = statistics.median(told["mean"] for told in pairs)
        print(f"batch {size}: {1e3 * base:.2f} ms with a mean")
        for name in list(reducers)[1:]:
            ratio = statistics.median(told[name] / told["mean"] for told in pairs)
            print(f"  {name}: {100 * (ratio - 1):+.1f} %")
    losses, ratios = torch.rand(10_000_000), []
    weigh = SpectralRisk("superquantile:0.9")
    with torch.no_grad():
        for _ in range(3):
            began = time.process_time()
            torch.sort(losses)
            sort = time.process_time() - began
            began = time.process_time()
            weigh(losses)
            ratios.append((time.process_time() - began) / sort)
    print(f"SpectralRisk of 1e7 losses: {min(ratios):.2f} × torch.sort, on this CPU")


def _step(size: int) -> Callable[[Reducer], float]:
    """CPU time of a step of an MLP, 64-256-256-1, at a size of batches."""
    model = nn.Sequential(
        nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1)
    )
    adam = torch.optim.Adam(model.parameters())
    X, y = torch.randn(size, 64), torch.randn(size)
    count = max(4096 // size, 4)

    def timed(reduce: Reducer) -> float:
        places = [torch.randint(0, ROWS, (size,)) for _ in range(count)]
        began = time.process_time()
        for rows in places:
            adam.zero_grad()
            reduce((model(X)[:, 0] - y) ** 2, rows).backward()
            adam.step()
        return (time.process_time() - began) / count

    return timed


def by_module(module: nn.Module) -> Reducer:
    return lambda losses, rows: module(losses)


PARTS = {"batches": batches, "minimum": minimum, "steps": steps}
