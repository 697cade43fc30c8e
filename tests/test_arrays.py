"""What is masked is missing, and what is too large or too small is refused."""

import numpy as np
import pytest
import scipy.sparse as sp

from lrisk._arrays import (
    FEATURE,
    PIECE,
    TARGET,
    check_features,
    check_targets,
    check_typical_size,
    check_weights,
    largest_size,
    unmasked,
)

MASK = np.array([False, True, False])


class TestUnmasked:
    @pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8])
    def test_masked_numbers_are_nan(self, dtype):
        plain = unmasked(np.ma.array([1, 2, 3], mask=MASK, dtype=dtype))
        assert type(plain) is np.ndarray
        np.testing.assert_array_equal(plain, [1.0, np.nan, 3.0])
        if np.dtype(dtype).kind == "f":
            assert plain.dtype == dtype

    @pytest.mark.parametrize("cells", [["a", "b", "c"], [True, False, True]])
    def test_masked_words_and_flags_are_nan(self, cells):
        plain = unmasked(np.ma.array(cells, mask=MASK))
        assert plain[1] != plain[1]
        assert [plain[0], plain[2]] == [cells[0], cells[2]]

    def test_masked_dates_are_not_a_time(self):
        days = np.array(["2024-01-01", "2024-01-02", "2024-01-03"], "datetime64[D]")
        plain = unmasked(np.ma.array(days, mask=MASK))
        assert plain.dtype == days.dtype
        np.testing.assert_array_equal(np.isnat(plain), MASK)

    def test_the_fill_value_is_not_used(self):
        plain = unmasked(np.ma.array([1.0, 2.0, 3.0], mask=MASK, fill_value=7.0))
        assert np.isnan(plain[1])

    def test_everything_else_is_left_as_it_is(self):
        for value in (
            None,
            "no_validation",
            [1, 2],
            np.arange(3),
            sp.csr_array((2, 2)),
        ):
            assert unmasked(value) is value
        plain = unmasked(np.ma.array([1, 2, 3]))
        assert type(plain) is np.ndarray
        assert plain.dtype.kind == "i"


class TestFeatures:
    @pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.asfortranarray])
    def test_limits_are_met_and_not_passed(self, form):
        X = np.ones((200, 3))
        X[:, 1] = 0.0  # a column of zeros is no small one
        for size in (FEATURE, -FEATURE, 1.0 / FEATURE, -1.0 / FEATURE):
            X[:, 2] = size
            check_features("owner", "X", form(X))
        for size in (2.0 * FEATURE, -2.0 * FEATURE):
            X[150, 2] = size
            with pytest.raises(ValueError, match=r"owner: X must be at most 1.5e.* 2"):
                check_features("owner", "X", form(X))
            with pytest.raises(ValueError, match=r"in column 'c'.* rescale"):
                check_features("owner", "X", form(X), fitted=True, names=list("abc"))
        for size in (0.5 / FEATURE, -0.5 / FEATURE, 5e-324):
            X[:, 2] = size
            with pytest.raises(ValueError, match=r"at least 6.8e-49 .* in column 2"):
                check_features("owner", "X", form(X))
            check_features("owner", "X", form(X), fitted=True)

    def test_one_large_entry_makes_a_column_large_enough(self):
        X = np.full((500, 2), 1e-300)
        X[499] = 1.0
        check_features("owner", "X", X)
        check_features("owner", "X", sp.csr_array(X))

    def test_what_is_no_table_of_floats_passes(self):
        for X in (np.array([["a"]]), np.array([[2**62]]), np.empty((0, 3)),
                  sp.csr_array((3, 3)), np.array([[1e30]], np.float32)):  # fmt: skip
            check_features("owner", "X", X)


@pytest.mark.parametrize(
    ("check", "limit"), [(check_targets, TARGET), (check_weights, FEATURE)]
)
def test_targets_and_weights(check, limit):
    for size in (limit, 1.0 / limit, 0.0):
        check("owner", "y", np.full(3, size))
    with pytest.raises(ValueError, match=r"y must be at most .*; rescale it"):
        check("owner", "y", np.array([1.0, 2.0 * limit]))
    with pytest.raises(ValueError, match=r"y must be at least .*; rescale it"):
        check("owner", "y", np.array([0.0, 0.5 / limit]))


@pytest.mark.parametrize("n", [1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE])
@pytest.mark.parametrize("place", [0, -1])
def test_the_largest_size_is_seen_wherever_it_is(n, place):
    for entry in (7.0, -7.0, np.inf, -np.inf, np.nan):
        values = np.linspace(-1.0, 1.0, n)
        values[place] = entry
        wide = np.column_stack([values, values / 2.0])
        for form in (values, values[:, None], wide, wide.T, wide[::-1], wide[:, 0]):
            np.testing.assert_equal(largest_size(form), abs(entry))
    assert largest_size(np.empty((0, 3))) == 0.0
    assert largest_size(sp.csr_array((3, 3))) == 0.0


def test_columns_to_be_scaled_robustly():
    values = np.array([0.0, np.nan, 1.0, 2.0, 1e300])
    check_typical_size("owner", "a", values)
    check_typical_size("owner", "a", np.array([np.nan, 0.0]))
    with pytest.raises(ValueError, match=r"owner: a must be at most .*; rescale it"):
        check_typical_size("owner", "a", np.array([0.0, 1.0, 1e300, -1e300]))
    with pytest.raises(ValueError, match=r"owner: a must be at least .*; rescale it"):
        check_typical_size("owner", "a", np.array([0.0, np.nan, 1e-300]))
