"""Certified fits of up to a million rows, beside what others do with the same data.

Everything in one process on one core: run it with OMP_NUM_THREADS=1. Times are CPU
times, in milliseconds and in mv, the time of one ``X @ w`` on the same data measured
between the fits. ``gap`` is the proven relative gap of lrisk; for the others ``error``
is what they end above the certified minimum, where they minimise the same objective.
"""

import ctypes
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize
from sklearn.linear_model import LogisticRegression, Ridge

import lrisk

SPECTRA = ("superquantile:0.5", "superquantile:0.9", "extremile:2", "esrm:1")
SIZES = ((1_000, 10), (100_000, 50), (1_000_000, 50))
#: Limits in mv at the largest size.
LIMITS = {
    ("squared", "superquantile"): 27,
    ("squared", "extremile"): 15,
    ("squared", "esrm"): 15,
    ("logistic", "superquantile"): 38,
    ("logistic", "extremile"): 26,
    ("logistic", "esrm"): 26,
}
#: Times the time of a tenth of the rows that the largest size may take.
GROWTH = 13
#: Milliseconds that a fit of the smallest size may take at the default tolerance.
SMALL_MS = {"squared": 3.0, "logistic": 5.0}
#: Tolerance of all other fits, and the default.
TOL, USUAL = 1e-10, 1e-6


class Data(NamedTuple):
    """One set of rows."""

    loss: str
    ill: bool
    X: Any
    y: Any
    sharp: bool = False

    @property
    def label(self) -> str:
        """What it is, in words."""
        kind = "ill-conditioned" if self.ill else "isotropic"
        kind += ", classes far apart" if self.sharp else ""
        return f"{self.loss}, n={len(self.y):.0e}, d={self.X.shape[1]}, {kind}"


def make(n: int, d: int, loss: str, ill: bool, sharp: bool = False) -> Data:
    """Gaussian features, mixed to cond(XᵀX) ≈ 1e4 if asked; noisy targets.

    Of classes that overlap a superquantile's best fit is w = 0; `sharp` ones do not.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    if loss == "squared":
        y = X @ w + rng.standard_normal(n)
        y = (y - y.mean()) / y.std()
    else:
        slope = 40.0 if sharp else 2.0
        chance = 1.0 / (1.0 + np.exp(-slope * (X @ w) / np.sqrt(d)))
        y = (rng.random(n) < chance).astype(float)
    if ill:
        basis, _ = np.linalg.qr(rng.standard_normal((d, d)))
        mix = (basis * np.logspace(0, -2, d)) @ basis.T
        for i in range(0, n, 10_000):  # in place: one such array is enough
            X[i : i + 10_000] = X[i : i + 10_000] @ mix
        X /= X.std(axis=0)
    return Data(loss, ill, X, y, sharp)


class Clock:
    """CPU times of jobs and, between them, of ``X @ w``."""

    def __init__(self, X: Any) -> None:
        self.X, self.w = X, np.ones(X.shape[1])
        self.products: list[float] = []

    def time(self, job: Callable[[], Any], repeats: int) -> tuple[float, Any]:
        """Median CPU time of a job, and what it returned."""
        taken = []
        for _ in range(repeats):
            self.product()
            began = time.process_time()
            result = job()
            taken.append(time.process_time() - began)
            self.product()
        return statistics.median(taken), result

    def product(self) -> None:
        """Time a product."""
        times = 1 if len(self.X) > 10_000 else 50
        began = time.process_time()
        for _ in range(times):
            self.X @ self.w
        self.products.append((time.process_time() - began) / times)

    @property
    def mv(self) -> float:
        """Median time of a product."""
        return statistics.median(self.products)


def show(name: str, taken: float, clock: Clock, rest: str) -> None:
    mv = taken / clock.mv
    print(f"  {name:<34}{1e3 * taken:>10.1f} ms{mv:>10.1f} mv  {rest}", flush=True)


def peak_extra(job: Callable[[], Any]) -> float | None:
    """Bytes of memory a job needs beyond what was there; None where unknown."""
    try:
        ctypes.CDLL("libc.so.6").malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")
        before = _status("VmRSS")
        job()
        return _status("VmHWM") - before
    except OSError:
        return None


def _status(key: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return 1024.0 * float(line.split()[1])
    raise OSError(key)


# -- lrisk ----------------------------------------------------------------------------


def estimator(loss: str, spectrum: str, tol: float = TOL) -> Any:
    kind = lrisk.RiskRegressor if loss == "squared" else lrisk.RiskClassifier
    return kind(spectrum, tol=tol)


def certified(
    data: Data, clock: Clock, repeats: int, spectra: tuple[str, ...] = SPECTRA
) -> dict[str, Any]:
    """Fit under every spectrum; the models and their times."""
    found = {}
    for spectrum in spectra:
        model = estimator(data.loss, spectrum)
        model.fit(data.X[:1000], data.y[:1000])  # compile
        model.fit(data.X, data.y)
        taken, _ = clock.time(lambda m=model: m.fit(data.X, data.y), repeats)
        rest = f"gap {model.dual_gap_:.1e}  {model.solver_}, {model.n_iter_} iterations"
        if len(data.y) >= 100_000:
            extra = peak_extra(lambda m=model: m.fit(data.X, data.y))
            if extra is not None:
                rows = extra / (8.0 * len(data.y))
                rest += f"  peak {extra / 1e6:.0f} MB = {rows:.1f}·8n bytes"
        show(f"lrisk {spectrum}", taken, clock, rest)
        found[spectrum] = (model, taken)
    return found


def small_fits(data: Data, clock: Clock) -> list[str]:
    """Whole warm fits of few rows at the default tolerance, and their verdicts."""
    said, limit = [], SMALL_MS[data.loss]
    for spectrum in SPECTRA:
        model = estimator(data.loss, spectrum, USUAL).fit(data.X, data.y)
        taken, _ = clock.time(lambda m=model: m.fit(data.X, data.y), 60)
        rest = f"tol {USUAL:.0e}, gap {model.dual_gap_:.1e}"
        show(f"lrisk {spectrum}", taken, clock, rest)
        said.append(
            f"  {data.label}, {spectrum}, tol {USUAL:.0e}: {1e3 * taken:.2f} ms "
            f"≤ {limit:g} {mark(1e3 * taken <= limit)}"
        )
    return said


# -- others ---------------------------------------------------------------------------


def scikit(data: Data, clock: Clock) -> dict[str, float]:
    """The mean loss, by scikit-learn."""
    jobs: dict[str, Any] = {"Ridge": Ridge()}
    if data.loss == "logistic":
        jobs = {
            f"LogisticRegression {solver}": LogisticRegression(
                solver=solver, tol=1e-8, max_iter=1000
            )
            for solver in ("newton-cholesky", "lbfgs")
        }
    times = {}
    for name, model in jobs.items():
        repeats = 5 if len(data.y) <= 1000 else 1
        taken, _ = clock.time(lambda m=model: m.fit(data.X, data.y), repeats)
        show(f"scikit-learn {name}", taken, clock, "(mean loss)")
        times[name] = taken
    return times


def losses_and_slopes(data: Data, z: Any) -> tuple[Any, Any]:
    if data.loss == "squared":
        return 0.5 * (z - data.y) ** 2, z - data.y
    sign = 1.0 - 2.0 * data.y
    return np.logaddexp(0.0, sign * z), sign / (1.0 + np.exp(-sign * z))


def scipy_fit(data: Data, spectrum: str, minimum: float, form: str, most: int) -> Any:
    """L-BFGS on the sorted losses, or with the threshold as one more variable."""
    n, d = data.X.shape
    family = lrisk.spectra.parse_spectrum(spectrum)
    sigma = family.weights(n) if form == "raw" else None
    best = [np.inf]

    def objective(v: Any) -> tuple[float, Any]:
        w, b = v[:d], v[d]
        losses, slopes = losses_and_slopes(data, data.X @ w + b)
        if sigma is not None:
            order = np.argsort(losses)
            weights = np.empty(n)
            weights[order] = sigma
            value, tail = float(weights @ losses), []
        else:
            over = losses > v[d + 1]
            share = 1.0 / (n * (1.0 - family.q))
            weights = share * over
            value = v[d + 1] + share * float(np.sum((losses - v[d + 1])[over]))
            tail = [1.0 - share * np.count_nonzero(over)]
        value += 0.5 / n * float(w @ w)
        best[0] = min(best[0], value)
        pulled = weights * slopes
        gradient = np.concatenate([data.X.T @ pulled + w / n, [pulled.sum()], tail])
        return value, gradient

    size = d + 1 + (sigma is None)
    options = {"maxiter": most, "maxfun": most, "maxcor": 20, "ftol": 0, "gtol": 1e-14}
    result = scipy.optimize.minimize(
        objective, np.zeros(size), jac=True, method="L-BFGS-B", options=options
    )
    return (best[0] - minimum) / minimum, result.nfev


def quasi_newton(data: Data, clock: Clock, found: dict[str, Any]) -> dict[str, float]:
    """L-BFGS of scipy on both forms; how much slower, to its own best accuracy."""
    times = {}
    large = len(data.y) > 100_000
    for spectrum in SPECTRA[:1] if large else SPECTRA:
        minimum = found[spectrum][0].objective_
        for form in ("raw", "Rockafellar–Uryasev"):
            if form != "raw" and not spectrum.startswith("super"):
                continue
            most = 60 if large else 1000
            taken, (error, calls) = clock.time(
                lambda s=spectrum, m=minimum, f=form, k=most: scipy_fit(
                    data, s, m, f, k
                ),
                1,
            )
            name = f"scipy L-BFGS {form[:11]} {spectrum}"
            show(name, taken, clock, f"error {error:.1e} after {calls} evaluations")
            times[f"{form} {spectrum}"] = taken
    return times


def conic(data: Data, clock: Clock, found: dict[str, Any]) -> None:
    """Clarabel through cvxpy, for superquantiles, where it finishes."""
    import cvxpy as cp

    n, d = data.X.shape
    for spectrum in SPECTRA[:2]:
        q = lrisk.spectra.parse_spectrum(spectrum).q
        w, b, t = cp.Variable(d), cp.Variable(), cp.Variable()
        z = data.X @ w + b
        losses = 0.5 * cp.square(z - data.y)
        if data.loss == "logistic":
            losses = cp.logistic(cp.multiply(1.0 - 2.0 * data.y, z))
        risk = t + cp.sum(cp.pos(losses - t)) / (n * (1.0 - q))
        problem = cp.Problem(cp.Minimize(risk + cp.sum_squares(w) / (2 * n)))
        name = f"cvxpy+Clarabel {spectrum}"
        try:
            taken, _ = clock.time(lambda p=problem: p.solve(solver="CLARABEL"), 1)
        except cp.error.SolverError:
            print(f"  {name:<34} did not finish")
            continue
        minimum = found[spectrum][0].objective_
        error = abs(problem.value - minimum) / minimum
        show(name, taken, clock, f"difference {error:.1e}")


def main() -> None:
    warnings.simplefilter("ignore")
    verdicts: list[str] = []
    per_mv: dict[tuple[str, bool, str, int], float] = {}
    worst_gap = 0.0
    for loss in ("squared", "logistic"):
        for ill in (False, True):
            for n, d in SIZES:
                data = make(n, d, loss, ill)
                clock = Clock(data.X)
                clock.time(lambda c=clock: c.product(), 5)
                print(f"\n{data.label}: mv = {1e3 * clock.mv:.4g} ms")
                found = certified(data, clock, 15 if n == 1000 else 3)
                plain = scikit(data, clock)
                others = quasi_newton(data, clock, found)
                if n == 1000:
                    verdicts += small_fits(data, clock)
                    conic(data, clock, found)
                for spectrum, (model, taken) in found.items():
                    worst_gap = max(worst_gap, model.dual_gap_)
                    per_mv[loss, ill, spectrum, n] = taken
                    verdicts += judge(
                        data, spectrum, taken, taken / clock.mv, per_mv, plain, others
                    )
    gap, said = far_apart(per_mv)
    worst_gap, verdicts = max(worst_gap, gap), verdicts + said
    print("\nTargets")
    print(f"  every gap ≤ 1e-10: {mark(worst_gap <= 1e-10)} (largest {worst_gap:.1e})")
    print("\n".join(verdicts))


def far_apart(
    times: dict[tuple[str, bool, str, int], float],
) -> tuple[float, list[str]]:
    """Superquantiles of classes that do not collapse; largest gap and verdicts."""
    worst, said = 0.0, []
    for ill in (False, True):
        for n, d in SIZES[1:]:
            data = make(n, d, "logistic", ill, sharp=True)
            clock = Clock(data.X)
            clock.time(lambda c=clock: c.product(), 5)
            print(f"\n{data.label}: mv = {1e3 * clock.mv:.4g} ms")
            found = certified(data, clock, 3, SPECTRA[:2])
            for spectrum, (model, taken) in found.items():
                worst = max(worst, model.dual_gap_)
                times["logistic", ill, spectrum, n] = taken
                if n == SIZES[-1][0]:
                    mv = taken / clock.mv
                    said += judge(data, spectrum, taken, mv, times, {}, {})
    return worst, said


def judge(
    data: Data,
    spectrum: str,
    taken: float,
    mv: float,
    times: dict[tuple[str, bool, str, int], float],
    plain: dict[str, float],
    others: dict[str, float],
) -> list[str]:
    """What was promised for this row, and whether it holds."""
    n, family = len(data.y), spectrum.split(":")[0]
    row = f"  {data.label}, {spectrum}:"
    if n == 1000:
        return []  # `small_fits` speaks of those
    if n == 1_000_000:
        limit = LIMITS[data.loss, family]
        ratio = taken / times[data.loss, data.ill, spectrum, 100_000]
        return [
            f"{row} {mv:.1f} mv ≤ {limit} {mark(mv <= limit)}; "
            f"time(1e6)/time(1e5) = {ratio:.1f} {mark(ratio <= GROWTH)}"
        ]
    said = []
    if family == "superquantile":
        factor = others[f"Rockafellar–Uryasev {spectrum}"] / taken
        said.append(f"{row} {factor:.0f}× L-BFGS on RU {mark(factor >= 10)}")
    if data.loss == "logistic" and data.ill:
        factor = taken / plain["LogisticRegression newton-cholesky"]
        said.append(f"{row} {factor:.2f} of newton-cholesky {mark(factor <= 1)}")
    return said


def mark(good: bool) -> str:
    return "ok" if good else "MISSED"


if __name__ == "__main__":
    main()
