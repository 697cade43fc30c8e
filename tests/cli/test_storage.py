"""Model files of fits that found bad rows: they save, load and predict."""

import subprocess

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes

from lrisk import RobustClassifier, RobustRegressor
from lrisk.baselines import Sever
from lrisk.cli.models import fit_model, predict_with
from lrisk.cli.storage import load_model, save_model

KERNELS = ["linear", "rbf", "poly", "laplacian", "cosine"]


def spoilt(task, n=90, seed=0):
    """A table of which every tenth row is wrong."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=(2, n))
    wrong = np.arange(n) % 10 == 0
    level = 3 * x - z + 0.3 * rng.normal(size=n)
    y = np.where(wrong, 10 * level + 40, level)
    if task == "classification":
        y = np.where((level > 0) ^ wrong, "high", "low")
    return {"x": x, "z": z, "y": y}


def there_and_back(model, path):
    save_model(model, path)
    return load_model(path)


def test_what_judged_rows_is_not_saved(tmp_path):
    """The table of users' first try: a tenth of the targets ten times too high."""
    X, y = load_diabetes(return_X_y=True)
    y[::10] *= 10
    table = {**{f"x{j}": column for j, column in enumerate(X.T)}, "y": y}
    made = fit_model(table, "y", None, "auto", {}).model
    assert np.sum(~made["estimator"].inlier_mask_) >= 20, "else nothing is tested"
    again = there_and_back(made, tmp_path / "m.skops")
    before, after = predict_with(made, table), predict_with(again, table)
    np.testing.assert_array_equal(
        before.columns["prediction"], after.columns["prediction"]
    )


def test_whatever_judges_rows_is_left_out(tmp_path):
    made = fit_model(spoilt("regression"), "y", None, "auto", {"alpha": 0.1}).model
    made["estimator"]._judged_by = subprocess.check_output
    again = there_and_back(made, tmp_path / "m.skops")
    assert made["estimator"]._judged_by is subprocess.check_output
    assert "_judged_by" not in vars(again["estimator"])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_fits_that_found_bad_rows_come_back(task, kernel, tmp_path):
    table = spoilt(task)
    settings = {"kernel": kernel, "alpha": 0.1, "contamination": 0.1}
    made = fit_model(table, "y", None, task, settings).model
    assert np.sum(~made["estimator"].inlier_mask_) == 9
    again = there_and_back(made, tmp_path / "m.skops")
    new = spoilt(task, n=40, seed=1)
    before, after = predict_with(made, new), predict_with(again, new)
    for name, values in before.columns.items():
        np.testing.assert_array_equal(values, after.columns[name])
    np.testing.assert_array_equal(
        made["estimator"].inlier_mask_, again["estimator"].inlier_mask_
    )


@pytest.mark.parametrize("task", ["regression", "classification"])
class TestWhatALoadedModelCanDo:
    def loaded(self, task, tmp_path):
        settings = {"alpha": 0.1, "contamination": 0.1}
        made = fit_model(spoilt(task), "y", None, task, settings).model
        return made["estimator"], there_and_back(made, tmp_path / "m")["estimator"]

    def test_judging_rows_is_refused_by_name_until_it_is_fitted_anew(
        self, task, tmp_path
    ):
        own, again = self.loaded(task, tmp_path)
        X = np.random.default_rng(0).normal(size=(60, 2))
        y = (X[:, 0] > 0).astype(int)
        assert again.score(X, y) == own.score(X, y)
        for judge in ("score_outliers", "explain_outliers"):
            getattr(own, judge)(X, y)  # the saved model itself is untouched
            with pytest.raises(AttributeError, match=r"from a model file.*fit it anew"):
                getattr(again, judge)(X, y)
        for fitted in (again.fit(X, y), clone(again).fit(X, y)):
            assert fitted.score_outliers(X, y).shape == (60,)

    def test_other_missing_attributes_are_called_missing(self, task, tmp_path):
        for model in self.loaded(task, tmp_path):
            assert not hasattr(model, "nothing_") and not hasattr(model, "__nothing__")
            with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
                model.nothing  # noqa: B018


def test_robust_models_within_others_are_saved_too(tmp_path):
    table = spoilt("regression")
    settings = {"estimator": "RobustRegressor"}
    made = fit_model(table, "y", "Sever", "regression", settings).model
    assert isinstance(made["estimator"], Sever)
    again = there_and_back(made, tmp_path / "m.skops")
    new = spoilt("regression", n=20, seed=1)
    np.testing.assert_array_equal(
        *(predict_with(m, new).columns["prediction"] for m in (made, again))
    )


@pytest.mark.parametrize("kind", [RobustRegressor, RobustClassifier])
def test_an_unfitted_model_lacks_attributes_as_usual(kind):
    assert not hasattr(kind(), "_anything")
