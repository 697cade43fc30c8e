"""Public risk and risk_weights."""

import numpy as np
import pytest

import lrisk
from lrisk.ranking import Ranking
from lrisk.spectra import CustomSpectrum, WorstCase, parse_spectrum


def test_risk_of_known_losses():
    losses = [3.0, 1.0, 2.0, 10.0]
    assert lrisk.risk(losses, "mean") == 4.0
    assert lrisk.risk(losses, "superquantile:0.5") == 6.5
    assert lrisk.risk(losses, "worst_case") == 10.0
    assert lrisk.risk(losses, "subquantile:0.5") == 1.5
    assert lrisk.risk(losses, "superquantile:0.375") == pytest.approx(14 / 2.5)


@pytest.mark.parametrize(
    "spectrum", ["mean", "superquantile:0.35", "extremile:2.5", "esrm:3", "worst_case"]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_risk_is_convex_and_its_weights_support_it(spectrum, weighted):
    """ρ(l + v) ≥ ρ(l) + λ·v for every v, at ties too (paper 1, proposition 2)."""
    rng = np.random.default_rng(0)
    weight = rng.uniform(0.5, 2.0, 9) if weighted else None
    for losses in (rng.normal(size=9), rng.integers(0, 3, 9) * 1.0, np.zeros(9)):
        value = lrisk.risk(losses, spectrum, weight)
        weights = lrisk.risk_weights(losses, spectrum, sample_weight=weight)
        assert weights @ losses == pytest.approx(value, abs=1e-12)
        for v in rng.normal(size=(200, 9)) * rng.choice([1e-3, 1.0, 30.0], (200, 1)):
            moved = lrisk.risk(losses + v, spectrum, weight)
            assert moved >= value + weights @ v - 1e-12 * (1.0 + np.abs(v).max())


@pytest.mark.parametrize("kept", [1, 4, 6, 7])
def test_the_subquantile_is_the_most_of_all_thresholds(kept):
    """max_t t − (1/np) Σ (t − ℓ_i)₊, reached at ℓ_(np) (paper 2, eq. 6, lemma 3)."""
    rng = np.random.default_rng(kept)
    for losses in (rng.exponential(size=7), rng.integers(0, 3, 7) * 1.0):
        ordered = np.sort(losses)
        t = np.concatenate([np.linspace(-1.0, 1.0 + ordered[-1], 2001), ordered])
        values = t - np.maximum(t[:, None] - losses, 0.0).sum(axis=1) / kept
        best = ordered[kept - 1]
        at_best = best - np.maximum(best - losses, 0.0).sum() / kept
        assert values.max() == pytest.approx(at_best, abs=1e-12)
        found = lrisk.risk(losses, f"subquantile:{kept / 7}")
        assert found == pytest.approx(at_best, abs=1e-12)
        assert found == pytest.approx(ordered[:kept].mean(), abs=1e-12)


def test_zero_weight_is_no_row():
    losses, weight = [3.0, 1.0, 50.0], [1.0, 2.0, 0.0]
    for spectrum in ("extremile:3", "worst_case", "superquantile:0.4"):
        expected = lrisk.risk([3.0, 1.0, 1.0], spectrum)
        assert lrisk.risk(losses, spectrum, weight) == pytest.approx(expected)
        weights = lrisk.risk_weights(losses, spectrum, sample_weight=weight)
        assert weights[2] == 0.0


def test_worst_case_keeps_its_weight_when_the_masses_do_not_add_up():
    """A cumulative sum of masses may miss one by rounding."""
    weight = np.random.default_rng(0).uniform(0.1, 1.0, 1000)
    ranking = Ranking(WorstCase(), 1000, weight)
    losses = np.random.default_rng(1).normal(size=1000)
    assert ranking.risk(losses) == losses.max()


def test_scale_of_the_weights_does_not_matter():
    losses = np.random.default_rng(0).exponential(size=20)
    weight = np.random.default_rng(1).uniform(0.5, 2.0, 20)
    once = lrisk.risk(losses, "esrm:2", weight)
    assert lrisk.risk(losses, "esrm:2", 1e6 * weight) == pytest.approx(once)
    equal = lrisk.risk(losses, "esrm:2", np.full(20, 3.0))
    assert equal == lrisk.risk(losses, "esrm:2")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([],), "at least one loss"),
        (([[1.0]],), "1-d"),
        (([1.0, np.nan],), "finite"),
        (([1.0], "median"), "spectrum must be one of"),
        (([1.0], "mean", [1.0, 2.0]), "sample_weight must be of shape"),
        (([1.0], "mean", [-1.0]), "finite and ≥ 0"),
        (([1.0], "mean", [np.inf]), "finite and ≥ 0"),
        (([1.0], "mean", [0.0]), "zero"),
        (([1.0, 2.0], "mean", [1e308, 1e308]), "sample_weight must be at most"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow")
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        lrisk.risk(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothing": "l1", "nu": 1.0}, "one of None, 'l2', 'entropy'"),
        ({"smoothing": "l2", "nu": -1.0}, "nu must be"),
        ({"smoothing": "l2", "nu": np.nan}, "nu must be"),
        ({"smoothing": "l2", "nu": 1.0, "spectrum": "subquantile"}, "not increasing"),
    ],
)
def test_smoothing_refusals(options, message):
    with pytest.raises(ValueError, match=message):
        lrisk.risk_weights([1.0, 2.0], **options)


def test_kept_shares_are_what_trimming_leaves():
    rng = np.random.default_rng(0)
    for n in (1, 7, 100, 1000):
        losses, weight = rng.exponential(size=n), rng.integers(1, 5, n) * 1.0
        for p in (0.1, 0.29, 0.5, 0.75, 1.0):
            ranking = Ranking(parse_spectrum(f"subquantile:{p}"), n, weight)
            shares = ranking.kept_shares(losses)
            # the trimmed mean is the plain mean over what is kept
            np.testing.assert_allclose(shares @ ranking.mass, p, rtol=1e-8)
            mean = np.average(losses, weights=shares * weight)
            np.testing.assert_allclose(mean, ranking.risk(losses), rtol=1e-8)
            assert np.sum((shares > 0) & (shares < 1)) <= 1


def test_a_whole_number_of_rows_is_kept_whole():
    for n in range(1, 400):
        for kept in (1, n // 3, n // 2, n - 1):
            if 0 < kept < n:
                ranking = Ranking(parse_spectrum(f"subquantile:{kept / n}"), n)
                shares = ranking.kept_shares(np.arange(n, dtype=float))
                assert set(shares[:kept]) == {1.0} and set(shares[kept:]) == {0.0}


@pytest.mark.parametrize("name", ["mean", "superquantile", "extremile", "worst_case"])
def test_rising_spectra_trim_nothing_at_the_top(name):
    shares = Ranking(parse_spectrum(name), 5).kept_shares(np.arange(5.0))
    np.testing.assert_array_equal(shares, 1.0)


def test_weights_that_end_early_trim_the_rest():
    spectrum = CustomSpectrum(weights=[0.1] * 10 + [0.0] * 2)  # they sum to 1 − ε
    shares = Ranking(spectrum, 12).kept_shares(np.arange(12.0))
    np.testing.assert_array_equal(shares, [1.0] * 10 + [0.0] * 2)


def test_rows_without_weight_are_kept_by_their_loss():
    weight = np.array([1.0, 0.0, 1.0, 0.0])
    ranking = Ranking(parse_spectrum("subquantile:0.5"), 4, weight)
    shares = ranking.kept_shares(np.array([1.0, 0.5, 2.0, 3.0]))
    np.testing.assert_array_equal(shares, [1.0, 1.0, 0.0, 0.0])


SPECTRA = ["mean", "superquantile:0.4", "extremile:3", "esrm:1", "subquantile:0.6"]
spectra = pytest.mark.parametrize("spectrum", SPECTRA)
weighings = pytest.mark.parametrize("weighted", [False, True])


def ranked(spectrum, weighted, n=13, seed=0):
    rng = np.random.default_rng(seed)
    weight = rng.uniform(0.5, 3.0, n) if weighted else None
    return Ranking(parse_spectrum(spectrum), n, weight), rng.exponential(size=n)


@weighings
@spectra
def test_weights_are_what_each_row_adds_to_the_cumulative_weight(spectrum, weighted):
    ranking, losses = ranked(spectrum, weighted)
    order = np.argsort(losses)
    P = np.minimum(np.r_[0.0, np.cumsum(ranking.mass[order])], 1.0)
    expected = np.diff(ranking.spectrum.cumulative(P))
    np.testing.assert_allclose(ranking.sigma(order), expected, atol=1e-14)
    np.testing.assert_allclose(ranking.weights(losses)[order], expected, atol=1e-14)
    assert ranking.risk(losses) == pytest.approx(expected @ losses[order], rel=1e-13)
    assert ranking.mass.sum() == pytest.approx(1.0)
    assert ranking.total == pytest.approx(ranking.row_weight.sum())


def test_ties_keep_the_order_of_the_rows():
    ranking, _ = ranked("extremile:3", False, 4)
    weights = ranking.weights(np.array([1.0, 0.0, 1.0, 1.0]))
    np.testing.assert_array_equal(weights[[1, 0, 2, 3]], ranking.sigma(np.arange(4)))


@weighings
@spectra
@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("n", [1, 2, 13, 3000])
def test_the_risk_and_weights_at_once(n, exact, spectrum, weighted):
    ranking, losses = ranked(spectrum, weighted, n)
    risk, weights = ranking.risk_and_weights(losses, exact=exact)
    assert risk == pytest.approx(weights @ losses, rel=1e-12)
    assert risk == pytest.approx(ranking.risk(losses), rel=1e-12 if exact else 1e-6)
    assert risk <= ranking.risk(losses) * (1 + 1e-12)
    if exact:  # no two losses tie
        np.testing.assert_allclose(weights, ranking.weights(losses), atol=1e-14)
    over = losses.copy()
    again, written = ranking.risk_and_weights(over, exact=exact, out=over)
    assert again == risk
    np.testing.assert_array_equal(written, weights)


@pytest.mark.parametrize("q", [0.0, 0.25, 0.3, 0.5, 0.9, 0.999])
def test_tails_share_what_is_left_at_their_threshold(q):
    ranking = Ranking(parse_spectrum(f"superquantile:{q}"), 8)
    for losses in (np.arange(8.0), np.r_[0.0, np.ones(6), 2.0], np.ones(8)):
        expected = ranking.shared_weights(losses)
        risk, weights = ranking.risk_and_weights(losses)
        np.testing.assert_allclose(weights, expected, atol=1e-15)
        assert risk == pytest.approx(ranking.risk(losses), rel=1e-14)
        assert ranking.superquantile(losses) == pytest.approx(risk, rel=1e-14)


@weighings
def test_superquantiles_need_no_weights(weighted):
    ranking, losses = ranked("superquantile:0.37", weighted, 200)
    assert ranking.superquantile(losses) == pytest.approx(ranking.risk(losses))


@weighings
def test_tied_rows_share_by_mass(weighted):
    ranking, _ = ranked("extremile:3", weighted, 6)
    losses = np.array([3.0, 1.0, 3.0, 0.0, 1.0 + 1e-9, 3.0])
    order = np.argsort(losses, kind="stable")
    sigma, mass = ranking.sigma(order), ranking.mass
    for tied, blocks in (
        (0.0, [[3], [1], [4], [0, 2, 5]]),
        (1e-8, [[3], [1, 4], [0, 2, 5]]),
    ):
        shared, begin = ranking.shared_weights(losses, tied), 0
        for block in blocks:
            part = sigma[begin : begin + len(block)].sum()
            expected = part * mass[block] / mass[block].sum()
            np.testing.assert_allclose(shared[block], expected, rtol=1e-12)
            begin += len(block)


def test_the_worst_thousandth_is_as_concentrated_as_the_density_there():
    for spectrum, expected in (
        ("mean", 1.0),
        ("superquantile:0.8", 5.0),
        ("extremile:3", 3.0),
        ("worst_case", 1000.0),
    ):
        found = Ranking(parse_spectrum(spectrum), 7).concentration()
        assert found == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("weight", [None, np.full(6, 3.0), np.arange(1.0, 7.0)])
def test_some_of_the_rows_keep_their_weights(weight):
    ranking = Ranking(parse_spectrum("esrm:1"), 6, weight)
    part = ranking.taken(np.array([4, 1]))
    expected = np.ones(2) if weight is None else weight[[4, 1]]
    np.testing.assert_array_equal(part.row_weight, expected)
    assert part.total == expected.sum() and part.n_rows == 2
    assert part.equal == (weight is None or weight[0] == 3.0)
    other = ranking.with_spectrum(WorstCase())
    np.testing.assert_array_equal(other.row_weight, ranking.row_weight)
    assert other.risk(np.arange(6.0)) == 5.0


@pytest.mark.parametrize("weight", [None, np.full(100_000, 3.0)])
def test_equal_weights_of_many_rows_are_one_number(weight):
    ranking = Ranking(parse_spectrum("mean"), 100_000, weight)
    assert ranking.mass.strides == (0,) and ranking.mass[-1] == 1e-5
    assert ranking.total == 100_000 * (1.0 if weight is None else 3.0)
