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
from .sources import no_rows, opened


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
    if path.is_dir() or not path.parent.is_dir():
        rule, remedy = "a file in an existing folder", "make the folder or name a file"
        raise ValueError(refused("outofcore", "output", rule, str(path), remedy))
    if isinstance(source, str | Path):
        read = Path(source).resolve()
        if read == path.resolve() or read in path.resolve().parents:
            rule, remedy = "apart from the rows that are read", "name another file"
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
            raise no_rows()
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
    names = None if names is None else list(names)
    options: dict[str, Any] = {"with_target": False, "names": names}
    stream = opened(source, None, columns, None, scratch, **options)
    first = next(stream.batches, None)
    if first is None:
        raise no_rows()
    if first.X.shape[1] != estimator.n_features_in_:
        rule = f"{estimator.n_features_in_} columns, as in the fit"
        remedy = "name them with columns="
        seen = first.X.shape[1]
        raise ValueError(refused("outofcore", "source", rule, seen, remedy))
    return stream._replace(batches=itertools.chain([first], stream.batches))


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
