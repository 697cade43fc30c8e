"""Certified multinomial fits beside L-BFGS on the same objective in its own units.

The first is timed to a proven gap of 1e-6, the second to the same objective; it proves
nothing. Features are standardised. CPU times; needs LRISK_SHARED.
"""

import contextlib
import time
import warnings
from typing import Any

import numpy as np
import scipy.optimize

import lrisk
from benchmarks._data import available, folder, standardised

SETS = ("emotion_bert_pca45", "iwildcam_resnet18_pca73")
SPECTRA = ("mean", "extremile:2", "esrm:1", "superquantile:0.5")
#: Seconds after which the plain descent is given up.
PATIENCE = 20.0


class Reached(Exception):
    """The objective that was to be reached."""


def plain_seconds(
    X: Any, codes: Any, spectrum: str, target: float
) -> tuple[float | None, int, float]:
    """Seconds and evaluations to the target, and how far above it the best was."""
    n, d = X.shape
    k = int(codes.max()) + 1
    rows, hot = np.arange(n), np.eye(k)[codes]
    sigma = lrisk.spectra.parse_spectrum(spectrum).weights(n)
    began, calls, best = time.process_time(), [0], [np.inf]

    def objective(flat: Any) -> tuple[float, Any]:
        table = flat.reshape(d + 1, k)
        z = X @ table[:-1] + table[-1]
        z -= z.max(axis=1, keepdims=True)
        e = np.exp(z)
        total = e.sum(axis=1)
        losses = np.log(total) - z[rows, codes]
        weights = np.empty(n)
        weights[np.argsort(losses)] = sigma
        value = float(weights @ losses) + 0.5 / n * float(np.sum(table[:-1] ** 2))
        calls[0] += 1
        best[0] = min(best[0], value)
        if value <= target or time.process_time() - began > PATIENCE:
            raise Reached
        pull = weights[:, None] * (e / total[:, None] - hot)
        gradient = np.vstack([X.T @ pull + table[:-1] / n, pull.sum(axis=0)])
        return value, gradient.ravel()

    options = {"maxiter": 10**5, "maxfun": 10**5, "maxcor": 20, "ftol": 0, "gtol": 0}
    with contextlib.suppress(Reached):
        scipy.optimize.minimize(
            objective,
            np.zeros((d + 1) * k),
            jac=True,
            method="L-BFGS-B",
            options=options,
        )
    taken = time.process_time() - began
    error = best[0] / target - 1.0
    return (taken if error <= 0 else None), calls[0], error


def main() -> None:
    warnings.simplefilter("ignore")
    if not available():
        return
    for name in SETS:
        data = np.load(folder() / f"{name}.npz")
        X = standardised(data["X_train"].astype(float))
        y = data["y_train"]
        codes = np.unique(y, return_inverse=True)[1]
        print(f"{name}: n={len(y)}, d={X.shape[1]}, {codes.max() + 1} classes")
        for spectrum in SPECTRA:
            model = lrisk.RiskClassifier(spectrum, tol=1e-6)
            model.fit(X[:2000], y[:2000])  # compile
            began = time.process_time()
            model.fit(X, y)
            taken = time.process_time() - began
            target = model.objective_ * (1.0 + 1e-9)
            plain, calls, error = plain_seconds(X, codes, spectrum, target)
            other = "never" if plain is None else f"{plain:.2f} s"
            print(
                f"  {spectrum:<20}{model.solver_} {taken:.2f} s, gap "
                f"{model.dual_gap_:.1e}; plain L-BFGS {other} ({calls} evaluations, "
                f"ends {error:.0e} above)",
                flush=True,
            )


if __name__ == "__main__":
    main()
