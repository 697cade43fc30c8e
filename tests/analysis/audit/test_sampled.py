"""Audits of a sample that judge every row find what audits of all rows find."""

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("pyarrow", reason="needs pyarrow (lrisk[parquet])")

from lrisk import audit
from lrisk.analysis.audit.sampled import SampledAudit
from lrisk.tables.parquet_folder import ParquetFolder, spread_over
from lrisk.tables.quoting import RefusedCell

N, SAMPLE = 1600, 400


def table(task, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 4))
    kind = rng.choice(["a", "b", "c"], N)
    frame = pd.DataFrame(X, columns=list("pqrs")).assign(kind=kind)
    score = X @ [3.0, 1.0, 0.0, -1.0] + 2.0 * (kind == "a")
    wrong = rng.random(N) < 0.03
    if task == "regression":
        y = 50 + score + rng.normal(size=N)
        y = np.where(wrong, y + 20.0, y)
        y[5] = np.nan
    else:
        y = np.where((score > 0) ^ wrong, "yes", "no").astype(object)
        y[5] = None
    wrong[5] = False
    return frame.assign(y=y), wrong


def written(path, frame, files=3):
    for k, rows in enumerate(np.array_split(np.arange(len(frame)), files)):
        frame.iloc[rows].to_parquet(path / f"{k}.parquet")
    return ParquetFolder(path)


def silent(step, share):
    pass


def joined(audited, n_threads=1):
    parts = list(audited.judged(n_threads))
    return [np.concatenate(cells) for cells in zip(*parts, strict=True)]


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_every_row_is_judged_and_planted_errors_are_found(tmp_path, task, monkeypatch):
    monkeypatch.setattr("lrisk.tables.parquet_folder.BATCH", 777)
    frame, wrong = table(task)
    folder = written(tmp_path, frame)
    audited = SampledAudit(folder, "y", sample=SAMPLE, progress=silent)
    assert audited.result.n_rows == SAMPLE
    row, score, flag, observed, expected, residual = joined(audited)
    np.testing.assert_array_equal(row, np.arange(1, N + 1))
    assert np.isnan(score[5]) and not flag[5] and np.isnan(residual[5])
    whole = audit(frame, "y")
    planted = np.flatnonzero(wrong)
    assert flag[planted].mean() >= whole.flags[planted].mean() - 0.03
    assert wrong[flag].mean() >= wrong[whole.flags].mean() - 0.03
    known = np.arange(N) != 5
    if task == "regression":
        np.testing.assert_array_equal(observed[known], frame["y"][known])
        np.testing.assert_allclose(residual[known], (observed - expected)[known])
    else:
        assert observed[known].tolist() == frame["y"][known].tolist()
        assert set(expected[known]) == {"no", "yes"} and observed[5] is None
    totals = audited.totals
    assert (totals.rows, totals.used, totals.flagged) == (N, N - 1, flag.sum())
    told = audited.told()
    words = " ".join(told.notes)
    assert f"{SAMPLE:,} of the {N:,} rows of 3 files" in words
    assert f"{flag.sum():,} are flagged" in words
    assert told.summary == audited.result.summary


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    frame, _ = table("regression")
    folder = written(tmp_path_factory.mktemp("numbers"), frame)
    return SampledAudit(folder, "y", sample=SAMPLE, progress=silent)


def test_rows_of_the_sample_keep_what_the_audit_said(numbers):
    audited = numbers
    _, score, flag, *_ = joined(audited)
    own = audited._places
    np.testing.assert_array_equal(score[own], audited.result.scores)
    np.testing.assert_array_equal(flag[own], audited.result.flags)
    ids = [int(own_id) for own_id in audited.result.ids]
    np.testing.assert_array_equal(ids, own + 1)


def test_threads_change_nothing(numbers, monkeypatch):
    monkeypatch.setattr("lrisk.tables.parquet_folder.BATCH", 250)
    for one, many in zip(joined(numbers), joined(numbers, 3), strict=True):
        np.testing.assert_array_equal(one, many)


def test_a_sample_of_all_rows_is_the_audit(tmp_path):
    frame, _ = table("regression")
    frame = frame.iloc[:300]
    audited = SampledAudit(written(tmp_path, frame), "y", sample=N, progress=silent)
    whole = audit(frame, "y")
    _, score, flag, *_ = joined(audited)
    np.testing.assert_array_equal(score, whole.scores)
    np.testing.assert_array_equal(flag, whole.flags)


def test_labels_that_the_sample_has_not_are_not_judged(tmp_path):
    frame, _ = table("classification")
    frame.loc[N - 1, "y"] = "perhaps"
    folder = written(tmp_path, frame)
    audited = SampledAudit(folder, "y", sample=SAMPLE, progress=silent)
    assert N - 1 not in audited._places
    assert np.isnan(joined(audited)[1][N - 1])


def test_a_refused_cell_is_counted_in_the_whole_folder(tmp_path, monkeypatch):
    monkeypatch.setattr("lrisk.tables.parquet_folder.BATCH", 777)
    frame, _ = table("regression")
    weight = np.array([f"{i % 9} kg" for i in range(N)], dtype=object)
    row = np.setdiff1d(np.arange(N), spread_over(N, SAMPLE, 0))[-1]
    assert row > 2 * 500
    weight[row] = "5 lb"
    folder = written(tmp_path, frame.assign(weight=weight))
    audited = SampledAudit(folder, "y", sample=SAMPLE, progress=silent)
    for n_threads in (1, 2):
        with pytest.raises(RefusedCell, match=f"first '5 lb' in row {row + 1}\""):
            joined(audited, n_threads)


def test_a_refused_cell_of_the_sample_is_counted_in_the_whole_folder(tmp_path):
    frame, _ = table("regression")
    weight = np.array([f"{i % 9} kg" for i in range(N)], dtype=object)
    row = spread_over(N, SAMPLE, 0)[-7]
    weight[row] = "5 lb"
    folder = written(tmp_path, frame.assign(weight=weight))
    with pytest.raises(RefusedCell, match=f"first '5 lb' in row {row + 1}\""):
        SampledAudit(folder, "y", sample=SAMPLE, progress=silent)
