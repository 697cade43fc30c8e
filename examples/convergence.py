"""Suboptimality against passes over the data, as in the spectral-risk paper's figure 2.

On scikit-learn's diabetes data, so that it runs anywhere.
"""

import argparse

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

import lrisk
from lrisk.solvers import LSVRG, SGD, SOREL, SRDA, Prospect

SPECTRA = ("mean", "superquantile:0.5", "extremile:2", "esrm:1")
SOLVERS = {
    "SGD": (SGD(), "#999999"),
    "SRDA": (SRDA(), "#e69f00"),
    "LSVRG": (LSVRG(), "#0072b2"),
    "Prospect": (Prospect(), "#009e73"),
    "SOREL": (SOREL(), "#d55e00"),
}


def main() -> None:
    """Run every solver under every spectrum and draw the curves."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default="convergence.png")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    X, y = load_diabetes(return_X_y=True)
    X, y = X / X.std(axis=0), (y - y.mean()) / y.std()
    figure, panels = plt.subplots(
        1, 4, figsize=(12, 3.2), sharey=True, layout="constrained"
    )
    for axes, spectrum in zip(panels, SPECTRA):
        draw(axes, spectrum, X, y, arguments.seeds)
    panels[0].set_ylabel("suboptimality (equation 7)")
    panels[-1].legend(frameon=False, fontsize=8)
    figure.savefig(arguments.out, dpi=110)


def draw(axes, spectrum, X, y, seeds) -> None:
    """Draw the curves of one spectrum."""
    best = lrisk.RiskRegressor(spectrum, fit_intercept=False, tol=1e-12).fit(X, y)
    first = lrisk.risk(0.5 * y**2, spectrum)
    for name, (solver, colour) in SOLVERS.items():
        for seed in range(seeds):
            model = lrisk.RiskRegressor(
                spectrum, fit_intercept=False, solver=solver, random_state=seed
            ).fit(X, y)
            passes = [record["passes"] for record in model.history_]
            values = np.array([record["objective"] for record in model.history_])
            gap = (values - best.objective_) / (first - best.objective_)
            axes.semilogy(
                passes,
                np.maximum(gap, 1e-15),
                color=colour,
                alpha=0.7,
                label=name if seed == 0 else None,
            )
    axes.set_title(spectrum, fontsize=10)
    axes.set_xlabel("passes over the data")
    axes.grid(alpha=0.3)


if __name__ == "__main__":
    main()
