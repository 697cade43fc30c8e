"""Who judges rows: models that have not seen them, flexible enough for the boundary."""

import numpy as np

from lrisk import audit


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
