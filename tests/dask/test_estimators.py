"""Fits on a cluster are those in memory, whatever the rows come in.

Rounding is not tried here: by test_actors they have the bits of the same parts in
one process, and those are tried with the rounding of other processors.
"""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

pytest.importorskip("distributed", reason="needs dask and distributed (lrisk[dask])")

import dask.array as da
import dask.dataframe as dd
from dask.delayed import delayed
from distributed import Client
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import lrisk
from lrisk.dask import RiskClassifier, RiskRegressor, base
from lrisk.dask.actors import Actors

N, D = 12_000, 3  # of 10,000 and fewer all are gathered


@pytest.fixture(scope="module", autouse=True)
def client():
    """Threads of this process: real processes are for `test_actors`."""
    with Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as client:
        yield client


def drawn(n=N, seed=0, classes=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, D)) * [1.0, 10.0, 0.1] + [0.0, 5.0, -3.0]
    y = X @ [1.0, 0.1, 3.0] + rng.standard_t(4, size=n)
    if classes:
        score = X @ [2.0, 0.2, 10.0] + 0.3 * rng.logistic(size=n)
        y = np.where(score > np.median(score), "yes", "no")
    return X, y, rng.uniform(0.5, 2.0, n)


def check_same(model, plain, X, y, weight=None):
    """|ΔF| ≤ tol·F, and the bound proven anew by what shares nothing with parts."""
    assert model.dual_gap_ <= model.tol
    assert abs(model.objective_ - plain.objective_) <= model.tol * plain.objective_
    whole = model.to_memory()
    whole.risk_weights_ = np.asarray(model.risk_weights_)
    proof = lrisk.certify(whole, X, y, weight)
    assert proof.primal <= model.objective_ * (1 + 1e-12)
    assert proof.relative_gap <= model.tol
    lam = whole.risk_weights_
    assert lam.sum() == pytest.approx(1.0, abs=1e-9)
    assert np.abs(lam - plain.risk_weights_).sum() < 0.05
    assert whole.weight_sum_ == pytest.approx(plain.weight_sum_)


@pytest.mark.parametrize("spectrum", ["mean", "extremile:2", "superquantile:0.7"])
@pytest.mark.parametrize("weighted", [False, True])
def test_numbers(spectrum, weighted):
    X, y, weight = drawn()
    if weighted:
        weight[::7] = 0.0
    own = weight if weighted else None
    plain = lrisk.RiskRegressor(spectrum).fit(X, y, own)
    chunks = (1000, 4, 9996, 1000)
    model = RiskRegressor(spectrum).fit(
        da.from_array(X, chunks=(chunks, (1, 2))),
        da.from_array(y, chunks=2500),
        da.from_array(weight, chunks=N) if weighted else None,
    )
    check_same(model, plain, X, y, own)
    assert model.risk_weights_.chunks == (chunks,)
    if weighted:
        assert not np.any(np.asarray(model.risk_weights_)[::7])
    found = model.predict(da.from_array(X, chunks=(1500, 2)))
    assert isinstance(found, da.Array) and found.chunks == ((1500,) * 8,)
    np.testing.assert_allclose(found, model.to_memory().predict(X))
    np.testing.assert_allclose(model.predict(X), found)


@pytest.mark.parametrize("spectrum", ["mean", "extremile:2", "superquantile:0.7"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {"yes": 3.0}])
def test_classes(spectrum, class_weight):
    X, y, weight = drawn(classes=True)
    plain = lrisk.RiskClassifier(spectrum, class_weight=class_weight)
    plain.fit(X, y, weight)
    model = RiskClassifier(spectrum, class_weight=class_weight).fit(
        da.from_array(X, chunks=(1700, D)),
        da.from_array(y, chunks=1700),
        da.from_array(weight, chunks=1700),
    )
    check_same(model, plain, X, y, weight)
    assert model.classes_.tolist() == ["no", "yes"]
    rows = da.from_array(X, chunks=(1700, D))
    assert model.predict(rows).dtype == y.dtype
    assert (model.predict(rows).compute() == plain.predict(X)).mean() > 0.999
    proba = model.predict_proba(rows)
    assert proba.shape == (N, 2)
    np.testing.assert_allclose(proba, model.to_memory().predict_proba(X))
    scores = model.decision_function(rows)
    np.testing.assert_allclose(scores, model.to_memory().decision_function(X))


@pytest.mark.parametrize("spectrum", ["extremile:2", "superquantile:0.7"])
@pytest.mark.parametrize("loss", ["huber:0.5", "squared_hinge"])
def test_losses_without_curvature_somewhere(spectrum, loss):
    X, y, weight = drawn(classes=loss == "squared_hinge")
    kind = "RiskClassifier" if loss == "squared_hinge" else "RiskRegressor"
    plain = getattr(lrisk, kind)(spectrum, loss=loss).fit(X, y, weight)
    model = {"RiskClassifier": RiskClassifier, "RiskRegressor": RiskRegressor}[kind](
        spectrum, loss=loss
    )
    rows = [da.from_array(each, chunks=2500) for each in (y, weight)]
    model.fit(da.from_array(X, chunks=(2500, D)), *rows)
    assert model.dual_gap_ <= 1e-6
    told = lrisk.certify(plain.set_params(tol=1e-10).fit(X, y, weight), X, y, weight)
    assert told.dual * (1 - 1e-12) <= model.objective_ <= told.primal * (1 + 1.1e-6)
    assert model.objective_ * (1 - model.dual_gap_) <= told.primal * (1 + 1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_frames(dtype):
    X, y, _ = drawn()
    frame = pd.DataFrame(X.astype(dtype), columns=list("abc"), index=range(7, N + 7))
    frame["y"] = y
    rows = dd.from_pandas(frame, npartitions=3)
    plain = lrisk.RiskRegressor("extremile:2").fit(frame[list("abc")], y)
    model = RiskRegressor("extremile:2").fit(rows[list("abc")], rows["y"])
    check_same(model, plain, frame[list("abc")], y)
    assert model.feature_names_in_.tolist() == list("abc")
    found = model.predict(rows[list("abc")])
    assert isinstance(found, dd.Series)
    found = found.compute()
    assert found.index.equals(frame.index)
    np.testing.assert_allclose(found, model.to_memory().predict(frame[list("abc")]))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(rows[list("bac")]).compute()


def test_rows_are_not_taken_for_one_another():
    X, y, _ = drawn(300)
    rows = dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=3)
    other = pd.Series(y).sample(frac=1.0, random_state=0)
    mixed = dd.from_pandas(other, npartitions=3, sort=False)
    right = dd.from_pandas(other.sort_index(), npartitions=3)
    model = RiskRegressor("mean")
    with pytest.raises(ValueError, match="y must be of the rows of X"):
        model.fit(rows, mixed)
    with pytest.raises(ValueError, match="sample_weight must be of the rows of X"):
        model.fit(rows, right, abs(mixed))
    by_place = model.fit(rows, mixed.to_dask_array())
    assert by_place.n_features_in_ == D


def test_frames_of_classes():
    X, y, _ = drawn(classes=True)
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y)
    rows = dd.from_pandas(frame, npartitions=3)
    model = RiskClassifier("extremile:2").fit(rows[list("abc")], rows["y"])
    proba = model.predict_proba(rows[list("abc")])
    assert proba.columns.tolist() == ["no", "yes"]
    np.testing.assert_allclose(
        proba.compute(), model.to_memory().predict_proba(frame[list("abc")])
    )


def test_delayed_partitions():
    X, y, _ = drawn()
    cuts = [slice(0, 2000), slice(2000, 2000), slice(2000, N)]
    parts = [delayed(np.array)(X[cut]) for cut in cuts]
    targets = [delayed(np.array)(y[cut]) for cut in cuts]
    model = RiskRegressor("extremile:2").fit(parts, targets)
    check_same(model, lrisk.RiskRegressor("extremile:2").fit(X, y), X, y)
    found = model.predict(parts)
    assert [len(part.compute()) for part in found] == [2000, 0, 10_000]


@pytest.mark.parametrize("spectrum", ["extremile:2", "superquantile:0.9"])
def test_very_many_uneven_partitions(spectrum):
    X, y, _ = drawn()
    rng = np.random.default_rng(1)
    ends = np.sort(rng.integers(0, N, 199))
    ends[:40] = 0  # many without a row, many with a few
    ends[40:100] = np.sort(rng.integers(0, 200, 60))
    chunks = tuple(np.diff([0, *np.sort(ends), N]).tolist())
    assert len(chunks) == 200 and chunks.count(0) >= 40
    rows = da.from_array(X, chunks=(chunks, D))
    model = RiskRegressor(spectrum).fit(rows, da.from_array(y, chunks=(chunks,)))
    check_same(model, lrisk.RiskRegressor(spectrum).fit(X, y), X, y)
    again = RiskRegressor(spectrum).fit(rows, da.from_array(y, chunks=(chunks,)))
    np.testing.assert_array_equal(model.coef_, again.coef_)
    assert model.objective_ == again.objective_
    assert model.dual_gap_ == again.dual_gap_


def test_without_an_intercept():
    X, y, _ = drawn()
    options = {"fit_intercept": False, "alpha": 10.0}
    rows = da.from_array(X, chunks=(2500, D)), da.from_array(y, chunks=2500)
    model = RiskRegressor("extremile:2", **options).fit(*rows)
    plain = lrisk.RiskRegressor("extremile:2", **options).fit(X, y)
    check_same(model, plain, X, y)
    assert model.intercept_ == 0.0


@pytest.mark.parametrize("calls", [4, 12])
def test_an_interrupted_fit_keeps_the_best_point(monkeypatch, calls):
    X, y, _ = drawn()
    asked = []
    call_each = Actors.call_each

    def interrupted(engine, method, arguments):
        asked.append(method)
        if len(asked) == calls:
            raise KeyboardInterrupt
        return call_each(engine, method, arguments)

    monkeypatch.setattr(Actors, "call_each", interrupted)
    model = RiskRegressor("superquantile:0.9", tol=1e-12)
    rows = da.from_array(X, chunks=(2500, D)), da.from_array(y, chunks=2500)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*rows)
    if calls == 4:  # nothing has been found yet
        assert not hasattr(model, "coef_")
        return
    plain = lrisk.RiskRegressor("superquantile:0.9").fit(X, y)
    assert plain.objective_ * (1 - 1e-6) <= model.objective_ <= 2 * plain.objective_
    assert np.asarray(model.risk_weights_).sum() == pytest.approx(1.0)


def test_a_limit_on_iterations_warns():
    X, y, _ = drawn()
    rows = da.from_array(X, chunks=(2500, D)), da.from_array(y, chunks=2500)
    with pytest.warns(ConvergenceWarning, match="RiskRegressor.*iteration limit"):
        RiskRegressor("superquantile:0.9", max_iter=1, tol=1e-12).fit(*rows)


def test_a_collapsed_fit_warns_and_is_proven():
    X, _, _ = drawn(12_000)
    y = np.random.default_rng(1).random(12_000) < 0.5  # nothing to be learnt
    rows = da.from_array(X, chunks=(5000, D)), da.from_array(y, chunks=5000)
    with pytest.warns(lrisk.CollapsedFitWarning, match="best fit is constant"):
        model = RiskClassifier("superquantile:0.9").fit(*rows)
    assert not np.any(model.coef_) and model.dual_gap_ <= 1e-6
    with pytest.warns(lrisk.CollapsedFitWarning):
        plain = lrisk.RiskClassifier("superquantile:0.9").fit(X, y)
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-6)


def test_copies_and_pickles_have_no_client(client):
    model = RiskRegressor("mean")
    model.client = client
    assert clone(model).client is None
    assert pickle.loads(pickle.dumps(model)).client is None
    assert model.client is client


def test_a_client_is_one():
    X, y, _ = drawn(100)
    model = RiskRegressor("mean")
    model.client = "tcp://127.0.0.1:8786"
    with pytest.raises(TypeError, match=r"client must be a distributed\.Client"):
        model.fit(da.from_array(X, chunks=50), da.from_array(y, chunks=50))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"spectrum": "worst_case"}, "spectrum.*in memory"),
        ({"spectrum": "subquantile:0.8"}, "spectrum.*in memory"),
        ({"loss": "absolute"}, "loss.*in memory"),
        ({"alpha": -1.0}, "alpha"),
        ({"tol": "small"}, "tol"),
    ],
)
def test_what_is_not_covered_is_refused_before_rows_are_read(options, message):
    def never():
        raise AssertionError("read")

    parts = [delayed(never)()]
    with pytest.raises((ValueError, TypeError), match=message):
        RiskRegressor(**options).fit(parts, parts)


def refusals():
    X, y, weight = drawn(100)
    lazy = {
        "X": da.from_array(X, chunks=(50, D)),
        "y": da.from_array(y, chunks=50),
        "sample_weight": None,
    }
    holes = X.copy()
    holes[77, 1] = np.nan
    large = X.copy()
    large[3, 2] = 1e60
    small = X * [1.0, 1e-60, 1.0]
    negative = weight.copy()
    negative[60] = -1.0
    pieces = [delayed(X)] * 3
    of = {
        "in memory": ({"X": X}, TypeError, "X must be a dask array.*from_array"),
        "y in memory": ({"y": y}, TypeError, "y must be a dask array"),
        "lengths": ({"y": da.from_array(y[:90])}, ValueError, "y must be of 100 rows"),
        "partitions": ({"X": pieces}, ValueError, "as many partitions as X, 3"),
        "two dims": ({"y": da.from_array(X)}, ValueError, "y must be of one dim"),
        "NaN": ({"X": da.from_array(holes, chunks=50)}, ValueError, "NaN"),
        "size": ({"X": da.from_array(large)}, ValueError, "X must be at most"),
        "small": ({"X": da.from_array(small)}, ValueError, "X must be at least.*col"),
        "negative": (
            {"sample_weight": da.from_array(negative)},
            ValueError,
            "sample_weight must be finite",
        ),
        "no weight": (
            {"sample_weight": da.zeros(100, chunks=50)},
            ValueError,
            "sample_weight must be positive",
        ),
        "sparse": (
            {"X": [delayed(sp.csr_array)(X)], "y": [delayed(y)]},
            TypeError,
            "X must be of dense rows",
        ),
        "no rows": (
            {"X": lazy["X"][:0], "y": lazy["y"][:0]},
            ValueError,
            "at least one row",
        ),
    }
    return [
        pytest.param({**lazy, **case[0]}, *case[1:], id=k) for k, case in of.items()
    ]


@pytest.mark.parametrize(("given", "kind", "message"), refusals())
def test_bad_rows_are_refused_by_name(given, kind, message):
    model = RiskRegressor("mean")
    with pytest.raises(kind, match=message):
        model.fit(given["X"], given["y"], given["sample_weight"])
    assert not hasattr(model, "coef_") and not hasattr(model, "n_features_in_")


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.arange(100) % 3, "y must be of two classes"),
        (np.zeros(100), "two classes"),
        (np.linspace(0.1, 3.3, 100), "continuous"),
    ],
)
def test_targets_that_are_not_two_classes_are_refused(y, message):
    X = da.from_array(drawn(100)[0], chunks=(50, D))
    with pytest.raises(ValueError, match=message):
        RiskClassifier("mean").fit(X, da.from_array(y, chunks=50))


def test_a_class_without_weight_is_left_out():
    X, y, _ = drawn(1000, classes=True)
    y = y.astype(object)
    y[:50] = "maybe"
    weight = {"maybe": 0.0}
    rows = da.from_array(X, chunks=(300, D)), da.from_array(y, chunks=300)
    model = RiskClassifier("extremile:2", class_weight=weight).fit(*rows)
    plain = lrisk.RiskClassifier("extremile:2").fit(X[50:], y[50:])
    assert model.classes_.tolist() == ["no", "yes"]
    assert model.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    lam = np.asarray(model.risk_weights_)
    assert not lam[:50].any() and lam.sum() == pytest.approx(1.0)


def test_without_a_cluster_threads_of_this_process_do(monkeypatch):
    def none():
        raise ValueError("No global client found")

    monkeypatch.setattr(base.distributed, "get_client", none)
    X, y, _ = drawn(2000)
    model = RiskRegressor("extremile:2")
    model.fit(da.from_array(X, chunks=(500, D)), da.from_array(y, chunks=500))
    assert model.dual_gap_ <= 1e-6
