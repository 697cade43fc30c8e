"""One fit of the benchmark of labels, by lrisk or by cleanlab, and what came of it."""

import importlib.util
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import average_precision_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import lrisk
from benchmarks import _labels_data as data
from lrisk.datasets import corrupt_labels, make_awkward

Record = dict[str, Any]
CLEANLAB = importlib.util.find_spec("cleanlab") is not None
#: Rows of a table by which intervals are judged.
INTERVAL_ROWS = 1_000


class Job(NamedTuple):
    """A part of the benchmark, a table, its noise, a method and a seed."""

    part: str
    table: str
    noise: str
    method: str
    seed: int
    most: int

    @property
    def cell(self) -> tuple[str, str, str, str]:
        return self[:4]


def run(job: Job) -> Record:
    """Judge one table."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if job.part == "intervals":
            return _interval(job)
        return _judged(job)


def table(job: Job) -> data.Labelled:
    if job.part == "noise":
        draw = (data.DEVELOPMENT | data.OTHERS)[job.table]
        return data.split(draw, job.noise, job.seed, job.most)
    draw = {"clean": data.DETERMINED, "bounded": data.BOUNDED, "found": data.FOUND}[
        job.part
    ][job.table]
    return data.spoilt(*draw(job.seed), job.noise, np.random.default_rng(job.seed))


def _judged(job: Job) -> Record:
    rows = table(job)
    wrong, y = rows.wrong, rows.labels
    began = time.process_time()
    found = (_cleanlab if job.method == "cleanlab" else _ours)(rows.X, y, job.seed)
    flags = found.pop("flags")
    own = np.bincount(y)
    record = found | {
        "cpu": time.process_time() - began,
        "n": len(y),
        "flags": int(flags.sum()),
        "wrong": int(wrong.sum()),
        "false": int(np.sum(flags & ~wrong)),
        # A single row of a small class is more than 2 % of it.
        "class": float(np.max((np.bincount(y[flags], minlength=len(own)) - 1) / own)),
    }
    score = record.pop("score")
    if wrong.any():
        record["ap"] = float(average_precision_score(wrong, score))
    if job.noise.startswith("cc") and job.method == "lrisk":
        said = _out_of_fold(rows.X, rows.truth, job.seed).argmax(axis=1)
        record["accuracy"] = float(np.mean(said == rows.truth))
    return record


def _ours(X: Any, y: Any, seed: int) -> Record:
    found = lrisk.LabelErrorDetector(random_state=seed).fit(X, y)
    return {
        "score": found.outlier_score_,
        "flags": ~found.inlier_mask_,
        "share": found.contamination_,
        "interval": found.contamination_interval_,
        "expected": found.expected_false_flags_,
        "answer": found.answer_,
    }


def _out_of_fold(X: Any, y: Any, seed: int) -> Any:
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    trees = ExtraTreesClassifier(100, min_samples_leaf=3, random_state=seed)
    return cross_val_predict(trees, X, y, cv=folds, method="predict_proba")


def _cleanlab(X: Any, y: Any, seed: int) -> Record:
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    p = _out_of_fold(X, y, seed)
    flags = find_label_issues(y, p, n_jobs=1)
    return {
        "score": 1.0 - get_label_quality_scores(y, p),
        "flags": flags,
        "share": float(flags.mean()),
    }


#: Tables with intervals: classes, or 0 for a regression, and the noise of each.
INTERVALS: dict[str, tuple[int, tuple[str, ...]]] = {
    "2 classes": (2, ("sym10", "sym20", "cc30")),
    "3 classes": (3, ("sym10", "sym20", "cc30")),
    "5 classes": (5, ("sym10", "sym20", "cc30")),
    "regression": (0, ("all10", "all20")),
}


def _interval(job: Job) -> Record:
    """The interval, the share that the law of the labels has, and that of these rows.

    Intervals are about the law: other rows of the same source have other errors.
    """
    K = INTERVALS[job.table][0]
    probability = int(job.noise[-2:]) / 100
    rng = np.random.default_rng([job.seed, K])
    if K == 0:
        X, y = make_awkward("gaussian", INTERVAL_ROWS, random_state=rng)
        y = (y - y.mean()) / y.std()
        bad = rng.random(len(y)) < probability
        y = np.where(bad, corrupt_labels(X, y, fraction=1.0, random_state=rng).y, y)
        model = lrisk.RobustRegressor(random_state=job.seed).fit(X, y)
        law, share = probability, float(bad.mean())
    else:
        X, y = data.rows(data.linear(K), INTERVAL_ROWS, 6)(job.seed)
        rows = data.spoilt(X, y, job.noise, rng)
        model = lrisk.LabelErrorDetector(random_state=job.seed).fit(X, rows.labels)
        largest = float(np.bincount(rows.truth).max() / len(y))
        law = probability * (largest if job.noise.startswith("cc") else 1.0)
        share = float(rows.wrong.mean())
    low, high = model.contamination_interval_
    return {
        "covers": low <= law <= high,
        "covers_rows": low <= share <= high,
        "width": high - low,
        "answer": getattr(model, "answer_", ""),
    }
