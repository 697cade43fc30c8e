"""Wrong labels: what `LabelErrorDetector` finds, beside cleanlab where it is installed.

    python -m benchmarks.labels [--all] [--seeds 5] [--rows 20000]

Every table once clean and with labels made wrong: uniformly (sym), of the largest class
into the second largest (cc), and the more the farther out x is (far). For each cell the
mean over seeds of average precision of the scores, precision/recall of the flags, the
share that was found and the true one, false flags expected and found, and the answers;
of clean tables the flags and the largest share of a class among them; at the end how
many cells keep what is promised. Methods are developed on breast cancer, digits and
synthetic data only; ``--all`` adds the others.
"""

import argparse
import collections
import importlib.util
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import lrisk
from benchmarks._data import available, folder, table

Labels = Any
NOISE = ("clean", "sym20", "sym40", "cc20", "far20")
CLEANLAB = importlib.util.find_spec("cleanlab") is not None


def _circle(seed: int, n: int = 2000) -> tuple[Any, Labels]:
    X = np.random.default_rng(seed).normal(size=(n, 2))
    return X, (np.hypot(*X.T) > 1.18).astype(int)


def _curved(seed: int, n: int = 20_000) -> tuple[Any, Labels]:
    X = np.random.default_rng(seed).normal(size=(n, 6))
    return X, (X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3] > 0).astype(int)


def _csv(name: str) -> tuple[Any, Labels]:
    data = table(name)
    return data[:, :-1], data[:, -1].astype(int)


def _npz(name: str) -> tuple[Any, Labels]:
    with np.load(folder() / f"{name}.npz") as file:
        part = "train" if "y_train" in file else "test"
        return file[f"X_{part}"].astype(float), file[f"y_{part}"]


DEVELOPMENT: dict[str, Callable[[int], tuple[Any, Labels]]] = {
    "breast_cancer": lambda seed: datasets.load_breast_cancer(return_X_y=True),
    "digits": lambda seed: datasets.load_digits(return_X_y=True),
    "circle": _circle,
    "curved": _curved,
}
OTHERS: dict[str, Callable[[int], tuple[Any, Labels]]] = {
    "heart_cleveland": lambda seed: _csv("heart_cleveland"),
    "wine_quality_red": lambda seed: _csv("wine_quality_red"),
    "satimage": lambda seed: _csv("satimage"),
    "mnist_1v3": lambda seed: _npz("mnist_1v3"),
    "emotion": lambda seed: _npz("emotion_bert_pca45"),
    "iwildcam": lambda seed: _npz("iwildcam_resnet18_pca73"),
}


def drawn(name: str, noise: str, seed: int, most: int) -> tuple[Any, Labels, Any]:
    """Three quarters of the rows, labels 0, …, K − 1, and which of them are wrong."""
    X, y = (DEVELOPMENT | OTHERS)[name](seed)
    X = np.asarray(X, dtype=float).reshape(len(y), -1)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(y))[: min(int(0.75 * len(y)), most)]
    X, y = X[rows], np.unique(y[rows], return_inverse=True)[1]
    counts, chance = np.bincount(y), rng.random(len(y))
    if noise == "clean":
        return X, y, np.zeros(len(y), dtype=bool)
    share = int(noise[-2:]) / 100
    if noise.startswith("cc"):
        largest, second = np.argsort(-counts, kind="stable")[:2]
        wrong = (y == largest) & (chance < share)
        return X, np.where(wrong, second, y), wrong
    if noise.startswith("far"):
        z = (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1.0)
        rank = np.argsort(np.argsort(np.linalg.norm(z, axis=1))) / len(y)
        share = np.minimum(2.0 * share * rank, 0.95)
    wrong = chance < share
    return (
        X,
        np.where(wrong, y + rng.integers(1, len(counts), len(y)), y) % len(counts),
        wrong,
    )


def ours(X: Any, y: Labels, seed: int) -> dict[str, Any]:
    found = lrisk.LabelErrorDetector(random_state=seed).fit(X, y)
    return {
        "score": found.outlier_score_,
        "flags": ~found.inlier_mask_,
        "share": found.contamination_,
        "expected": found.expected_false_flags_,
        "answer": found.answer_,
    }


def cleanlab(X: Any, y: Labels, seed: int) -> dict[str, Any]:
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    trees = ExtraTreesClassifier(100, min_samples_leaf=3, random_state=seed)
    p = cross_val_predict(trees, X, y, cv=folds, method="predict_proba")
    flags = find_label_issues(y, p)
    return {
        "score": 1.0 - get_label_quality_scores(y, p),
        "flags": flags,
        "share": float(flags.mean()),
        "expected": float("nan"),
        "answer": "",
    }


def cell(name: str, noise: str, seeds: int, most: int, method: Any) -> dict[str, Any]:
    """Means over seeds of one cell, and how often each answer was given."""
    sums: dict[str, list[float]] = collections.defaultdict(list)
    answers: collections.Counter[str] = collections.Counter()
    for seed in range(seeds):
        X, y, wrong = drawn(name, noise, seed, most)
        began = time.process_time()
        found = method(X, y, seed)
        sums["cpu"].append(time.process_time() - began)
        flags, answers[found["answer"]] = found["flags"], answers[found["answer"]] + 1
        sums["flags"].append(flags.sum())
        sums["share"].append(found["share"])
        sums["true"].append(wrong.mean())
        sums["wrong"].append(wrong.sum())
        sums["expected"].append(found["expected"])
        sums["false"].append(np.sum(flags & ~wrong))
        sums["class"].append(max(flags[y == code].mean() for code in np.unique(y)))
        if wrong.any():
            sums["ap"].append(average_precision_score(wrong, found["score"]))
            sums["recall"].append(flags[wrong].mean())
            if flags.any():
                sums["precision"].append(wrong[flags].mean())
    means: dict[str, Any] = {key: float(np.mean(all_)) for key, all_ in sums.items()}
    means.setdefault("precision", float("nan"))
    return means | {"answers": answers, "silent": answers["cannot tell"] / seeds}


def line(noise: str, m: dict[str, Any]) -> str:
    """One line of the table."""
    said = ", ".join(f"{count} {a}" for a, count in m["answers"].items() if a)
    end = f"{m['cpu']:6.1f} s  {said}"
    if noise == "clean":
        return f"flags {m['flags']:.1f}, of a class at most {m['class']:.3f} {end}"
    return (
        f"{m['ap']:.2f} {m['precision']:.2f}/{m['recall']:.2f} "
        f"{m['share']:.3f} ({m['true']:.3f}) {m['expected']:.1f}/{m['false']:.1f} {end}"
    )


def summary(cells: dict[tuple[str, str, str], dict[str, Any]]) -> list[str]:
    """What lrisk promises of the whole table; cells by data, noise and method."""
    own = {key[:2]: m for key, m in cells.items() if key[2] == "lrisk"}
    ranked = [
        own[key[:2]]["ap"] >= m["ap"] - 0.02
        for key, m in cells.items()
        if key[2] == "cleanlab" and key[1] != "clean"
    ]
    biased = [m for (_, noise), m in own.items() if noise.startswith("cc")]
    biased = [m for m in biased if m["wrong"] >= 50]
    good = [m["precision"] >= 0.85 and m["recall"] >= 0.3 for m in biased]
    uniform = [m for (_, noise), m in own.items() if noise.startswith("sym")]
    near = [abs(m["share"] - m["true"]) <= 0.05 for m in uniform]
    flagged = [m["flags"] for (_, noise), m in own.items() if noise == "clean"]
    told = f"average precision ≥ cleanlab − .02: {sum(ranked)} of {len(ranked)} cells"
    return [
        told if ranked else "average precision: nothing to compare with",
        f"one class into another, ≥ 50 wrong rows: precision ≥ .85 and recall ≥ .3 in "
        f"{sum(good)} of {len(good)} cells, cannot tell in "
        f"{np.mean([m['silent'] for m in biased] or [0.0]):.0%} of the tables",
        f"uniform: share within .05 in {sum(near)} of {len(near)} cells, cannot tell "
        f"in {np.mean([m['silent'] for m in uniform] or [0.0]):.0%} of the tables",
        f"clean: at most {max(flagged, default=0.0):.1f} flags",
    ]


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.labels")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rows", type=int, default=20_000)
    options = parser.parse_args([] if given is None else given)
    names = list(DEVELOPMENT)
    if options.all and available():
        names += OTHERS
    methods = {"lrisk": ours} | ({"cleanlab": cleanlab} if CLEANLAB else {})
    if not CLEANLAB:
        print("cleanlab is not installed: its lines are missing (pip install cleanlab)")
    print(
        "average precision, precision/recall, share (true), false flags expected/found"
    )
    cells = {}
    for name in names:
        for noise in NOISE:
            for method, run in methods.items():
                m = cell(name, noise, options.seeds, options.rows, run)
                print(f"{name:<18}{noise:<7}{method:<9}{line(noise, m)}", flush=True)
                cells[name, noise, method] = m
    print("\n".join(summary(cells)))


if __name__ == "__main__":
    main(sys.argv[1:])
