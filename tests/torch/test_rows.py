"""Products with features of 32 and 64 bits, and which rows a share of them is."""

import sys

import numpy as np
import pytest

from lrisk.partitions.rows import BLOCK, ArrayRows

torch = pytest.importorskip("torch", reason="torch is not installed")

from lrisk.torch import rows  # noqa: E402
from lrisk.torch.rows import TensorRows, compiled  # noqa: E402

DTYPES = [torch.float32, torch.float64]
every_dtype = pytest.mark.parametrize("dtype", DTYPES)


@every_dtype
@pytest.mark.parametrize("n", [0, 1, 127, BLOCK + 1, 5 * BLOCK])
@pytest.mark.parametrize("d", [1, 3, 64, 65, 130])
@pytest.mark.parametrize("turned", [False, True])
def test_products_are_of_64_bits(device, dtype, n, d, turned, monkeypatch):
    monkeypatch.setattr(rows, "PIECE", 2 * BLOCK * (d + 1))  # several pieces
    rng = np.random.default_rng(d)
    X = torch.tensor(rng.normal(size=(n, d)), dtype=dtype, device=device)
    X = X.T.contiguous().T if turned else X
    theta, r = rng.normal(size=d + 1), rng.normal(size=n)
    own = TensorRows(X)
    exact = X.double().cpu().numpy()
    scores = own.scores(torch.tensor(theta, device=device)).cpu().numpy()
    np.testing.assert_allclose(scores, exact @ theta[:-1] + theta[-1], atol=1e-12)
    pulled = own.pull(torch.tensor(r, device=device)).cpu().numpy()
    expected = np.append(r @ exact, r.sum())
    np.testing.assert_allclose(pulled, expected, atol=1e-11)
    ids = np.flatnonzero(rng.random(n) < 0.5)
    places = torch.tensor(ids, device=device)
    some = own.pull_some(places, torch.tensor(r[ids], device=device)).cpu().numpy()
    expected = np.append(r[ids] @ exact[ids], r[ids].sum())
    np.testing.assert_allclose(some, expected, atol=1e-11)


@every_dtype
@pytest.mark.parametrize("every", [1, 2, 5, 16])
@pytest.mark.parametrize("n", [0, 1, BLOCK // 16, BLOCK, 3 * BLOCK + 100, 40 * BLOCK])
def test_a_share_is_that_of_arrays(device, dtype, every, n):
    X = torch.arange(n, dtype=dtype, device=device)[:, None]
    pieces = [piece.X[:, 0].cpu() for piece in TensorRows(X).pieces(every)]
    found = np.concatenate([np.empty(0), *(piece.numpy() for piece in pieces)])
    blocks = ArrayRows(np.arange(float(n))[:, None]).blocks(every)
    expected = np.concatenate([np.empty(0), *(block.X[:, 0] for block in blocks)])
    np.testing.assert_array_equal(found, expected)
    for places, own in TensorRows(X).pieces(every):
        assert torch.equal(X[places].double(), own)


def test_kernels_that_cannot_be_compiled_are_done_without(monkeypatch, caplog):
    """As where there is no compiler of C; without Triton nothing is tried."""
    device = torch.device("cpu")
    monkeypatch.setattr(rows.importlib.util, "find_spec", lambda name: None)
    assert compiled.__wrapped__(device) is None
    monkeypatch.setattr(rows.importlib.util, "find_spec", lambda name: "there")
    monkeypatch.setitem(sys.modules, "lrisk.torch._kernels", None)
    with caplog.at_level("INFO", logger="lrisk"):
        assert compiled.__wrapped__(device) is None
    assert "without Triton" in caplog.text


def test_a_gpu_has_its_kernels():
    if not torch.cuda.is_available():
        pytest.skip("there is no GPU: tensors are tried on the processor only")
    pytest.importorskip("triton", reason="triton is not installed")
    assert compiled(torch.device("cuda", 0)) is not None
