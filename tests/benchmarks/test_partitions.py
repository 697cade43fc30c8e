"""The proof that the benchmark of parts makes anew, against what is known."""

import numpy as np
import pytest
from benchmarks.partitions import proven, verdict, write

import lrisk
from lrisk.spectra import parse_spectrum


@pytest.mark.parametrize("spectrum", ["esrm:1", "superquantile:0.9"])
def test_what_is_proven_anew_is_true(tmp_path, spectrum):
    n, d = 12_000, 4
    write(tmp_path, n, d)
    X = np.memmap(tmp_path / "X.bin", np.float32, mode="r", shape=(n, d))
    model = lrisk.RiskRegressor(spectrum)
    path = tmp_path / "weights.npy"
    y = tmp_path / "y.npy"
    lrisk.outofcore.fit(model, X, y, n_threads=2, weights_to=path)
    raw = [*model.coef_, model.intercept_]
    primal, dual = proven(tmp_path, n, d, parse_spectrum(spectrum), raw)
    best = lrisk.RiskRegressor(spectrum, tol=1e-9).fit(X.astype(float), np.load(y))
    assert dual <= best.objective_ * (1 + 1e-12) and best.objective_ <= primal
    assert primal - dual <= 1e-6 * primal
    raw[0] += 0.1
    worse, low = proven(tmp_path, n, d, parse_spectrum(spectrum), raw)
    assert worse > primal and low <= best.objective_


def test_verdicts():
    assert verdict(1.0, 1.1).endswith("met)") and verdict(1.2, 1.1).endswith("missed)")
