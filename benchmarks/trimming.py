"""Trimmed linear and kernel fits: R's ltsReg, gross outliers, flipped labels."""

import csv
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import Ridge
from sklearn.svm import SVC

from benchmarks._data import available, gross_rows, other_class, rmse, split, table
from lrisk import (
    KernelRiskClassifier,
    KernelRiskRegressor,
    RiskClassifier,
    RiskRegressor,
)
from lrisk.spectra import Subquantile

LTSREG = Path(__file__).parents[1] / "tests" / "data" / "ltsreg"


def against_ltsreg() -> None:
    print("trimmed least squares against R robustbase::ltsReg(nsamp=5000)")
    print(f"{'data':<11}{'α':>5}{'h':>4}{'ours/theirs − 1':>17}{'ms':>6}{'R ms':>6}")
    with open(LTSREG / "reference.csv") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        data = np.loadtxt(LTSREG / f"{row['dataset']}.csv", delimiter=",", skiprows=1)
        X, y, h = data[:, :-1], data[:, -1], int(row["h"])
        model = RiskRegressor(Subquantile(h / len(y)), alpha=0.0, random_state=0)
        model.fit(X, y)
        began = time.process_time()
        model.fit(X, y)
        took = time.process_time() - began
        total = np.sort((y - model.predict(X)) ** 2)[:h].sum()
        print(
            f"{row['dataset']:<11}{row['alpha']:>5}{h:>4}"
            f"{total / float(row['sum']) - 1:>17.1e}{1e3 * took:>6.0f}"
            f"{1e3 * float(row['seconds']):>6.0f}"
        )


def gross_outliers() -> None:
    print("\nfeatures ×100 and y×10⁴ in 40 % of the rows, linear kernel, alpha=1")
    print(f"{'data':<10}{'seed':>5}{'RMSE':>8}{'oracle':>8}{'ratio':>7}{'ms':>5}")
    for name in ("boston", "concrete"):
        for seed in range(5):
            part = split(table(name), seed, 0.4, gross_rows, scale_y=True)
            model = KernelRiskRegressor(
                "subquantile:0.6", kernel="linear", random_state=0
            )
            model.fit(part.X, part.y)
            began = time.process_time()
            model.fit(part.X, part.y)
            took = time.process_time() - began
            good = ~part.bad
            oracle = Ridge(fit_intercept=False).fit(part.X[good], part.y[good])
            a, b = rmse(model, part), rmse(oracle, part)
            print(
                f"{name:<10}{seed:>5}{a:>8.4f}{b:>8.4f}{a / b:>7.3f}{1e3 * took:>5.0f}"
            )


def flipped_labels() -> None:
    print("\nlabels wrong in a share ε of the rows, test accuracy, mean of five seeds")
    sets = {
        "breast cancer": (load_breast_cancer(return_X_y=True), "linear"),
        "iris": (load_iris(return_X_y=True), "rbf"),
        "glass": (None, "rbf"),
    }
    for name, (loaded, kernel) in sets.items():
        data = table(name) if loaded is None else np.column_stack(loaded)
        models = {
            "trimmed": KernelRiskClassifier("subquantile:0.6", kernel=kernel),
            "untrimmed": KernelRiskClassifier("mean", kernel=kernel),
            "SVC": SVC(kernel=kernel, gamma="auto"),
        }
        if kernel == "linear":
            models["with intercept"] = RiskClassifier("subquantile:0.6")
        for share in (0.2, 0.4):
            results = {}
            for label, model in models.items():
                scores, kept, wrong = [], [], []
                for seed in range(5):
                    part = split(data, seed, share, other_class, scale_y=False)
                    if "subquantile" in str(getattr(model, "spectrum", "")):
                        model.set_params(spectrum=f"subquantile:{1 - share}")
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        model.fit(part.X, part.y)
                    scores.append(model.score(part.test_X, part.test_y))
                    if hasattr(model, "losses_"):
                        kept.append(model.losses_[model.inlier_mask_].mean())
                        wrong.append(model.losses_[~model.inlier_mask_].mean())
                text = f"{np.mean(scores):.3f}"
                if kept:
                    text += (
                        f" (loss kept {np.mean(kept):.2f}, out {np.mean(wrong):.2f})"
                    )
                results[label] = text
            line = ", ".join(f"{label} {text}" for label, text in results.items())
            print(f"{name}, ε={share}, {kernel}: {line}")


def main() -> None:
    against_ltsreg()
    if available():
        gross_outliers()
        flipped_labels()


if __name__ == "__main__":
    main()
