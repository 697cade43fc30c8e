"""Fetching from a mirror on this machine, by scikit-learn's own client of OpenML.

The mirror answers as OpenML does, with the columns, kinds and names that its sets are
known to have, random numbers in them, and the checksum of each file.
"""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from sklearn.datasets import _openml as client

from experiments import __main__ as command
from experiments import _data

#: Number, name, version, columns that are no numbers, targets, default target.
TABLES = [
    (531, "boston", 1, ("CHAS", "RAD"), ("MEDV",), "MEDV"),
    (44959, "concrete_compressive_strength", 7, (), ("strength",), "strength"),
    (40691, "wine-quality-red", 1, ("class",), ("class",), "class"),
    (42370, "yacht_hydrodynamics", 1, (), ("resistance",), None),
    (1472, "energy-efficiency", 1, ("V1", "y1"), ("y1", "y2"), "y1"),
    (43398, "heart-disease", 1, (), ("target",), None),
    (41, "glass", 1, ("Type",), ("Type",), "Type"),
    (182, "satimage", 1, ("class",), ("class",), "class"),
]
#: Names of classes, as these sets have them.
CLASSES = {
    "glass": ["'build wind float'", "headlamps"],
    "satimage": ["1.", "7."],
    "wine-quality-red": ["5", "6"],
}


def file_of(name, columns, nominal, rows):
    """An ARFF file of random numbers."""
    rng = np.random.default_rng(len(name))
    lines, values = [f"@RELATION {name}"], []
    for column in columns:
        if column in nominal:
            kinds = CLASSES.get(name, ["1", "2.5"])
            lines.append(f"@ATTRIBUTE {column} {{{','.join(kinds)}}}")
            values.append(np.array(kinds)[np.arange(rows) % len(kinds)])
        else:
            lines.append(f"@ATTRIBUTE {column} NUMERIC")
            values.append(rng.integers(0, 9, rows).astype(str))
    lines += ["@DATA", *(",".join(row) for row in zip(*values, strict=True))]
    return "\n".join(lines).encode()


def answers(place):
    """Path → content, for every table."""
    found = {}
    shapes = {
        source.openml if isinstance(source.openml, int) else source.openml[0]: (
            source.shape
        )
        for source in _data.SOURCES.values()
        if source.openml
    }
    for number, name, version, nominal, targets, default in TABLES:
        rows, features = shapes.get(name, shapes.get(number))
        given = [c for c in nominal if c not in targets]
        own = [*given, *(f"V{j + 1 + len(given)}" for j in range(features))][:features]
        columns = [*own, *targets]
        content = file_of(name, columns, nominal, rows)
        path = f"/data/v1/download/{number}/{name}.arff"
        listed = {"did": number, "name": name, "version": version, "status": "active"}
        about = {
            **listed, "id": str(number), "description": "random", "format": "ARFF",
            "url": f"{place}{path}", "md5_checksum": hashlib.md5(content).hexdigest(),
        }  # fmt: skip
        kinds = [
            {"index": str(j), "name": column,
             "data_type": "nominal" if column in nominal else "numeric",
             "is_target": str(column == default).lower(), "is_ignore": "false",
             "is_row_identifier": "false", "number_of_missing_values": "0"}
            for j, column in enumerate(columns)
        ]  # fmt: skip
        quality = [{"name": "NumberOfInstances", "value": str(rows)}]
        api = "/api/v1/json/data"
        found |= {
            f"{api}/list/data_name/{name}/limit/2/data_version/{version}": {
                "data": {"dataset": [listed]}
            },
            f"{api}/{number}": {"data_set_description": about},
            f"{api}/features/{number}": {"data_features": {"feature": kinds}},
            f"{api}/qualities/{number}": {"data_qualities": {"quality": quality}},
            path: content,
        }
    return found


@pytest.fixture
def mirror(monkeypatch, tmp_path):
    """The mirror's answers, which a test may change."""
    pytest.importorskip("pandas")
    known = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            content = known.get(self.path)
            self.send_response(200 if content is not None else 412)
            self.end_headers()
            if content is not None:
                raw = isinstance(content, bytes)
                self.wfile.write(content if raw else json.dumps(content).encode())

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    place = f"http://127.0.0.1:{server.server_port}"
    known |= answers(place)
    for name in ("_SEARCH_NAME", "_DATA_INFO", "_DATA_FEATURES", "_DATA_QUALITIES"):
        path = getattr(client, name).replace("https://www.openml.org", place)
        monkeypatch.setattr(client, name, path)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "cache"))
    monkeypatch.delenv("LRISK_DATA", raising=False)
    yield known
    server.shutdown()
    server.server_close()


TABULAR = [
    name for name, source in _data.SOURCES.items()
    if source.openml and name not in _data.DRAWS
]  # fmt: skip


def test_every_table_comes_whole_and_works_offline(
    mirror, monkeypatch, tmp_path, capsys
):
    place = tmp_path / "sets"
    assert command.main(["fetch", *TABULAR, "--data", str(place)]) == 0
    mirror.clear()
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "empty"))
    monkeypatch.setenv("LRISK_DATA", str(place))
    for name in TABULAR:
        X, y = _data.load(name)
        rows, features = _data.SOURCES[name].shape
        assert X.shape == (rows, features) and y.shape == (rows,), name
        assert np.isfinite(X).all() and np.isfinite(y).all()
    assert set(_data.load("wine_quality_red")[1]) == {5, 6}
    assert set(_data.load("heart_cleveland")[1]) == {0, 1}
    cooling, heating = (_data.load(f"energy_{kind}") for kind in ("cooling", "heating"))
    np.testing.assert_array_equal(cooling[0], heating[0])
    assert set(heating[1]) == {1, 2.5} and np.any(cooling[1] != heating[1])


@pytest.mark.filterwarnings("ignore:Invalid cache:RuntimeWarning")
def test_a_file_of_another_checksum_or_shape_is_named_and_the_rest_come(
    mirror, tmp_path, capsys
):
    glass = next(path for path in mirror if path.endswith("glass.arff"))
    mirror[glass] += b"\n1,1,1,1,1,1,1,1,1,headlamps"
    columns = mirror["/api/v1/json/data/features/42370"]["data_features"]["feature"]
    columns[0]["is_ignore"] = "true"
    gone = mirror.pop("/api/v1/json/data/44959")
    assert gone
    names = ["glass", "yacht", "concrete", "boston"]
    assert command.main(["fetch", *names, "--data", str(tmp_path)]) == 1
    told = capsys.readouterr()
    assert "md5" in told.err and "archive.ics.uci.edu/dataset/42)" in told.err
    assert "its shape is (308, 5), not (308, 6)" in told.err
    assert "OpenML did not give 44959" in told.err
    assert (tmp_path / "boston.csv.gz").exists()
    assert not list(tmp_path.glob("*.part"))
    assert not (tmp_path / "glass.csv.gz").exists()
