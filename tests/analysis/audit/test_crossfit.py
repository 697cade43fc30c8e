"""Who judges rows: models that have not seen them, flexible enough for the boundary."""

import numpy as np
import pytest

from lrisk import audit
from lrisk.analysis.audit import crossfit


def circle(n, share, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    label = (X[:, 0] ** 2 + X[:, 1] ** 2 < 0.6).astype(int)
    wrong = rng.random(n) < share
    named = np.where(np.where(wrong, 1 - label, label) == 1, "in", "out")
    return {"a": X[:, 0], "b": X[:, 1], "y": named.astype(object)}, wrong


def test_flipped_labels_beside_a_curved_boundary_are_found_by_the_default_audit():
    data, wrong = circle(500, 0.1)
    result = audit(data, "y")
    assert wrong[result.flags].mean() > 0.9
    assert result.flags[wrong].mean() > 0.8
    assert not result.looks_clean


@pytest.mark.parametrize(("n", "seed"), [(60, 2), (200, 1)])
def test_rows_with_missing_cells_do_not_make_others_wrong(n, seed):
    """Shares of wrong rows that are far out say nothing of two halves of the others."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(2, n))
    y = 3 * a - b + 0.1 * rng.normal(size=n) + 10
    missing = rng.random(n) < 0.12
    result = audit({"a": a, "b": np.where(missing, np.nan, b), "y": y}, "y")
    assert not np.any(result.flags & ~missing)


def test_rows_of_classes_are_ranked_even_where_no_noise_is_declared():
    rng = np.random.default_rng(0)
    x, z = rng.normal(size=(2, 200))
    label = np.where(x + z + 0.1 * rng.normal(size=200) > 0, "p", "q").astype(object)
    far = np.argmax(x + z)
    label[far] = "q"
    result = audit({"x": x, "z": z, "y": label}, "y")
    assert not result.flags.any()
    assert len(np.unique(result.scores)) > 100
    assert np.argmax(result.scores) == far


def test_of_many_training_rows_of_classes_there_are_two_folds(monkeypatch):
    """Each row is still judged by fits to the other fold alone."""
    data, _ = circle(300, 0.1)
    frame = {"a": data["a"], "b": data["b"], "y": data["y"]}
    five = audit(frame, "y")
    monkeypatch.setattr(crossfit, "MANY_OF_CLASSES", 300)
    steps = []
    two = audit(frame, "y", progress=lambda step, share: steps.append((step, share)))
    assert [s for s, _ in steps if s.startswith("without")] == [
        "without fold 1 of 2", "without fold 2 of 2",
    ]  # fmt: skip
    shares = [share for _, share in steps]
    assert shares == sorted(shares) and shares[-1] == 1.0
    # Flags are those of references to all rows, whatever the folds of the fits.
    assert np.array_equal(five.flags, two.flags)
    assert np.all(two.residuals > 0.0)


def test_labels_of_very_many_rows_are_judged_by_a_fit_to_some(monkeypatch):
    """Rows outside the sample, whose fit has not seen them, are found as well."""
    monkeypatch.setattr(crossfit, "MOST_LINEAR", 300)
    monkeypatch.setattr(crossfit, "BLOCK", 128)
    flags, hits, errors, told = 0, 0, 0, 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1000, 2))
        wrong = rng.random(1000) < 0.05
        label = (X[:, 0] + X[:, 1] + 0.2 * rng.normal(size=1000) > 0) ^ wrong
        names = np.where(label, "yes", "no").astype(object)
        result = audit({"a": X[:, 0], "b": X[:, 1], "y": names}, "y")
        assert result.n_training <= 320
        flags += result.flags.sum()
        hits += np.sum(result.flags & wrong)
        errors += wrong.sum()
        pairs = [f for f in result.findings if f.section == "labels"]
        assert len(pairs) == 2  # "yes" for "no", and "no" for "yes"
        told += sum(pair.count for pair in pairs)
    assert hits / flags > 0.8 and hits / errors > 0.7
    assert told >= 90
