"""What stands beside a table is read as its target is, in cells and in files."""

import numpy as np
import pandas as pd
import pytest

from lrisk.tables.beside import frame_beside, read_beside
from lrisk.tables.columns import typed_column
from lrisk.tables.files import read_table

AMOUNTS = [12.5, 1300.25, 7.0, 40.5, 9.75]


def target(*cells):
    return typed_column("price", np.array(cells, dtype=object), labels=True)


@pytest.mark.parametrize(
    "cells",
    [
        ["12.5", "1300.25", "7", "40.5", "9.75"],
        ["12,5 €", "1.300,25 €", "7 €", "40,5 €", "9,75 €"],
        ["$12.5", "$1,300.25", "$7", "$40.5", "$9.75"],
        ["12.5%", "1300.25%", "7%", "40.5 %", "9.75%"],
        ["12.5 m2", "1300.25 m2", "7 m2", "40.5 m2", "9.75 m2"],
    ],
)
def test_numbers_are_read_however_they_are_written(cells):
    plain = typed_column("price", np.array([1.0, 2.0, 3.5]), labels=True)
    read = read_beside(plain, "predictions", np.array(cells, dtype=object))
    np.testing.assert_array_equal(read.values, AMOUNTS)


def test_what_can_be_read_in_two_ways_is_read_as_the_target():
    cells = np.array(["1,250", "2,500", "7,125"], dtype=object)
    commas = target("1,25", "2,5", "3,75", "1000,5")
    np.testing.assert_array_equal(
        read_beside(commas, "predictions", cells).values, [1.25, 2.5, 7.125]
    )
    points = target("1,250.5", "2,500.25", "3.75")
    np.testing.assert_array_equal(
        read_beside(points, "predictions", cells).values, [1250.0, 2500.0, 7125.0]
    )


def test_points_of_a_program_beside_commas_of_a_person():
    commas = target("1,25", "2,5", "3,75", "1000,5")
    cells = np.array(["1.2501", "2.5", "7.1250019"], dtype=object)
    read = read_beside(commas, "predictions", cells)
    np.testing.assert_array_equal(read.values, [1.2501, 2.5, 7.1250019])


@pytest.mark.parametrize("header", ["", "told\n"])
@pytest.mark.parametrize(
    ("lines", "cells"),
    [
        (["12.5", "13", "9.25"], [12.5, 13.0, 9.25]),
        (["12,5", "13,0", "9,25"], ["12,5", "13,0", "9,25"]),
        (["12 €", "13 €", "9 €"], ["12 €", "13 €", "9 €"]),
        (["cat", "none", "cat"], ["cat", "none", "cat"]),
        (["TRUE", "FALSE", "TRUE"], ["TRUE", "FALSE", "TRUE"]),
        (["NA", "1.5", "2.5"], ["NA", "1.5", "2.5"]),
    ],
)
def test_files_with_a_header_or_none(header, lines, cells, tmp_path):
    path = tmp_path / "p.csv"
    path.write_text(header + "\n".join(lines) + "\n")
    frame = frame_beside(path, 3)
    assert frame.shape == (3, 1)
    assert frame.iloc[:, 0].tolist() == cells


def test_several_columns_keep_their_names(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("row;prediction\n1;2,5\n2;3,5\n")
    frame = frame_beside(path, 2)
    assert list(frame.columns) == ["row", "prediction"]
    assert frame["prediction"].tolist() == ["2,5", "3,5"]
    frame.to_parquet(tmp_path / "p.parquet")
    pd.testing.assert_frame_equal(frame_beside(tmp_path / "p.parquet", 2), frame)


@pytest.mark.parametrize("first", ["", "a"])
def test_two_columns_of_whole_numbers_are_no_decimal_commas(first, tmp_path):
    """As pandas writes an index beside predictions that are whole numbers."""
    path = tmp_path / "p.csv"
    path.write_text(f"{first},prediction\n0,250\n1,125\n2,500\n")
    frame = frame_beside(path, 3)
    assert frame.shape == (3, 2) and frame["prediction"].tolist() == [250, 125, 500]


@pytest.mark.parametrize("lines", [["1.5", "2.5"], ["1,5", "2,5"], ["1 €", "2 €"]])
def test_a_header_is_no_prediction_where_one_is_missing(lines, tmp_path):
    """The caller then says that there are two for three rows."""
    path = tmp_path / "p.csv"
    path.write_text("\n".join(["told", *lines]))
    assert len(frame_beside(path, 3)) == 2


def test_too_few_rows_are_left_to_who_knows_the_table(tmp_path):
    path = tmp_path / "p.csv"
    path.write_text("told\n1.5\n2.5\n")
    assert len(frame_beside(path, 9)) == 2
    path.write_bytes(b"told\n1.5\n\0\n")
    with pytest.raises(ValueError, match="NUL bytes"):
        frame_beside(path, 2)


def test_a_column_of_the_table_itself(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y,told\n1,none,TRUE\n2,NA,TRUE\nNA,a,FALSE\n")
    frame = read_table(path, "y", labels=["told"]).frame
    assert frame["y"].tolist() == ["none", "NA", "a"]
    assert frame["told"].tolist() == ["TRUE", "TRUE", "FALSE"]
    assert np.isnan(frame["x"][2])
