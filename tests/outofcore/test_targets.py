"""Targets of batches, as numbers."""

import numpy as np
import pytest

from lrisk.outofcore.targets import NumberTargets, TwoClasses, checked_weights


@pytest.mark.parametrize("labels", [["no", "yes"], [3, 7], [False, True], [-1.0, 1.0]])
@pytest.mark.parametrize("turned", [False, True])
def test_classes_are_sorted_at_the_end(labels, turned):
    y = np.array(labels * 5)[:: -1 if turned else 1]
    targets = TwoClasses("test")
    codes = np.concatenate([targets.numbers(y[:1]), targets.numbers(y[1:])])
    assert targets.classes().tolist() == sorted(labels)
    final = targets.final(codes)
    np.testing.assert_array_equal(targets.classes()[final.astype(int)], y)


def test_what_is_refused():
    with pytest.raises(ValueError, match="two classes"):
        TwoClasses("test").numbers(np.arange(3))
    with pytest.raises(ValueError, match="continuous"):
        TwoClasses("test").numbers(np.array([0.5, 1.25, 3.5]))
    with pytest.raises(ValueError, match="missing labels"):
        TwoClasses("test").numbers(np.array([0.0, np.nan]))
    alone = TwoClasses("test")
    alone.numbers(np.zeros(3))
    with pytest.raises(ValueError, match="at least two classes"):
        alone.classes()
    with pytest.raises(ValueError, match="of numbers"):
        NumberTargets("test").numbers(np.array(["a"]))
    with pytest.raises(ValueError, match="finite"):
        NumberTargets("test").numbers(np.array([1.0, np.inf]))
    with pytest.raises(ValueError, match="rescale"):
        NumberTargets("test").numbers(np.array([1e300]))
    with pytest.raises(ValueError, match="≥ 0"):
        checked_weights([1.0, -1.0])
