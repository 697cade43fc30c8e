"""The bootstrap of spectral risks: what a draw of rows says, and its edges."""

import numpy as np
import pytest

import lrisk
from lrisk.metrics.bootstrap import Sample, _of_equal_rows, _of_rows, percentile_t
from lrisk.ranking import Ranking
from lrisk.spectra import FAMILIES, CustomSpectrum, parse_spectrum

SPECTRA = [kind() for name, kind in FAMILIES.items() if name != "worst_case"]
SPECTRA.append(CustomSpectrum(weights=[1, 0, 3, 2]))


@pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
def test_the_standard_error_is_that_of_many_samples(spectrum):
    """Against the spread of the risk itself over 2,000 samples."""
    rng = np.random.default_rng(0)
    samples = rng.exponential(size=(2000, 400))
    sampled = (np.sort(samples, axis=1) @ spectrum.weights(400)).std()
    ranking, all_rows = Ranking(spectrum, 400), np.arange(400)[None]
    errors = [
        _of_equal_rows([Sample.of(x)], ranking)(all_rows)[0, 1] for x in samples[:100]
    ]
    assert np.mean(errors) == pytest.approx(sampled, rel=0.1)


@pytest.mark.parametrize("n", [2, 7, 200])
@pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
def test_a_draw_is_the_risk_of_its_rows(spectrum, n):
    """Compiled or not, with ties: the difference of two risks of rows taken by hand."""
    rng = np.random.default_rng(n)
    a, b = np.round(rng.lognormal(size=n), 1), rng.normal(size=n)
    weight, lines = rng.exponential(size=n), rng.integers(0, n, (20, n))
    lines[0] = 0  # all alike
    samples = [Sample.of(a), Sample.of(b, -1.0)]
    for w, of in ((None, _of_equal_rows), (None, _of_rows), (weight, _of_rows)):
        away, error = of(samples, Ranking(spectrum, n, w))(lines).T

        def risk(rows, w=w):
            own = None if w is None else w[rows]
            return lrisk.risk(a[rows], spectrum, own) - lrisk.risk(
                b[rows], spectrum, own
            )

        whole = risk(np.arange(n))
        expected = [risk(rows) - whole for rows in lines]
        np.testing.assert_allclose(away, expected, rtol=1e-9, atol=1e-11)
        assert error[0] == 0.0 and np.all(error >= 0.0)


@pytest.mark.parametrize("spectrum", SPECTRA, ids=repr)
def test_the_compiled_errors_are_the_plain_ones(spectrum):
    rng = np.random.default_rng(3)
    samples = [Sample.of(rng.lognormal(size=90)), Sample.of(rng.normal(size=90), -1.0)]
    ranking, lines = Ranking(spectrum, 90), rng.integers(0, 90, (50, 90))
    plain, compiled = (of(samples, ranking)(lines) for of in (_of_rows, _of_equal_rows))
    np.testing.assert_allclose(compiled, plain, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_scale_and_place_of_the_losses_change_nothing_else(weighted):
    """Squares of 1e200 and of 1e-200 are no numbers, and 1e9 has lost seven digits."""
    rng = np.random.default_rng(4)
    x = rng.exponential(size=200)
    weight = rng.exponential(size=200) if weighted else None
    ranking = Ranking(parse_spectrum("superquantile:0.5"), 200, weight)

    def ends(losses):
        samples, seeded = [Sample.of(losses)], np.random.default_rng(0)
        return np.array(percentile_t(samples, ranking, 0.9, 99, seeded))

    plain = ends(x)
    for scale in (1e200, 1e-200):
        np.testing.assert_allclose(ends(scale * x), scale * plain, rtol=1e-9)
    np.testing.assert_allclose(ends(x + 1e9), plain, rtol=1e-5)
    # What lies below the tail has no say, however far below.
    x[np.argmin(x)] = -1e300
    np.testing.assert_allclose(ends(x), plain, rtol=1e-9)
