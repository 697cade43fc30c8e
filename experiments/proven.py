"""Bounds of the spectral and the subquantile paper drawn against measurements.

Propositions 1 and 3 and corollary 15 of the spectral paper, theorem 7 of the
subquantile paper (as printed it contracts what does not) and its concentration lemmas.
"""

from typing import Any

import numpy as np
from scipy.special import gammaln

from experiments._data import load, standardised
from experiments._drawing import grid, style
from experiments._experiment import Cell, Experiment, Record, Settings
from experiments._page import Page
from experiments._spectral import problem, reference, spectra
from experiments.halving import rows_of
from lrisk import risk
from lrisk.analysis import bounds
from lrisk.datasets import corrupt_labels
from lrisk.losses import Logistic
from lrisk.solvers import SGD
from lrisk.solvers.choice import automatic_solver
from lrisk.spectra import parse_spectrum

TITLES = {
    "risk": "Proposition 1: mean squared error of an empirical risk",
    "minibatch": "Corollary 15: bias of a minibatch's risk",
    "sgd": "Proposition 3: suboptimality of minibatch SGD",
    "descent": "Theorem 7, corrected: distance to the truth over the steps",
}
WORDS = {
    "risk": "exponential losses, n on the axis, p = 4",
    "minibatch": "100 exponential losses, m rows in a batch on the axis",
    "sgd": "logistic loss, 200 rows, batches of 16, μ = 0.5, steps T on the axis",
    "descent": "linear kernel on concrete, labels drawn from N(5, 5²), steps on the "
    "axis",
}


def cells(settings: Settings) -> list[Cell]:
    found: list[Cell] = []
    for name, spectrum in spectra().items():
        own = {"risk": name, "spectrum": spectrum}
        draws = settings.choose(4000, 1000, 300)
        sizes = settings.choose((10, 30, 100, 300, 1000), (10, 100, 1000), (10, 100))
        found.append({"kind": "risk", **own, "at": list(sizes), "draws": draws})
        sizes = settings.choose((1, 2, 5, 10, 30, 60, 99), (1, 5, 30, 99), (1, 30))
        found.append({"kind": "minibatch", **own, "at": list(sizes), "draws": draws})
        sizes = settings.choose(
            (100, 1000, 10_000, 100_000), (100, 1000, 10_000), (100,)
        )
        found.append({"kind": "sgd", **own, "at": list(sizes), "seeds": settings.seeds})
    for share in settings.choose((0.1, 0.2, 0.3, 0.4), (0.2, 0.4), (0.2,)):
        steps = settings.choose(3000, 1000, 300)
        found.append(
            {"kind": "descent", "risk": f"ε = {share}", "share": share, "steps": steps}
        )
    return found


def run(cell: Cell) -> Record:
    return {"risk": _risk, "minibatch": _minibatch, "sgd": _sgd, "descent": _descent}[
        cell["kind"]
    ](cell)


def _risk(cell: Cell) -> Record:
    rng = np.random.default_rng(0)
    t = (np.arange(2_000_000) + 0.5) / 2_000_000
    known = parse_spectrum(cell["spectrum"])
    truth = np.mean(known.density(t) * -np.log1p(-t))
    measured, bound = [], []
    for n in cell["at"]:
        losses = np.sort(rng.exponential(size=(cell["draws"], n)), axis=1)
        measured.append(float(np.mean((losses @ known.weights(n) - truth) ** 2)))
        bound.append(bounds.risk_error_bound(known, n, moment=24.0, p=4.0))
    return {"at": cell["at"], "measured": measured, "bound": bound}


def mean_order_statistics(ordered: Any, m: int) -> Any:
    """E X_(j) of m drawn without replacement from these n, exactly; shape (m,).

    P(X_(j) = x_(i)) = C(i−1, j−1) C(n−i, m−j) / C(n, m).
    """
    n = len(ordered)
    i, j = np.arange(1, n + 1)[:, None], np.arange(1, m + 1)[None]
    logs = np.full((n, m), -np.inf)
    fits = (j <= i) & (m - j <= n - i)
    rows, columns = np.nonzero(fits)
    a, b = rows + 1, columns + 1
    logs[rows, columns] = (
        _log_choose(a - 1, b - 1) + _log_choose(n - a, m - b) - _log_choose(n, m)
    )
    return ordered @ np.exp(logs)


def _log_choose(n: Any, k: Any) -> Any:
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def _minibatch(cell: Cell) -> Record:
    rng = np.random.default_rng(1)
    losses = np.sort(rng.exponential(size=100))
    known = parse_spectrum(cell["spectrum"])
    whole = risk(losses, known)
    measured, bound = [], []
    for m in cell["at"]:
        mean = mean_order_statistics(losses, m) @ known.weights(m)
        measured.append(float(abs(mean - whole)))
        bound.append(bounds.minibatch_bias_bound(known, 100, m, float(losses.max())))
    return {"at": cell["at"], "measured": measured, "bound": bound}


def _sgd(cell: Cell) -> Record:
    X, y = rows_of("simulated", 200)
    mu, m = 0.5, 16
    objective = problem(X, y, cell["spectrum"], mu * len(y), Logistic())
    least = reference(objective, automatic_solver(objective)(tol=1e-10)).low
    G = float(np.linalg.norm(X, axis=1).max())
    largest = float(np.logaddexp(0.0, G * G / mu))
    measured, bound = [], []
    per_epoch = len(y) // m
    for steps in cell["at"]:
        ends = []
        for seed in range(cell["seeds"]):
            solver = SGD(
                batch_size=m, learning_rate="theory",
                max_epochs=max(1, steps // per_epoch),
            )  # fmt: skip
            rng = np.random.default_rng(seed)
            ends.append(solver.run(objective, rng=rng, proof=False).objective)
        measured.append(float(max(np.mean(ends) - least, 1e-16)))
        taken = max(1, steps // per_epoch) * per_epoch
        terms = bounds.sgd_bound(cell["spectrum"], len(y), m, taken, G, mu, largest)
        bound.append(terms.total)
    return {"at": cell["at"], "measured": measured, "bound": bound}


def _descent(cell: Cell) -> Record:
    """The paper's algorithm on concrete, against f* of the right rows plus noise."""
    X, y = load("concrete")
    X, y = standardised(X)[0], standardised(y[:, None])[0][:, 0]
    truth = np.linalg.lstsq(X, y, rcond=None)[0]
    # A linear truth with the residuals' noise: what the theorem assumes of the rows.
    rng = np.random.default_rng(0)
    y = X @ truth + rng.normal(size=len(y)) * (y - X @ truth).std()
    bad = corrupt_labels(X, y, fraction=cell["share"], random_state=0)
    wrong, y, h = bad.mask, bad.y, int((~bad.mask).sum())
    largest = float(np.linalg.norm(X, 2) ** 2)
    w, path, smallest, pull = np.zeros(X.shape[1]), [], np.inf, 0.0
    off = X @ truth - y
    for _ in range(cell["steps"] + 1):
        path.append(float(np.linalg.norm(w - truth)))
        residual = X @ w - y
        kept = np.argpartition(residual**2, h - 1)[:h]
        right, false = kept[~wrong[kept]], kept[wrong[kept]]
        smallest = min(smallest, float(np.linalg.eigvalsh(X[right].T @ X[right])[0]))
        parts = [np.linalg.norm(X[rows].T @ off[rows]) for rows in (right, false)]
        pull = max(pull, float(sum(parts)))
        w = w - X[kept].T @ residual[kept] / largest
    at = np.unique(np.geomspace(1, cell["steps"], 12).astype(int)).tolist()
    bound = [
        bounds.trimmed_descent_bound(path[0], t, smallest, largest, pull) for t in at
    ]
    contraction = smallest / largest
    printed = [(1.0 - contraction) ** t * (path[0] + 2.0 * pull) for t in at]
    return {
        "at": at, "measured": [path[t] for t in at], "bound": bound,
        "printed": printed,
        "steps": [
            bounds.trimmed_descent_steps(path[0], 0.1 * path[0], contraction),
            bounds.trimmed_descent_steps(
                path[0], 0.1 * path[0], contraction, printed=True
            ),
        ],
    }  # fmt: skip


def report(records: list[Record], page: Page) -> None:
    page.say(
        "What the papers prove, beside what is measured (`lrisk.analysis.bounds` has "
        "the bounds as functions). A bound that holds in every row says nothing about "
        "how tight it is: the last column does."
    )
    for kind, title in TITLES.items():
        own = [r for r in records if r["cell"]["kind"] == kind]
        page.heading(title)
        page.say(f"{WORDS[kind][0].upper()}{WORDS[kind][1:]}.")
        rows, holds, total, loose = [], 0, 0, []
        for record in own:
            for at, measured, bound in zip(
                record["at"], record["measured"], record["bound"]
            ):
                total += 1
                holds += measured <= bound + 1e-12
                if bound > 0 and measured > 1e-12:
                    loose.append(bound / measured)
                ratio = f"{bound / measured:.3g}" if measured > 1e-12 else "–"
                rows.append(
                    (
                        record["cell"]["risk"],
                        at,
                        f"{measured:.3g}",
                        f"{bound:.3g}",
                        ratio,
                    )
                )
        page.table(["case", "at", "measured", "bound", "bound / measured"], rows)
        words = f"The bound holds in {holds} of {total} rows"
        if loose:
            span = f"{np.min(loose):.2g} to {np.max(loose):.2g}"
            words += f"; it is {span} times the measurement"
        page.say(words + ".")
        if kind == "minibatch":
            page.say(
                "Biases are exact: the expectations of the order statistics of a draw "
                "without replacement. The mean has none (lemma 12)."
            )
        if kind == "descent":
            false = [
                r["cell"]["risk"] for r in own if r["printed"][-1] < r["measured"][-1]
            ]
            steps = "; ".join(
                f"{r['cell']['risk']}: {r['steps'][0]:.0f}, printed {r['steps'][1]:.0f}"
                for r in own
            )
            page.say(
                "Equation 112 contracts a quantity that contains the noise of the kept "
                "rows; as printed it is below the measured distance at the last step "
                f"for {', '.join(false) or 'none'}. Steps to a tenth of the first "
                "distance, by equation 118 with ε inside the logarithm and as "
                "printed: "
                f"{steps}."
            )
    page.figure(_drawn(records), "Measured (solid) and bound (dashed).")


def _drawn(records: list[Record]) -> Any:
    figure, axes = grid(1, len(TITLES), width=2.9, height=2.6)
    for ax, kind in zip(axes[0], TITLES):
        own = [r for r in records if r["cell"]["kind"] == kind]
        for index, record in enumerate(own):
            colour = style(index)["color"]
            measured = np.maximum(record["measured"], 1e-9)
            ax.loglog(
                record["at"], measured, color=colour, label=record["cell"]["risk"]
            )
            if min(record["bound"]) > 0:
                ax.loglog(record["at"], record["bound"], "--", color=colour)
        ax.set_title(TITLES[kind].split(":")[0], fontsize=9)
        ax.legend(fontsize=6)
    return figure


EXPERIMENT = Experiment(
    name="bounds",
    paper="spectral",
    title="Bounds of the papers against measurements",
    cells=cells,
    run=run,
    report=report,
)
