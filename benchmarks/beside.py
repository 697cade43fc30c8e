"""lrisk beside what people use for the same: the figures of the README.

``python -m benchmarks.beside`` prints the README's table, in a few minutes on one core.
cvxpy, cleanlab and robpy are compared where they are installed; of those that are not
the line is missing. Compiling is done before anything is timed, times are of the
processor, and fits that are compared take turns.
"""

import functools
import importlib.util
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import HuberRegressor, LogisticRegression, QuantileRegressor
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lrisk

HEAD = "| | others | lrisk |", "|---|---|---|"
#: What is compared, by part: the README's first column.
WHAT = {
    "quantile": ["0.9-quantile, 10,000 rows, 10 columns: time, at the same loss"],
    "solver": ["mean of the worst tenth, 5,000 rows, 20 columns: time, at the same "
               "minimum"],
    "bad_scales": ["columns of sizes 1 to 10⁶, a tenth of the targets wrong: error of "
                   "the line, in noise scales"],
    "trimmed": ["least trimmed squares, 400 rows, 40 % of them far out: right lines, "
                "time"],
    "false_alarms": ["numbers, nothing wrong: rows flagged",
                     "numbers, 5 % wrong: wrong rows found, right rows flagged"],
    "false_labels": ["labels, nothing wrong: rows flagged",
                     "labels, 10 % wrong: wrong rows found, right rows flagged"],
}  # fmt: skip


class Line(NamedTuple):
    """What the others do, and what lrisk does."""

    others: str
    ours: str


def cpu_seconds(*fits: Callable[[], Any], turns: int) -> list[float]:
    """The median time of each fit; they take turns, so that all meet the same load."""
    taken: list[list[float]] = [[] for _ in fits]
    for _ in range(turns):
        for fit, seconds in zip(fits, taken):
            began = time.process_time()
            fit()
            seconds.append(time.process_time() - began)
    return [statistics.median(seconds) for seconds in taken]


def installed(package: str) -> bool:
    if found := importlib.util.find_spec(package) is not None:
        return found
    print(f"({package} is not installed: its line is missing)")
    return False


def times(ratio: float) -> str:
    """A ratio in two digits: more would not be the same tomorrow."""
    return f"{float(f'{ratio:.2g}'):g}"


def percent(share: float) -> str:
    return f"{times(100.0 * share)} %"


# -- speed, for the same objective -----------------------------------------------------


def quantile() -> Iterator[Line]:
    """Both without a penalty, or with none to speak of: the same pinball loss."""
    n, q = 10_000, 0.9
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    y = X.sum(axis=1) + rng.standard_t(3, size=n)
    theirs = QuantileRegressor(quantile=q, alpha=0.0)
    ours = lrisk.RiskRegressor("mean", loss=f"pinball:{q}", alpha=1e-6)
    ours.fit(X, y)
    slow, fast = cpu_seconds(lambda: theirs.fit(X, y), lambda: ours.fit(X, y), turns=3)

    def pinball(model: Any) -> float:
        away = y - model.predict(X)
        return float(np.mean(np.maximum(q * away, (q - 1.0) * away)))

    above = pinball(ours) / pinball(theirs) - 1.0
    yield Line(
        f"`QuantileRegressor` {times(slow / fast)}",
        f"1, loss {above:+.0e}",
    )


def solver() -> Iterator[Line]:
    """The worst tenth of squared losses, as cvxpy's users write it."""
    if not installed("cvxpy"):
        return
    import cvxpy as cp

    n, d, q, alpha = 5_000, 20, 0.9, 1.0
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = X.sum(axis=1) + rng.standard_t(4, size=n)
    ours = lrisk.RiskRegressor(f"superquantile:{q}", alpha=alpha)
    ours.fit(X, y)
    found = {}

    def general() -> None:
        w, b, t = cp.Variable(d), cp.Variable(), cp.Variable()
        losses = 0.5 * cp.square(y - X @ w - b)
        tail = t + cp.sum(cp.pos(losses - t)) / ((1.0 - q) * n)
        problem = cp.Problem(
            cp.Minimize(tail + alpha / (2 * n) * cp.sum_squares(w))
        )  # fmt: skip
        found["value"] = problem.solve(solver=cp.CLARABEL)

    slow, fast = cpu_seconds(general, lambda: ours.fit(X, y), turns=3)
    yield Line(
        f"cvxpy with Clarabel {times(slow / fast)}",
        f"1, minimum {ours.objective_ / found['value'] - 1.0:+.0e}",
    )


# -- wrong rows ------------------------------------------------------------------------


def bad_scales() -> Iterator[Line]:
    """A tenth of the targets wrong, columns of sizes between 1 and 10⁶."""
    errors: dict[str, list[float]] = {"plain": [], "scaled": [], "ours": []}
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(500, 4)) * [1.0, 1e2, 1e4, 1e6]
        clean = X @ [1.0, 1e-2, 1e-4, 1e-6]
        y = clean + 0.1 * rng.normal(size=500)
        y[:50] += 30.0
        huber = HuberRegressor(max_iter=1000)
        models = {
            "plain": huber,
            "scaled": make_pipeline(StandardScaler(), huber),
            "ours": lrisk.RobustRegressor(random_state=seed),
        }
        for name, model in models.items():
            away = model.fit(X, y).predict(X) - clean
            errors[name].append(float(np.sqrt(np.mean(away**2)) / 0.1))
    told = {name: times(statistics.median(own)) for name, own in errors.items()}
    yield Line(
        f"`HuberRegressor` {told['plain']}, after `StandardScaler` {told['scaled']}",
        told["ours"],
    )


def trimmed() -> Iterator[Line]:
    """Four rows in ten lie together, far out, off the line: least trimmed squares."""
    if not installed("robpy"):
        return
    import logging

    from robpy.regression import FastLTSRegression

    keep, count = 0.55, 10
    won, seconds = {"theirs": 0, "ours": 0}, {"theirs": 0.0, "ours": 0.0}

    def judge(name: str, fit: Callable[..., Any], X: Any, y: Any, far: int) -> None:
        began = time.process_time()
        model = fit(X, y)
        seconds[name] += time.process_time() - began
        away = np.asarray(model.predict(X[far:])).ravel() - X[far:].sum(axis=1)
        won[name] += bool(np.sqrt(np.mean(away**2)) < 0.1)

    lrisk.RiskRegressor(f"subquantile:{keep}").fit(np.eye(20, 2), np.arange(20.0))
    for seed in range(count):
        rng = np.random.default_rng(seed)
        n, d, far = 400, 8, 160
        X = rng.normal(size=(n, d))
        y = X.sum(axis=1) + 0.1 * rng.normal(size=n)
        X[:far] = 5.0 + 0.1 * rng.normal(size=(far, d))
        y[:far] = -10.0 + 0.1 * rng.normal(size=far)
        rival = FastLTSRegression(alpha=keep, reweighting=False, random_state=seed)
        quiet = functools.partial(rival.fit, verbosity=logging.ERROR)
        own = lrisk.RiskRegressor(f"subquantile:{keep}", alpha=1e-6, random_state=seed)
        judge("theirs", quiet, X, y, far)
        judge("ours", own.fit, X, y, far)
    ratio = seconds["theirs"] / seconds["ours"]
    yield Line(
        f"robpy's `FastLTSRegression` {won['theirs']} of {count}, {times(ratio)}",
        f"{won['ours']} of {count}, 1",
    )


def false_alarms() -> Iterator[Line]:
    """Tables of 1,000 rows: first nothing is wrong, then fifty targets are."""
    flags: dict[str, list[int]] = {name: [0, 0, 0] for name in ("theirs", "ours")}
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1000, 5))
        clean = X.sum(axis=1) + rng.normal(size=1000)
        dirty = clean.copy()
        dirty[:50] += 10.0 * rng.choice([-1.0, 1.0], size=50)
        for y in (clean, dirty):
            table = np.column_stack([X, y])
            theirs = IsolationForest(random_state=seed).fit_predict(table) < 0
            ours = ~lrisk.RobustRegressor(random_state=seed).fit(X, y).inlier_mask_
            for name, found in (("theirs", theirs), ("ours", ours)):
                if y is clean:
                    flags[name][0] += int(found.sum())
                else:
                    flags[name][1] += int(found[:50].sum())
                    flags[name][2] += int(found[50:].sum())
    told = {n: (a / 5000, b / 250, c / 4750) for n, (a, b, c) in flags.items()}
    yield Line(
        f"`IsolationForest` {percent(told['theirs'][0])}",
        f"{percent(told['ours'][0])}",
    )
    yield Line(
        f"`IsolationForest` {percent(told['theirs'][1])}, {percent(told['theirs'][2])}",
        f"{percent(told['ours'][1])}, {percent(told['ours'][2])}",
    )


def false_labels() -> Iterator[Line]:
    """Classes that overlap: a row on the wrong side need not be mislabelled."""
    if not installed("cleanlab"):
        return
    from cleanlab.filter import find_label_issues

    counts: dict[str, list[int]] = {name: [0, 0, 0] for name in ("theirs", "ours")}
    n, wrong = 2_000, 200
    for seed in range(5):
        rng = np.random.default_rng(seed)
        clean = rng.integers(2, size=n)
        X = rng.normal(size=(n, 5)) + clean[:, None]
        dirty = clean.copy()
        dirty[:wrong] = 1 - dirty[:wrong]
        for y in (clean, dirty):
            proba = cross_val_predict(
                LogisticRegression(), X, y, cv=5, method="predict_proba"
            )  # fmt: skip
            theirs = find_label_issues(y, proba, n_jobs=1)
            judge = lrisk.LabelErrorDetector(LogisticRegression(), random_state=seed)
            ours = ~judge.fit(X, y).inlier_mask_
            for name, found in (("theirs", theirs), ("ours", ours)):
                if y is clean:
                    counts[name][0] += int(found.sum())
                else:
                    counts[name][1] += int(found[:wrong].sum())
                    counts[name][2] += int(found[wrong:].sum())
    told = {
        name: (a / (5 * n), b / (5 * wrong), c / (5 * (n - wrong)))
        for name, (a, b, c) in counts.items()
    }
    yield Line(
        f"cleanlab {percent(told['theirs'][0])}",
        f"{percent(told['ours'][0])}",
    )
    yield Line(
        f"cleanlab {percent(told['theirs'][1])}, {percent(told['theirs'][2])}",
        f"{percent(told['ours'][1])}, {percent(told['ours'][2])}",
    )


PARTS = (quantile, solver, bad_scales, trimmed, false_alarms, false_labels)


def main() -> None:
    print(*HEAD, sep="\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for part in PARTS:
            for what, line in zip(WHAT[part.__name__], part()):
                print(f"| {what} | {line.others} | {line.ours} |", flush=True)


if __name__ == "__main__":
    main()
