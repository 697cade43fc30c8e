"""Finished cells are kept, pages are whole, mistakes are told in one line."""

import json

import numpy as np
import pytest
from experiments._experiment import Experiment, Settings
from experiments._page import Page, difference, mean_sd

from experiments import __main__ as command
from experiments import _data, _experiment, _store

CALLS = []


def _run(cell):
    CALLS.append(cell)
    return {"value": 2.0 * cell["seed"]}


def _report(records, page):
    page.table(["seed", "value"], [(r["cell"]["seed"], r["value"]) for r in records])


TOY = Experiment(
    name="toy",
    paper="noisy",
    title="A toy",
    cells=lambda settings: ({"seed": seed} for seed in range(settings.seeds)),
    run=_run,
    report=_report,
)


@pytest.fixture(autouse=True)
def only_the_toy(monkeypatch, tmp_path):
    CALLS.clear()
    monkeypatch.chdir(tmp_path)
    for module in (command, _experiment, _store):
        monkeypatch.setattr(module, "all_experiments", lambda: {"toy": TOY})


def test_a_second_run_computes_nothing_again_and_more_seeds_only_the_new(tmp_path):
    assert command.main(["toy", "--jobs", "1", "--seeds", "2"]) == 0
    assert [cell["seed"] for cell in CALLS] == [0, 1]
    assert command.main(["toy", "--jobs", "1", "--seeds", "3"]) == 0
    assert [cell["seed"] for cell in CALLS] == [0, 1, 2]
    text = (tmp_path / "docs" / "results" / "toy.md").read_text()
    assert "| 2 | 4.0 |" in text
    assert "python -m experiments toy --seeds 3" in text
    assert "3 seeds" in text


def test_a_line_cut_off_by_an_interruption_is_run_again(tmp_path):
    kept = tmp_path / "toy.jsonl"
    _store.run(TOY, TOY.cells(Settings("full", 3)), kept, 1)
    kept.write_text(kept.read_text()[:-10])
    CALLS.clear()
    records = _store.run(TOY, TOY.cells(Settings("full", 3)), kept, 1)
    assert [cell["seed"] for cell in CALLS] == [2]
    assert [record["value"] for record in records] == [0.0, 2.0, 4.0]
    assert len(_store.read(kept)) == 3


def test_quick_pages_do_not_overwrite_the_results(tmp_path):
    command.main(["toy", "--jobs", "1", "--quick"])
    assert not (tmp_path / "docs").exists()
    text = (tmp_path / ".experiments" / "quick" / "toy.md").read_text()
    assert "not the figures to quote" in text


def test_fresh_runs_everything_again():
    command.main(["toy", "--jobs", "1", "--seeds", "1"])
    command.main(["toy", "--jobs", "1", "--seeds", "1", "--fresh"])
    assert len(CALLS) == 2


@pytest.mark.parametrize(
    "given",
    [
        ["nothing"], ["toy", "--seeds", "0"], ["toy", "--data", "nowhere"],
        ["toy", "boston"], ["fetch", "nothing"],
    ],
)  # fmt: skip
def test_mistakes_on_the_command_line_end_with_code_2(given, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(given)
    assert ended.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_missing_data_names_the_remedy(monkeypatch, capsys):
    monkeypatch.delenv("LRISK_DATA", raising=False)

    def offline(*_, **__):
        raise OSError("no network")

    monkeypatch.setattr(_data.datasets, "fetch_openml", offline)
    with pytest.raises(
        _data.DataUnavailable, match=r"no network.*--data or LRISK_DATA"
    ):
        _data.load("concrete")
    with pytest.raises(
        _data.DataUnavailable, match=r"heart_cleveland\.csv\.gz.*UCI 45"
    ):
        _data.load("heart_cleveland")
    with pytest.raises(_data.DataUnavailable, match=r"drug_qsar\.npz.*sever"):
        _data.parts("drug_qsar")
    with pytest.raises(_data.DataUnavailable, match=r"mnist_1v3\.npz"):
        _data.parts("mnist_1v3")
    with pytest.raises(_data.DataUnavailable, match="known are boston"):
        _data.load("nothing")

    def lacking(cell):
        return {"value": _data.parts("mnist_1v3")}

    toy = Experiment("toy", "noisy", "A toy", TOY.cells, lacking, _report)
    for module in (command, _experiment, _store):
        monkeypatch.setattr(module, "all_experiments", lambda: {"toy": toy})
    assert command.main(["all", "--jobs", "1"]) == 1
    assert "mnist_1v3.npz" in capsys.readouterr().err


def test_words_for_numbers():
    assert mean_sd([0.5]) == "0.500"
    assert mean_sd([0.4, 0.6], 2) == "0.50 ± 0.14"
    assert mean_sd([]) == "–"
    assert difference(1.1, 1.0) == "+10.0 %"
    assert difference(1.1, None) == "–"
    assert difference(np.nan, 1.0) == "–"


def test_a_ragged_table_is_refused_and_a_figure_is_reproducible(tmp_path):
    from experiments._drawing import grid

    page = Page(tmp_path, "toy", "A toy")
    with pytest.raises(ValueError, match="a row of 1 cells under 2"):
        page.table(["a", "b"], [["x"]])
    files = []
    for suffix in ("one", "two"):
        figure, axes = grid(1, 1)
        axes[0, 0].plot([0, 1], [1, 0])
        page.figure(figure, "a line", suffix)
        files.append(page.figures[-1].read_bytes())
    assert files[0] == files[1]
    assert not list(tmp_path.glob("*.part"))


def test_cells_survive_json():
    cell = {"b": 1, "a": [1, 2]}
    assert _store.key(cell) == _store.key(json.loads(json.dumps(cell)))


def test_two_processes_find_the_same(tmp_path):
    cells = list(TOY.cells(Settings("full", 4)))
    alone = _store.run(TOY, cells, tmp_path / "one.jsonl", 1)
    together = _store.run(TOY, cells, tmp_path / "two.jsonl", 2)
    assert [r["value"] for r in alone] == [r["value"] for r in together]


def test_a_failure_is_told_and_the_other_experiments_go_on(monkeypatch, capsys):
    def broken(cell):
        raise ZeroDivisionError("a bad cell")

    bad = Experiment("bad", "noisy", "Bad", TOY.cells, broken, _report)
    for module in (command, _experiment, _store):
        monkeypatch.setattr(module, "all_experiments", lambda: {"bad": bad, "toy": TOY})
    assert command.main(["all", "--jobs", "1", "--seeds", "1"]) == 1
    told = capsys.readouterr()
    assert "bad failed" in told.err
    assert "a bad cell" in told.err
    assert "toy.md" in told.out


def test_a_fresh_run_that_fails_loses_nothing(monkeypatch, tmp_path):
    command.main(["toy", "--jobs", "1", "--seeds", "2"])
    kept = tmp_path / ".experiments" / "full" / "toy.jsonl"
    before = kept.read_text()

    def broken(cell):
        raise ZeroDivisionError

    bad = Experiment("toy", "noisy", "A toy", TOY.cells, broken, _report)
    for module in (command, _experiment, _store):
        monkeypatch.setattr(module, "all_experiments", lambda: {"toy": bad})
    assert command.main(["toy", "--jobs", "1", "--seeds", "2", "--fresh"]) == 1
    assert kept.read_text() == before


def test_records_say_which_code_made_them_and_others_are_named(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(_store, "commit", lambda: "abc123")
    command.main(["toy", "--jobs", "1", "--seeds", "1"])
    monkeypatch.setattr(_store, "commit", lambda: "def456")
    command.main(["toy", "--jobs", "1", "--seeds", "2"])
    assert "finished cells of other code are used (abc123)" in capsys.readouterr().out
    text = (tmp_path / "docs" / "results" / "toy.md").read_text()
    assert "commit abc123, def456" in text


class Table:
    """What fetch_openml gives: a frame, and which of its columns is the target."""

    def __init__(self, frame, *targets):
        self.frame, self.target_names = frame, list(targets)


def openml(*, name, **options):
    """Two or three rows of any set; of the images, ten of each class in both parts."""
    import pandas as pd

    if name in ("mnist_784", "Fashion-MNIST"):
        y = np.tile(np.arange(10), 6200)[:60_050]
        columns = {"p0": y, "p1": 255 - y, "class": y.astype(str)}
        return Table(pd.DataFrame(columns), "class")
    if name == "energy-efficiency":
        columns = {"V1": [1, 2], "y1": [7, 8], "y2": [3.0, 4.0]}
        return Table(pd.DataFrame(columns), "y1")
    if name == "heart-disease":
        return Table(pd.DataFrame({"a": [1.0, np.nan, 3.0], "target": [0, 2, 4]}))
    return Table(pd.DataFrame({"a": ["1", "2"], "b": [3, 4], "t": ["u", "v"]}), "t")


SHAPES = {
    "glass": (2, 2), "energy_cooling": (2, 1), "heart_cleveland": (3, 1),
    "mnist_1v3": (60_050, 2),
}  # fmt: skip


@pytest.fixture
def small(monkeypatch):
    """A stand-in for OpenML, of sets of few rows."""
    known = {n: _data.SOURCES[n]._replace(shape=shape) for n, shape in SHAPES.items()}
    monkeypatch.setattr(_data, "SOURCES", {**_data.SOURCES, **known})
    monkeypatch.setattr(_data.datasets, "fetch_openml", openml)


def test_fetched_sets_are_files_that_load(small, monkeypatch, tmp_path, capsys):
    place = tmp_path / "data"
    names = ["glass", "energy_cooling", "heart_cleveland", "mnist_1v3", "iris"]
    assert command.main(["fetch", *names, "--data", str(place)]) == 0
    told = capsys.readouterr().out
    assert "glass.csv.gz" in told and "scikit-learn ships it" in told
    monkeypatch.setenv("LRISK_DATA", str(place))

    def offline(*_, **__):
        raise OSError("no network")

    monkeypatch.setattr(_data.datasets, "fetch_openml", offline)
    X, y = _data.load("glass")
    np.testing.assert_array_equal(X, [[1, 3], [2, 4]])
    np.testing.assert_array_equal(y, [0, 1])
    X, y = _data.load("energy_cooling")
    assert X.shape == (2, 1)  # the other target is no feature
    X, y = _data.load("heart_cleveland")
    np.testing.assert_array_equal(X[:, 0], [1, 2, 3])
    np.testing.assert_array_equal(y, [0, 1, 1])
    images = _data.parts("mnist_1v3")
    assert images["X_train"].shape == (3000, 2)
    counts = np.bincount(images["y_train"], minlength=10)
    assert counts[1] == counts[3] == 1000 and set(np.delete(counts, [1, 3])) == {125}
    assert set(images["y_test"]) == {1, 3}
    assert not list(place.glob("*.part"))


def test_fetching_goes_on_past_what_cannot_be_had(small, tmp_path, capsys):
    asked = ["fetch", "drug_qsar", "glass", "--data", str(tmp_path)]
    assert command.main(asked) == 1
    told = capsys.readouterr()
    assert "github.com/hoonose/sever" in told.err
    assert (tmp_path / "glass.csv.gz").exists()
    assert not list(tmp_path.glob("*.part"))
    before = (tmp_path / "glass.csv.gz").stat().st_mtime_ns
    assert command.main(["fetch", "glass", "--data", str(tmp_path)]) == 0
    assert (tmp_path / "glass.csv.gz").stat().st_mtime_ns == before  # fetched once


def test_every_set_that_an_experiment_asks_for_has_a_source():
    from experiments._subquantile_table import TITLES

    from experiments import _classifying, clustering

    asked = {*TITLES, *(found[1] for found in _classifying.SETS.values())}
    asked |= {name for name in clustering.TASKS if name != "clouds"}
    asked |= {"yacht", "energy_cooling", "concrete"}
    assert asked <= {*_data.SOURCES, *_data.SHIPPED}
    for source in _data.SOURCES.values():
        assert source.openml or source.page


def test_a_summary_of_nothing_says_what_to_run(capsys):
    assert command.main(["summary"]) == 0
    assert "python -m experiments table3" in capsys.readouterr().out
