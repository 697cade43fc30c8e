"""What the tables of the subquantile paper share: rows, its algorithm, the methods.

Rows: 80 % train and 20 % test, drawn by the seed; a regression target is standardised
by the training rows, then some of these are made wrong; features are standardised by
the right ones. The other methods and their search of alpha and gamma are those of the
benchmarks.
"""

import functools
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from benchmarks._robust_classifiers import CLASS_METHODS, ClassTrial
from benchmarks._robust_data import Rows
from benchmarks._robust_regressors import METHODS, Outcome, Trial
from benchmarks._robust_tuning import keeping, lowest_mean
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.svm import SVC

import lrisk
from experiments._data import load, parts
from experiments._experiment import Cell, Record
from lrisk.datasets import corrupt_classes, corrupt_labels, corrupt_rows
from lrisk.solvers import SubquantileGradient

#: Names in the records, and on the pages where these give no other.
PAPERS = "SUBQUANTILE"
#: The same with the filter of the paper's section 3.2 (table 3).
FILTERED = "SUBQUANTILE, filtered"
#: lrisk's trimmed fit, by the name it has in records; pages show another.
EXACT = "trimmed, exact"
ROBUST = {False: "RobustRegressor", True: "RobustClassifier"}
ORACLE = "Oracle ERM"
#: What the paper's own rows do not have.
ADDED = ("KRR, tuned", FILTERED, EXACT, *ROBUST.values())

#: Numbers of steps to choose from where the paper states none.
STEPS = (100, 1_000, 10_000, 100_000)
CLASS_STEPS = (100, 1_000, 10_000)
#: Whose target the printed errors show not to be standardised.
RAW_TARGETS = ("drug_qsar",)


# -- rows ------------------------------------------------------------------------------


def whole(name: str) -> tuple[Any, Any]:
    """All rows of a data set."""
    if name != "drug_qsar":
        return load(name)
    part = parts(name)
    X = np.vstack([part["X_train"], part["X_test"]]).astype(float)
    return X, np.concatenate([part["y_train"].ravel(), part["y_test"].ravel()])


def divided(X: Any, y: Any, seed: int, most: int | None) -> tuple[Any, Any, Any, Any]:
    """Training rows (at most so many) and test rows."""
    order = np.random.default_rng(seed).permutation(len(y))
    count = int(0.8 * len(y))
    train, test = order[:count][:most], order[count:][:2000]
    varied = X[train].std(axis=0) > 0
    X = X[:, varied]
    return X[train], y[train], X[test], y[test]


def corrupted(cell: Cell, *, classes: bool) -> Rows:
    """The rows of a cell: data, noise, share, seed, rows (the most to train on)."""
    name, seed, share = cell["data"], cell["seed"], cell["share"]
    X, y, test_X, test_y = divided(*whole(name), seed, cell.get("rows"))
    if not classes and name not in RAW_TARGETS:
        middle, spread = y.mean(), y.std()
        y, test_y = (y - middle) / spread, (test_y - middle) / spread
    options = {"fraction": share, "random_state": seed}
    if cell["noise"] == "label":
        bad = (corrupt_classes if classes else corrupt_labels)(X, y, **options)
    else:
        # About the means, which is about zero once the columns are standardised.
        target: Any = "flip" if classes else "scale"
        bad = corrupt_rows(X, y, about="mean", target=target, **options)
    return Rows(bad.X, bad.y, bad.mask, (), test_X, test_y)


# -- the paper's algorithm -------------------------------------------------------------


def along(
    model: Any, steps: Iterable[int], X: Any, y: Any, **options: Any
) -> Iterator[Any]:
    """The model after each of these numbers of steps, going on from the last one.

    `options` are those of `SubquantileGradient`.
    """
    model.set_params(warm_start=True)
    done = 0
    for total in steps:
        solver = SubquantileGradient(max_iter=total - done, **options)
        yield model.set_params(solver=solver).fit(X, y)
        done = total


def paper_model(rows: Rows, kernel: str, gamma: float | None, classes: bool) -> Any:
    """The paper's algorithm: told the number of wrong rows, without ridge.

    Linear classes are fitted by their coefficients, which takes the same steps; linear
    regression in the kernel's space, where steps can be skipped.
    """
    spectrum = keeping(len(rows.y) - rows.wrong, len(rows.y))
    if classes and kernel == "linear":
        return lrisk.RiskClassifier(spectrum, alpha=0.0, fit_intercept=False)
    make = lrisk.KernelRiskClassifier if classes else lrisk.KernelRiskRegressor
    return make(spectrum, kernel=kernel, gamma=gamma, alpha=0.0)


def held_out(model: Any, X: Any, y: Any, classes: bool) -> Any:
    """Loss of each row that the model has not seen."""
    if not classes:
        return (y - model.predict(X)) ** 2
    chances = np.maximum(model.predict_proba(X), 1e-12)
    return -np.log(chances[np.arange(len(y)), np.searchsorted(model.classes_, y)])


def held_out_losses(
    make: Callable[[], Any],
    rows: Rows,
    steps: Sequence[int],
    classes: bool,
    **options: Any,
) -> list[float]:
    """Held-out loss after these steps, in three folds, as many cut off as are wrong."""
    losses = np.empty((len(steps), len(rows.y)))
    folds: Any = (StratifiedKFold if classes else KFold)(
        3, shuffle=True, random_state=0
    )
    for train, held in folds.split(rows.X, rows.y):
        path = along(make(), steps, rows.X[train], rows.y[train], **options)
        for which, model in enumerate(path):
            losses[which, held] = held_out(model, rows.X[held], rows.y[held], classes)
    return [lowest_mean(row, rows.wrong) for row in losses]


def by_gradient(
    trial: Trial, steps: Sequence[int], stated: int | None, radius: float | None
) -> Outcome:
    """The paper's algorithm, with the stated number of steps or a chosen one.

    `extra` has the test error after each of `steps`, for the record, and the share of
    rows kept of the (observed) class of which least is kept.
    """
    classes = isinstance(trial, ClassTrial)
    rows = trial.given
    gamma = None if trial.kernel == "linear" else trial.known_share[0].gamma
    make = functools.partial(paper_model, rows, trial.kernel, gamma, classes)
    began = time.process_time()
    best = stated
    if best is None:
        losses = held_out_losses(make, rows, steps, classes, radius=radius)
        best = steps[int(np.argmin(losses))]
    path: dict[str, float] = {}
    extra: dict[str, Any] = {"steps": best, "path": path, "gamma": gamma}
    predicted = None
    for total, model in zip(steps, along(make(), steps, rows.X, rows.y, radius=radius)):
        values = model.predict(rows.test_X)
        path[str(total)] = error(values, rows.test_y, classes)
        if total == best:
            predicted = values
            if classes:
                kept = [model.inlier_mask_[rows.y == k].mean() for k in model.classes_]
                extra["least_kept"] = float(min(kept))
    return Outcome(predicted, time.process_time() - began, extra)


# -- the others ------------------------------------------------------------------------


def error(predicted: Any, truth: Any, classes: bool) -> float:
    """RMSE, or accuracy for classes."""
    if classes:
        return float(np.mean(predicted == truth))
    return float(np.sqrt(np.mean((predicted - truth) ** 2)))


def _plain(trial: Trial) -> Outcome:
    """As scikit-learn gives it, on features standardised by the right rows."""
    rows = trial.given
    began = time.process_time()
    if isinstance(trial, ClassTrial):
        # Far-out rows can keep libsvm busy for ever.
        model: Any = SVC(kernel=trial.kernel, max_iter=200_000)
    else:
        model = KernelRidge(kernel=trial.kernel)
    predicted = model.fit(rows.X, rows.y).predict(rows.test_X)
    return Outcome(predicted, time.process_time() - began, {})


def methods(classes: bool) -> dict[str, Callable[[Trial], Outcome]]:
    """Every method but the paper's, by the name on the page."""
    known: Any = CLASS_METHODS if classes else METHODS
    taken = {"KRR, tuned": "ordinary", EXACT: "subquantile", ORACLE: "oracle"}
    taken[ROBUST[classes]] = "robust"
    taken |= {name: name for name in ("RANSAC", "CRR", "STIR", "SEVER", "TERM")}
    found = {name: known[own][0] for name, own in taken.items() if own in known}
    return found | dict.fromkeys(("KRR", "SVM", "SVC"), _plain)


def run_methods(
    cell: Cell,
    *,
    kernel: str,
    classes: bool,
    steps: Sequence[int],
    stated: int | None = None,
    radius: float | None = None,
) -> Record:
    """Test errors of the cell's methods, and what the paper's algorithm chose.

    Of `steps` one is chosen on the training rows unless one is `stated`.
    """
    rows = corrupted(cell, classes=classes)
    trial = (ClassTrial if classes else Trial)(rows, kernel, cell["seed"])
    known = methods(classes)
    found: Record = {"error": {}, "cpu_of": {}, "failed": {}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in cell["methods"]:
            try:
                if name == PAPERS:
                    outcome = by_gradient(trial, steps, stated, radius)
                    found |= outcome.extra
                else:
                    outcome = known[name](trial)
            except (ValueError, ArithmeticError, np.linalg.LinAlgError) as problem:
                found["failed"][name] = f"{type(problem).__name__}: {problem}"
                continue
            found["error"][name] = error(outcome.predicted, rows.test_y, classes)
            found["cpu_of"][name] = outcome.cpu
    return found
