"""`lrisk.outofcore.predict`: predictions of rows that do not fit into memory."""

import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._extras import optional
from .._params import refused
from .batches import ROWS
from .scratch import Scratch
from .sources import opened


def predict(estimator: Any, source: Any, output: Any, columns: Any = None) -> Path:
    """Write the predictions of a fitted model to a Parquet file.

    Parameters
    ----------
    estimator : fitted estimator
        Any with ``predict``; with ``predict_proba`` there is a column for each class.
    source : path, array, table or iterable
        As of `lrisk.outofcore.fit`; batches may be arrays X alone.
    output : path
        The file to write; it is there once all of it is written.
    columns : list or None, default=None
        The features, in the order of the fit; by default those with the names of the
        fit, or all.

    Returns
    -------
    Path
        The file, with the columns ``prediction`` and ``probability_<class>``, in the
        order of the rows.

    See Also
    --------
    fit : Fits to rows that do not fit into memory.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import lrisk.outofcore
    >>> from pyarrow import parquet
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> model = lrisk.RiskRegressor("mean").fit(X, X @ [1.0, 2.0])
    >>> batches = (X[first : first + 50] for first in range(0, 200, 50))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = lrisk.outofcore.predict(model, batches, f"{folder}/new.parquet")
    ...     table = parquet.read_table(written)
    >>> np.allclose(table["prediction"].to_numpy(), model.predict(X))
    True
    """
    check_is_fitted(estimator)
    pyarrow = optional("pyarrow", "lrisk.outofcore.predict")
    parquet = optional("pyarrow.parquet", "lrisk.outofcore.predict")
    path = Path(output)
    if not path.parent.is_dir():
        rule, remedy = "a file in an existing folder", "make the folder"
        raise ValueError(refused("outofcore", "output", rule, str(path), remedy))
    names = getattr(estimator, "feature_names_in_", None)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    writer = None
    try:
        with Scratch(None) as scratch:
            stream = _stream(estimator, source, columns, names, scratch)
            for batch in stream.batches:
                for start in range(0, len(batch.X), ROWS):
                    X = batch.X[start : start + ROWS]
                    table = pyarrow.table(_columns(estimator, X, names))
                    if writer is None:
                        writer = parquet.ParquetWriter(partial, table.schema)
                    writer.write_table(table)
        if writer is None:
            rule, remedy = "of at least one row", "pass another"
            raise ValueError(refused("outofcore", "source", rule, "none", remedy))
        writer.close()
        os.replace(partial, path)
    finally:
        if writer is not None:
            writer.close()
        partial.unlink(missing_ok=True)
    return path


def _stream(
    estimator: Any, source: Any, columns: Any, names: Any, scratch: Scratch
) -> Any:
    wanted = columns
    if wanted is None and names is not None and _has_names(source):
        wanted = list(names)
    stream = opened(source, None, wanted, None, scratch, with_target=False)
    first = next(stream.batches)
    if first.X.shape[1] != estimator.n_features_in_:
        rule = f"{estimator.n_features_in_} columns, as in the fit"
        remedy = "name them with columns="
        seen = first.X.shape[1]
        raise ValueError(refused("outofcore", "source", rule, seen, remedy))
    return stream._replace(batches=itertools.chain([first], stream.batches))


def _has_names(source: Any) -> bool:
    """Whether columns of a source are known by name; of batches that is seen later."""
    if isinstance(source, str | Path):
        return Path(source).suffix != ".npy"
    return not isinstance(source, np.ndarray) and (
        hasattr(source, "schema") or hasattr(source, "columns")
    )


def _columns(estimator: Any, X: Any, names: Any) -> dict[str, Any]:
    if names is not None:
        pd = optional("pandas", "predicting by named columns")
        X = pd.DataFrame(X, columns=list(names))
    found = {"prediction": estimator.predict(X)}
    if hasattr(estimator, "predict_proba"):
        table = estimator.predict_proba(X)
        for k, label in enumerate(estimator.classes_):
            found[f"probability_{label}"] = np.ascontiguousarray(table[:, k])
    return found
