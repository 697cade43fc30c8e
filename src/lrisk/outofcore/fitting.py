"""`lrisk.outofcore.fit`: the estimators' fits, of rows that stay where they are."""

import itertools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .._params import check_count, refused
from .._threads import blas_threads_for
from .._validation import unchanged_on_error
from ..estimators import RiskClassifier, RiskRegressor
from ..estimators.class_weights import weighted_by_class
from ..estimators.parted import start_of, store_parted, warn_of_parted
from ..losses import CLASS_LOSSES, NUMBER_LOSSES, parse_loss
from ..partitions.engine import Local
from ..partitions.files import RowFile
from ..partitions.objective import MOST_BINNED, PartitionedObjective
from ..partitions.part import Part
from ..partitions.rows import BLOCK, ArrayRows
from ..solvers.partitioned import check_partitionable, minimise_in_parts
from ..solvers.solution import Monitor, Record, Solution
from ..spectra import parse_spectrum
from .memory import Plan, parsed, planned
from .scratch import Growing, Scratch
from .sources import Data, read
from .targets import NumberTargets, Targets, TwoClasses

_Estimator = TypeVar("_Estimator", RiskRegressor, RiskClassifier)
#: Rows whose targets are gone through together.
STRETCH = 1 << 20
#: Entries of the gradients by bin: 32 MB are less than another read of a file.
READ_BINNED = 4_000_000


def fit(
    estimator: _Estimator,
    source: Any,
    target: Any = None,
    columns: Any = None,
    sample_weight: Any = None,
    memory: Any = "2GB",
    scratch: Any = None,
    n_threads: int | None = None,
    callback: Callable[[dict[str, Any]], object] | None = None,
    weights_to: Any = None,
) -> _Estimator:
    r"""Fit a linear model to rows that do not fit into memory.

    The fit is that of ``estimator.fit``, with the same proof of how good it is: F is
    minimised to the relative duality gap `tol` by the same descents, which see the rows
    a few times only (see Notes).

    Parameters
    ----------
    estimator : RiskRegressor or RiskClassifier
        Under the mean, an extremile, an ESRM or a superquantile, with squared or Huber
        loss or, for two classes, logistic loss or the squared hinge, and
        ``solver="auto"``. It is fitted and returned;
        ``verbose`` prints a line for each iteration.
    source : path, array, table or iterable
        An ``.npy`` file; a Parquet file or a folder of these; a `numpy.memmap` of raw
        numbers; a table, data set or reader of pyarrow; or an iterable of batches, each
        of them a table, a frame or a tuple (X, y) or (X, y, weights). Rows of 32 or 64
        bits that lie one after another in a file are read in place; everything else is
        written to `scratch` once.
    target : str, int, array, path or None, default=None
        The name of a column; for arrays its place, an ``.npy`` file or an array of
        shape (n,). None where batches are tuples.
    columns : list of str or int, or None, default=None
        The features, in this order; by default all but the target and the weight.
    sample_weight : str, int, array, path or None, default=None
        As `target`; ≥ 0. Rows of weight 0 are left out.
    memory : int or str, default="2GB"
        What the process may come to hold, all in all. Vectors as long as the rows go
        to `scratch` where they would not fit.
    scratch : path or None, default=None
        An existing folder for files without a name, which are gone with the process.
        None means the system's; it should lie on a disk, not in memory.
    n_threads : int or None, default=None
        Each works on a part of the rows; None means one for each processor. The result
        depends on it in the last digits only.
    callback : callable or None, default=None
        Told of each iteration: a dict with ``"objective"``, ``"gap"``, ``"seconds"``
        and ``"reads"``, how often the features have been read so far.
    weights_to : path or None, default=None
        An ``.npy`` file to write λ of all rows to, which may take one more read;
        ``risk_weights_`` is then a map of it.

    Returns
    -------
    estimator
        With the attributes of its own ``fit``. ``history_`` has the reads of each
        iteration. ``risk_weights_`` is there with `weights_to`, or if it fits into
        memory and takes no further read; else it is not, and the last entry of
        ``history_`` has a ``"note"`` that says why.

    Raises
    ------
    KeyboardInterrupt
        After Ctrl-C; the best coefficients so far, with the gap that is proven for
        them, have then been stored in the estimator.

    See Also
    --------
    predict : Predictions of rows that do not fit into memory.
    lrisk.dask.RiskRegressor : The same for rows on a cluster.

    Notes
    -----
    Smooth spectra take about three to five reads, superquantiles four to nine, a
    collapsed fit four to eight, and the sample that the descent begins with a small
    part of one. Huber loss and the squared hinge take about five reads more for each
    bound, and have none without a penalty (``alpha=0``). Sums are of 64 bits whatever
    the type of the features, so a gap of 1e-10 is a proof for features of 32 bits too.

    Examples
    --------
    >>> import numpy as np
    >>> import lrisk.outofcore
    >>> rng = np.random.default_rng(0)
    >>> def batches():
    ...     for _ in range(10):
    ...         X = rng.normal(size=(1000, 3))
    ...         yield X, X @ [1.0, 2.0, 3.0] + rng.normal(size=1000)
    >>> model = lrisk.RiskRegressor("superquantile:0.9")
    >>> model = lrisk.outofcore.fit(model, batches(), n_threads=1)
    >>> model.coef_.round(1)
    array([1., 2., 3.])
    >>> bool(model.dual_gap_ <= 1e-6)
    True
    """
    _check_estimator(estimator)
    allowed = parsed(memory)
    threads = _threads(n_threads)
    with unchanged_on_error(estimator), Scratch(scratch) as files:
        make = TwoClasses if _classifies(estimator) else NumberTargets
        data, targets = read(
            source, target, columns, sample_weight, lambda: make(estimator), files
        )
        n, d = data.shape
        threads = min(threads, -(-n // BLOCK))  # each reads a block at least
        plan = planned(allowed, n, d, threads)
        parts = _parts(estimator, data, targets, plan, threads, files)
        engine = Local(parts, threads)
        if (classes := targets.classes()) is not None:
            estimator.classes_ = classes
        try:
            with blas_threads_for(0):
                found = _solve(estimator, engine, parts, callback)
                store_parted(estimator, *found, data.names, source="source")
                _store_weights(estimator, parts, found, plan, data, weights_to)
        finally:
            engine.close()
    warn_of_parted(estimator, *found, depth=2)
    return estimator


_Found = tuple[PartitionedObjective, Solution]


def _check_estimator(estimator: Any) -> None:
    if type(estimator) not in (RiskRegressor, RiskClassifier):
        rule, remedy = "a RiskRegressor or RiskClassifier", "fit others in memory"
        seen = type(estimator).__name__
        raise TypeError(refused("outofcore", "estimator", rule, seen, remedy))
    estimator._check_parameters()
    if estimator.solver != "auto":
        rule, remedy = "'auto' for rows out of memory", "leave it alone"
        raise ValueError(refused(estimator, "solver", rule, estimator.solver, remedy))
    check_partitionable(_loss(estimator), parse_spectrum(estimator.spectrum), estimator)


def _classifies(estimator: Any) -> bool:
    return isinstance(estimator, RiskClassifier)


def _loss(estimator: Any) -> Any:
    known = CLASS_LOSSES if _classifies(estimator) else NUMBER_LOSSES
    return parse_loss(estimator.loss, known)


def _threads(n_threads: Any) -> int:
    if n_threads is not None:
        check_count("outofcore", "n_threads", n_threads)
        return int(n_threads)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _parts(
    estimator: Any,
    data: Data,
    targets: Targets,
    plan: Plan,
    threads: int,
    files: Scratch,
) -> list[Part]:
    """One part for each thread, with its vectors where the plan has them."""
    y, weight = _numbers(estimator, data, targets, files, spilled=plan.spilled)
    n, loss = data.shape[0], _loss(estimator)
    vector: Any = None
    if plan.lean:
        vector = files.vector if plan.spilled else np.zeros
    parts = []
    edges = np.linspace(0, n, min(threads, n) + 1).astype(int).tolist()
    for a, b in itertools.pairwise(edges):
        rows = data.rows
        if isinstance(rows, ArrayRows):
            rows = ArrayRows(rows.X[a:b])
        else:
            rows = rows.window(a, b, plan.chunk)
        own = None if weight is None else _window(weight, a, b)
        parts.append(Part(rows, _window(y, a, b), own, loss, vector))
    return parts


def _window(vector: Any, a: int, b: int) -> Any:
    return vector[a:b] if isinstance(vector, np.ndarray) else vector.window(a, b)


def _numbers(
    estimator: Any, data: Data, targets: Targets, files: Scratch, *, spilled: bool
) -> tuple[Any, Any]:
    """Targets as the loss wants them, and weights with those of classes."""
    y, weight = data.y.vector(in_memory=not spilled), data.weight
    w = None if weight is None else weight.vector(in_memory=not spilled)
    spans = [slice(a, a + STRETCH) for a in range(0, data.y.count, STRETCH)]
    for here in spans:
        y[here] = targets.final(y[here])
    if getattr(estimator, "class_weight", None) is None:
        return y, w
    mass, classes = np.zeros(2), targets.classes()
    assert classes is not None
    for here in spans:
        own = np.ones(len(y[here])) if w is None else w[here]
        mass += np.bincount(y[here].astype(np.intp), own, minlength=2)
    weighted = weighted_by_class(estimator, estimator.class_weight, classes, mass)
    assert weighted is not None
    factors = weighted / mass
    if np.any(factors == 0.0):
        rule, remedy = "positive for both classes", "leave out its rows instead"
        given = estimator.class_weight
        raise ValueError(refused(estimator, "class_weight", rule, given, remedy))
    grown = Growing(files, np.float64)
    for here in spans:
        own = factors[y[here].astype(np.intp)]
        grown.add(own if w is None else own * w[here])
    return y, grown.vector(in_memory=not spilled)


def _solve(estimator: Any, engine: Local, parts: list[Part], callback: Any) -> _Found:
    spectrum, loss = parse_spectrum(estimator.spectrum), _loss(estimator)
    alpha, intercept = float(estimator.alpha), bool(estimator.fit_intercept)
    in_file = any(isinstance(part.rows, RowFile) for part in parts)
    objective = PartitionedObjective(
        engine,
        spectrum,
        loss,
        alpha,
        intercept,
        most_binned=READ_BINNED if in_file else MOST_BINNED,
    )
    limit = {} if estimator.max_iter is None else {"max_iter": estimator.max_iter}
    monitor = _monitor(parts, callback, estimator.verbose)
    start = start_of(estimator, objective)
    found = minimise_in_parts(
        objective, start, tol=estimator.tol, monitor=monitor, **limit
    )
    return objective, found


def _monitor(parts: list[Part], callback: Any, verbose: int) -> Monitor:
    def tell(record: Record) -> None:
        record["reads"] = round(max(part.reads for part in parts), 2)
        if callback is not None:
            callback(record)
        if verbose:
            sys.stdout.write(
                f"iteration {record['iteration']:>4}  "
                f"objective {record['objective']:.10g}  gap {record['gap']:.1e}  "
                f"{record['reads']:.1f} reads  {record['seconds']:.2f} s\n"
            )

    return tell


def _store_weights(
    estimator: Any,
    parts: list[Part],
    solution: _Found,
    plan: Plan,
    data: Data,
    path: Any,
) -> None:
    """λ of all rows, or in the history why it is not there."""
    history = solution[1].history
    weights = _weights(parts, solution, plan, data, path)
    if isinstance(weights, str):
        history[-1] = {**history[-1], "note": f"no risk_weights_, since {weights}"}
    else:
        estimator.risk_weights_ = weights


def _weights(
    parts: list[Part], solution: _Found, plan: Plan, data: Data, path: Any
) -> Any:
    """λ of all rows, or why it is not there."""
    objective, found = solution
    if data.n_given != data.y.count:
        return "rows of weight 0 were left out"
    if path is None and not plan.weights:
        return "it would not fit into memory: say weights_to="
    if not objective.hold(found.weights, read=path is not None):
        return "it would take another read of the source: say weights_to="
    if path is None:
        return np.concatenate([part.weights[: part.n] for part in parts])
    with Path(path).open("wb") as file:
        header = {"descr": "<f8", "fortran_order": False, "shape": (data.y.count,)}
        np.lib.format.write_array_header_1_0(file, header)
        for part in parts:
            for start in range(0, part.n, STRETCH):
                own = part.weights[start : min(start + STRETCH, part.n)]
                file.write(own.astype("<f8").tobytes())
    return np.load(path, mmap_mode="r")
