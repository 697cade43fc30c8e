"""Noise, none, or cannot tell; scores that always rank; flags."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from lrisk.procedures.label_noise.detection import Detector, flag
from lrisk.procedures.label_noise.references import FeatureModels, cross_fitted
from lrisk.procedures.label_noise.rows import LabelledRows, assign_folds


def detect(Z, codes, given=None, seed=0):
    rng = np.random.default_rng(seed)
    K, everybody = int(codes.max()) + 1, np.arange(len(codes))
    rows = LabelledRows.of(Z, codes, K)._replace(folds=assign_folds(codes, 5, rng))
    logs = cross_fitted(
        FeatureModels(rows, False, rng, everybody), rows, everybody
    ).logs
    return Detector(logs, rows, everybody).detect(given)


def determined(seed, n=400, n_classes=2):
    """Classes that x determines: the largest of some linear functions."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 4))
    return rng, Z, Z[:, :n_classes].argmax(axis=1)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_uniform_noise_is_found_with_its_share(n_classes):
    for seed in range(3):
        rng, Z, truth = determined(seed, n_classes=n_classes)
        wrong = rng.random(len(truth)) < 0.2
        codes = np.where(wrong, truth + rng.integers(1, n_classes, len(truth)), truth)
        found = detect(Z, codes % n_classes)
        assert found.answer == "noise"
        assert found.share == pytest.approx(wrong.mean(), abs=0.05)
        low, high = found.interval
        assert low - 0.03 <= wrong.mean() <= high + 0.03 and high - low < 0.2
        assert np.mean(found.suggestion == truth) > 0.9


def test_one_class_into_one_other_is_found_with_its_direction():
    for seed in range(3):
        rng, Z, truth = determined(seed, n_classes=3)
        wrong = (truth == 0) & (rng.random(len(truth)) < 0.3)
        found = detect(Z, np.where(wrong, 1, truth))
        assert found.answer == "noise"
        assert found.noise[0, 1] == pytest.approx(0.3, abs=0.12)
        assert found.noise[1, 0] < 0.05 and found.noise[2, 2] > 0.95
        flagged = flag(found.score, np.ones(len(truth)), np.where(wrong, 1, truth))
        assert wrong[flagged].mean() >= 0.85 and flagged[wrong].mean() >= 0.3


@pytest.mark.parametrize("n", [150, 1500])
def test_nothing_is_found_where_x_determines_the_classes(n):
    for seed in range(3 if n < 1000 else 1):
        _, Z, codes = determined(seed, n=n)
        codes[0] = 1 - codes[0]  # one row must not be called noise
        found = detect(Z, codes)
        assert found.answer == "none" and found.share == 0.0
        assert found.score.argmax() == 0
        assert found.interval[1] < 0.05


def test_many_rows_that_are_sure_of_no_noise_leave_scores():
    """Shares that matter are then less likely than the smallest positive number."""
    n = 20_000
    codes = np.arange(n) % 2
    logs = np.where(codes[:, None] == np.arange(2), -0.01, -5.0)[None]
    rows = LabelledRows.of(logs[0], codes, 2)._replace(folds=np.arange(n) // 2 % 5)
    found = Detector(logs, rows, np.arange(n)).detect()
    assert found.answer == "none" and np.all(found.score < 0.01)
    assert found.likely is None


def test_overlap_is_not_called_noise_and_still_ranks():
    answers = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        Z = rng.normal(size=(300, 4))
        p = expit(2.0 * Z[:, 0] + Z[:, 1])
        codes = (rng.random(300) < p).astype(int)
        found = detect(Z, codes)
        answers.append(found.answer)
        against = codes != (p > 0.5)
        assert roc_auc_score(against, found.score) > 0.9
        assert found.interval[0] == 0.0
    assert "noise" not in answers


def test_much_noise_in_few_rows_cannot_be_told_from_overlap():
    answers, likely = [], []
    for seed in range(5):
        rng, Z, truth = determined(seed, n=120)
        wrong = rng.random(120) < 0.4
        found = detect(Z, np.where(wrong, 1 - truth, truth))
        answers.append(found.answer)
        if found.answer == "cannot tell":
            assert found.interval[0] == 0.0 and found.interval[1] > 0.2
            likely += [] if found.likely is None else [1.0 - found.likely[0, 0]]
    assert "none" not in answers and "cannot tell" in answers
    assert likely and min(likely) >= 0.05 and max(likely) <= 0.47


def test_a_given_share_is_taken_at_its_word():
    rng, Z, truth = determined(0)
    wrong = rng.random(len(truth)) < 0.2
    codes = np.where(wrong, 1 - truth, truth)
    found = detect(Z, codes, given=0.3)
    assert found.share == 0.3 and found.interval == (0.3, 0.3)
    usual = np.bincount(truth) / len(codes)
    assert usual @ (1.0 - np.diag(found.noise)) == pytest.approx(0.3, abs=0.02)
    assert detect(Z, codes, given=0.0).answer != "noise"


@pytest.mark.parametrize("biased", [False, True])
def test_intervals_cover_the_share(biased):
    """Level 0.9; ten tables."""
    covered, widths = [], []
    for seed in range(10):
        rng, Z, truth = determined(seed, n=700, n_classes=3)
        wrong = rng.random(len(truth)) < (0.3 if biased else 0.2)
        wrong &= (truth == 0) | (not biased)
        other = 1 if biased else (truth + rng.integers(1, 3, len(truth))) % 3
        found = detect(Z, np.where(wrong, other, truth))
        share = 0.3 * np.mean(truth == 0) if biased else 0.2
        low, high = found.interval
        covered.append(low <= share <= high)
        widths.append(high - low)
    assert np.mean(covered) >= 0.75 and np.median(widths) < 0.1


def test_rare_and_many_classes_are_neither_erased_nor_blamed():
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], [1200, 12])
    Z = np.where(codes[:, None] == 1, 4.0, 0.0) + rng.normal(size=(len(codes), 3))
    found = detect(Z, codes)
    assert found.answer == "none"
    many = np.repeat(np.arange(30), 12)
    centres = 6.0 * rng.normal(size=(30, 5))
    Z = centres[many] + rng.normal(size=(len(many), 5))
    assert detect(Z, many).answer == "none"


def test_flags_never_erase_a_class_and_keep_their_promise():
    rng = np.random.default_rng(0)
    score, codes = np.sort(rng.random(200))[::-1], np.repeat([0, 1], [3, 197])
    flagged = flag(score, np.ones(200), codes)
    assert set(codes[~flagged]) == {0, 1}
    assert np.all(score[flagged] > 0.5)
    assert np.mean(1.0 - score[flagged]) <= 0.2
    assert np.sum(flag(score, np.ones(200), codes, share=0.1)) in (19, 20)
