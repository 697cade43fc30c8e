import numpy as np
import pytest
import scipy.sparse as sp

from lrisk import RiskKMeans
from lrisk.analysis import cluster_map


@pytest.fixture
def wide():
    """Two clouds along one direction of six, and outliers along another."""
    rng = np.random.default_rng(0)
    X = 0.1 * rng.normal(size=(120, 6))
    X[:50, 2] += 5.0
    X[100:, 4] += 1000.0 * rng.normal(size=20)
    return X, RiskKMeans(2, spectrum="subquantile:0.8", random_state=0).fit(X)


def test_plane_of_the_kept_rows(wide):
    X, model = wide
    found = cluster_map(model, X)
    np.testing.assert_array_equal(found.inlier_mask, model.inlier_mask_)
    np.testing.assert_array_equal(found.labels, model.labels_)
    # the first direction is that of the clouds, not of the outliers
    apart = abs(found.centers[0, 0] - found.centers[1, 0])
    assert apart == pytest.approx(5.0, abs=0.1)
    kept = found.points[found.inlier_mask]
    np.testing.assert_allclose(
        np.cov(kept.T)[0, 1], 0.0, atol=1e-10
    )  # principal directions are uncorrelated
    np.testing.assert_allclose(cluster_map(model, sp.csr_array(X)).points, found.points)


def test_columns_are_taken_as_they_are(wide):
    X, model = wide
    found = cluster_map(model, X, features=(4, 2))
    np.testing.assert_array_equal(found.points, X[:, [4, 2]])
    np.testing.assert_array_equal(found.centers, model.cluster_centers_[:, [4, 2]])
    assert found.axes == ("feature 4", "feature 2")
    with pytest.raises(ValueError, match="features must be two columns below 6"):
        cluster_map(model, X, features=(0, 6))


def test_names_and_single_columns():
    import pandas as pd

    frame = pd.DataFrame({"weight": [0.0, 0.1, 5.0, 5.1, 90.0]})
    model = RiskKMeans(2, random_state=0).fit(frame)
    found = cluster_map(model, frame)
    assert found.axes == ("weight", "")
    np.testing.assert_array_equal(found.points[:, 1], 0.0)
    np.testing.assert_array_equal(found.inlier_mask, [1, 1, 1, 1, 0])
