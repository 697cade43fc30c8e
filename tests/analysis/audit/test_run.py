"""The whole audit: planted errors are found, clean tables look clean."""

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

from lrisk import AuditResult, audit, write_audit
from lrisk.analysis.audit.crossfit import FOLDS, cross_fit
from lrisk.analysis.audit.models import Recipe
from lrisk.analysis.audit.wording import (
    NOTHING_FOUND,
    loss_groups,
    sampling,
    tail_note,
)
from lrisk.cli.printing import print_audit, terminal
from lrisk.report import render
from lrisk.tables import table_of

N = 240


def flats(seed=0, n=N):
    """A table with a tenth of the prices ten times too high, all of one source."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "size": rng.uniform(20, 120, n),
            "age": rng.uniform(0, 60, n),
            "kind": rng.choice(["flat", "house"], n),
            "source": rng.choice(["web", "paper"], n, p=[0.6, 0.4]),
            "day": pd.date_range("2022-01-01", periods=n).astype(str),
        }
    )
    price = 50 + 3 * data["size"] - data["age"] + 30 * (data["kind"] == "house")
    price = price + rng.normal(0, 8, n)
    wrong = (data["source"] == "paper") & (rng.random(n) < 0.25)
    data["price"] = np.where(wrong, 10 * price, price)
    return data, wrong.to_numpy()


@pytest.fixture(scope="module")
def planted():
    data, wrong = flats()
    result = audit(data, "price", group="kind", time="day", source="flats.csv")
    return data, wrong, result


def test_gross_errors_are_found(planted):
    _, wrong, result = planted
    hits = np.sum(wrong & result.flags)
    assert hits >= 0.9 * wrong.sum() and hits >= 0.8 * result.flags.sum()
    low, high = result.interval
    assert low <= wrong.mean() <= high and not result.looks_clean
    assert "do not fit" in result.summary and "wrong" not in result.summary
    doubt = np.sum(1.0 - result.scores[result.flags])
    assert doubt <= result.expected_false_flags < 1.0


def test_cause_and_repair_are_named(planted):
    _, wrong, result = planted
    (cause,) = [f for f in result.findings if f.section == "shared"]
    assert (cause.columns, cause.values) == (["source"], {"value": "paper"})
    assert cause.count == cause.numbers["flagged"] == result.flags.sum()
    (slip,) = [f for f in result.findings if f.section == "slips"]
    assert (slip.columns, slip.kind) == (["price"], "factor")
    assert slip.numbers["factor"] == 0.1
    assert np.isin(np.array(slip.rows) - 1, np.flatnonzero(wrong)).mean() > 0.9
    for change in slip.changes:
        assert float(change.after) == pytest.approx(float(change.before) / 10, rel=1e-4)
        assert result.suggested[change.row] == change.after
    frame = result.rows_frame()
    assert list(np.flatnonzero(frame["suggested"]) + 1) == sorted(slip.rows)


def test_rows_are_told_in_words(planted):
    data, _, result = planted
    for row in result.flagged:
        assert row.values["kind"] == data["kind"][row.row - 1]
        words = result.reason_words(row.row)
        assert "price = " in words[0] and "expected" in words[0]
    worst = result.flagged[0]
    assert float(worst.observed) == pytest.approx(
        data["price"][worst.row - 1], rel=1e-5
    )
    assert float(worst.expected) == pytest.approx(float(worst.observed) / 10, rel=0.25)


def test_robust_fit_is_better_in_the_middle(planted):
    _, _, result = planted
    ordinary, robust, tail = result.losses
    assert robust.median < 0.5 * ordinary.median
    assert [c.name for c in (ordinary, robust, tail)] == ["ordinary", "robust", "tail"]
    assert all(np.all(np.diff(curve.values) >= 0) for curve in result.losses)
    best = min(result.sensitivity, key=lambda point: point.median_loss)
    assert best.share >= 0.05
    size = next(c for c in result.coefficients if c.name == "size")
    spread = 3 * (120 - 20) / np.sqrt(12)
    assert size.robust == pytest.approx(spread, rel=0.1)
    assert abs(size.ordinary - spread) > abs(size.robust - spread)


def test_losses_of_the_rows_not_flagged_stand_beside_those_of_all(planted):
    data, _, result = planted
    kept = np.abs(result.residuals[~result.flags])
    ordinary, robust, _ = result.unflagged_losses
    assert robust.q95 < 0.2 * result.losses[1].q95 and robust.mean < ordinary.mean
    assert len(kept) < len(data) and np.isnan(robust.accuracy)


@pytest.mark.parametrize("seed", [0, 1])
def test_rows_that_a_finding_explains_do_not_rule_the_advice(seed):
    rng = np.random.default_rng(seed)
    load, warmth = rng.uniform(0.5, 10, 400), rng.normal(20, 3, 400)
    power = 2 + 0.4 * load + 0.1 * warmth + rng.normal(0, 0.5, 400)
    wrong = rng.choice(400, 12, replace=False)
    load[wrong] *= 1000
    data = {"load": load, "warmth": warmth, "power": power}
    result = audit(data, "power")
    (odd,) = [f for f in result.findings if f.section == "columns"]
    assert odd.rows == sorted(wrong + 1) and not result.flags[wrong].all()
    ordinary, robust, _ = result.unflagged_losses
    doubted = result.flags.copy()
    doubted[wrong] = True
    assert robust.mean == pytest.approx(np.abs(result.residuals[~doubted]).mean(), 0.1)
    assert robust.mean < 0.6 < ordinary.mean
    assert robust.rows == 400 - doubted.sum() and result.losses[0].rows == 400
    over = [words for words, _ in loss_groups(result)]
    told = f"the {robust.rows} rows neither flagged nor with a slip or an odd value"
    assert over == ["all 400 rows", told] and told in render(result)
    assert "train lrisk.RobustRegressor()" in result.next_steps[-1]
    # A person's word counts for more than a finding.
    row = int(next(row for row in wrong if not result.flags[row])) + 1
    judged = audit(data, "power", verdicts={row: "right"})
    assert judged.unflagged_losses[0].rows == robust.rows + 1


def test_groups_and_times_cover_all_rows(planted):
    data, _, result = planted
    assert sum(rate.rows for rate in result.times) == len(data)
    rates = {rate.group: rate for rate in result.groups}
    for kind in ("flat", "house"):
        inside = (data["kind"] == kind).to_numpy()
        assert rates[kind].rows == inside.sum()
        assert rates[kind].flag_rate == pytest.approx(result.flags[inside].mean())


def test_json_round_trip_keeps_everything(planted):
    _, _, result = planted
    plain = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    again = AuditResult.from_dict(plain)
    assert again.to_dict() == result.to_dict()
    np.testing.assert_array_equal(again.scores, result.scores)


def test_scores_come_from_fits_that_have_not_seen_the_row():
    data, wrong = flats(n=60)
    table = table_of(data, "price")
    recipe = Recipe("regression", "linear", "superquantile:0.9", "auto", 0)
    found = cross_fit(table, recipe, lambda step, share: None)
    row = int(np.flatnonzero(~wrong)[0])
    own = found.fold[row]
    changed = data.copy()
    changed.loc[row, "price"] *= 3
    again = cross_fit(table_of(changed, "price"), recipe, lambda *_: None)
    assert again.fold[row] == own
    # The row's own fold never saw it: what is expected of it has not moved.
    assert again.expected[row] == found.expected[row]
    others = found.fold != own
    assert np.any(again.expected[others] != found.expected[others])
    assert len(found.folds) == FOLDS


def clean(noise, n=200):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 3))
    errors = {
        "lognormal": rng.lognormal(size=n),
        "t3": rng.standard_t(3, size=n),
        "heteroscedastic": rng.normal(size=n) * np.exp(X[:, 0]),
        "gaussian": rng.normal(size=n),
    }[noise]
    names = dict(zip("abc", X.T))
    return {**names, "y": 2 * X[:, 0] - X[:, 1] + errors}


@pytest.mark.parametrize("noise", ["lognormal", "t3", "heteroscedastic", "gaussian"])
def test_right_rows_are_not_flagged_and_called_clean_unless_far_out(noise):
    result = audit(clean(noise), "y")
    assert result.flags.mean() <= 0.02 and result.far_rows == 0
    assert result.looks_clean == (result.tail_rows == 0)
    assert ("The data looks clean" in result.summary) == result.looks_clean
    assert (result.next_steps[0] == NOTHING_FOUND) == result.looks_clean
    if noise == "gaussian":
        assert result.looks_clean


@pytest.fixture(scope="module")
def labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] + X[:, 1] > 0
    wrong = rng.random(300) < 0.12
    names = np.where(y ^ wrong, "yes, please", "no thanks")
    return X, names.astype(object), wrong


def test_wrong_labels_are_found_and_a_collapsed_tail_fit_replaced(labels):
    X, names, wrong = labels
    result = audit(X, names, spectrum="superquantile:0.95")
    assert result.task == "classification" and result.target == "target"
    hits = np.sum(wrong & result.flags)
    assert hits >= 0.6 * wrong.sum() and hits >= 0.8 * result.flags.sum()
    labels = [f for f in result.findings if f.section == "labels"]
    assert {f.kind for f in labels} == {"mistaken"} and len(labels) == 2
    assert result.classes == ["no thanks", "yes, please"]
    np.testing.assert_allclose(np.sum(result.noise_matrix, axis=1), 1.0)
    for finding in labels:
        row, other = finding.rows[0], finding.values["likely"]
        assert result.suggested[row] == other != result.observed[row - 1]
        assert 0.02 < finding.numbers["share"] < 0.3
    accuracy = [curve.accuracy for curve in result.losses]
    kept = [curve.accuracy for curve in result.unflagged_losses]
    assert 0.8 < accuracy[1] < kept[1] - 0.05 < 0.95
    assert result.tail_spectrum != "superquantile:0.95"
    assert "was used instead" in tail_note(result)
    assert result.losses[2].label != "tail-risk fit (superquantile 0.95)"
    assert result.flagged[0].observed != result.flagged[0].expected


def test_verdicts_are_measured_and_respected():
    data, _ = flats(n=120)
    before = audit(data, "price")
    rows = np.flatnonzero(before.flags)
    said = {int(rows[0]) + 1: "right", int(rows[1]) + 1: "wrong", 1: "WRONG "}
    after = audit(pl.from_pandas(data), "price", verdicts=said,
                  compare=before.to_dict())  # fmt: skip
    assert not after.flags[rows[0]] and after.flags[rows[1]] and after.flags[0]
    assert after.verdicts["precision"] == 0.5 and after.verdicts["judged"] == 3
    assert after.comparison["flagged"][0] == before.flags.sum()
    assert int(rows[0]) + 1 in after.comparison["no_longer_flagged"]


def test_given_share_is_taken_at_its_word():
    data = clean("t3", n=60)
    result = audit(data, "y", contamination=0.1)
    assert result.flags.sum() == 6 and not result.looks_clean
    worst = np.argsort(-np.abs(result.residuals))[:2]
    assert result.flags[worst].all()


def test_rows_without_target_are_kept_and_not_judged():
    data = clean("t3", n=50)
    data["y"][[0, 7]] = np.nan
    result = audit(data, "y", kernel="rbf")
    assert (result.n_rows, result.n_used, result.n_missing) == (50, 48, 2)
    assert np.flatnonzero(np.isnan(result.scores)).tolist() == [0, 7]
    assert not result.flags[[0, 7]].any() and result.coefficients == []


def test_large_tables_are_sampled_and_say_so(monkeypatch):
    monkeypatch.setattr("lrisk.analysis.audit.crossfit.MOST_LINEAR", 120)
    data, wrong = flats(n=400)
    result = audit(data, "price")
    assert "trained on 120 of 400 rows" in sampling(result)
    hits = np.sum(wrong & result.flags)
    assert hits >= 0.9 * wrong.sum() and hits >= 0.8 * result.flags.sum()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"task": "ranking"}, "task must be one of"),
        ({"kernel": "poly"}, "kernel must be one of"),
        ({"contamination": 0.7}, "contamination must be"),
        ({"spectrum": "superquantle:0.9"}, "did you mean"),
        ({"group": "colour"}, "group must be the name"),
        ({"verdicts": {1: "maybe"}}, "'wrong', 'right' or empty"),
        ({"verdicts": {99: "ok"}}, "of rows 1 to 50"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        audit(clean("t3", n=50), "y", **options)


def test_too_few_rows():
    with pytest.raises(ValueError, match="at least 10 rows"):
        audit({"a": np.arange(8.0), "y": np.arange(8.0) ** 2}, "y")
    few = audit(clean("t3", n=20), "y")
    assert few.summary.startswith("Too few rows to judge") and not few.flags.any()


def _orders(n=120):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = 50 + 10 * x + rng.normal(size=n)
    y[:5] *= 10
    orders = np.array([f"A{1000 + i}" for i in rng.permutation(n)], dtype=object)
    return {"order": orders, "x": x, "y": y}


def test_rows_can_be_found_again_by_their_own_id(tmp_path):
    data = _orders()
    result = audit(data, "y")
    assert result.id_column == "order" and result.ids == list(data["order"])
    worst = result.flagged[0]
    assert worst.id == data["order"][worst.row - 1]
    frame = result.rows_frame()
    assert list(frame["id"]) == list(data["order"])
    np.testing.assert_allclose(frame["observed"].astype(float), data["y"])
    told = frame["expected"].astype(float)
    away = data["y"] - told
    np.testing.assert_allclose(away, result.residuals, atol=0.1)
    write_audit(result, tmp_path)
    assert worst.id in (tmp_path / "report.html").read_text("utf-8")
    write_audit(result, tmp_path, redact=True)
    for path in tmp_path.iterdir():
        assert worst.id not in path.read_text("utf-8"), path.name


def test_copies_do_not_hide_the_column_that_tells_rows_apart():
    data = {name: np.r_[cells, cells[[3, 40]]] for name, cells in _orders().items()}
    table = table_of(data, "y")
    assert table.id_column == "order" and table.ids == list(data["order"])
    data["order"] = data["order"][np.arange(122) % 100]  # a fifth has another's name
    assert table_of(data, "y").id_column == ""


def test_an_id_that_is_given_is_not_learnt_from():
    data = _orders()
    data["code"] = np.arange(120) // 2 + 1e6
    result = audit(data, "y", id="code")
    assert result.ids[:3] == ["1000000", "1000000", "1000001"]
    for role in ("y", "site"):
        with pytest.raises(ValueError, match="id must be another column"):
            audit({**data, "site": data["order"]}, "y", id=role, group="site")
    kinds = {column.name: column.kind for column in result.columns}
    assert kinds["code"] == "identifier"
    with pytest.raises(ValueError, match="did you mean 'code'"):
        audit(data, "y", id="coed")


def test_an_id_that_is_the_row_number_is_not_said_twice(capsys):
    data = {**_orders(), "order": np.arange(1, 121)}
    result = audit(data, "y")
    assert result.ids[:2] == ["1", "2"] and {row.id for row in result.flagged} == {""}
    print_audit(result, terminal())
    assert re.search(r"^  row \d: y = ", capsys.readouterr().out, re.MULTILINE)
    assert "<th>id</th>" not in result._repr_html_()


def test_the_index_of_a_frame_is_kept():
    pd = pytest.importorskip("pandas")
    data = _orders()
    frame = pd.DataFrame({"x": data["x"], "y": data["y"]}, index=data["order"])
    assert audit(frame, "y").ids == list(data["order"])
    assert audit(frame.reset_index(drop=True), "y").ids == []


def test_a_label_is_expected_too():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 2))
    labels = np.where(x.sum(axis=1) > 0, "cat", "dog").astype(object)
    labels[:12] = np.where(labels[:12] == "cat", "dog", "cat")
    result = audit({"a": x[:, 0], "b": x[:, 1], "y": labels}, "y")
    for row in result.flagged:
        assert row.observed != row.expected == result.expected[row.row - 1]
    wrong = [e != o for e, o in zip(result.expected, result.observed, strict=True)]
    assert np.mean(wrong[:12]) > 0.6 and np.mean(wrong[12:]) < 0.1


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (np.array([f"{i:05d}" for i in range(120)], dtype=object), "00003"),
        (np.arange(90071992547409930, 90071992547410050), "90071992547409933"),
        (np.arange("2020-01-01", 120, dtype="datetime64[D]"), "2020-01-04"),
    ],
)
def test_ids_are_shown_as_they_were_given(cells, shown):
    data = {**_orders(), "code": cells}
    assert table_of(data, "y", id="code").ids[3].startswith(shown)
