"""Model files: skops files of which only types known to be harmless are loaded.

They hold what predictions need. What the robust estimators judge rows by is left out: a
loaded model predicts and scores, can be fitted anew, and says so where it is asked to
judge rows.
"""

import io
import json
import os
import secrets
import sys
import zipfile
from copy import copy
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version
from sklearn.base import BaseEstimator

from .._params import Parameters
from .._version import __version__
from ..estimators.robust_base import RobustEstimator
from ..tables import TablePreparation
from .registry import estimators

#: Counted up whenever older versions of lrisk could not read what is written.
FORMAT = 4
#: The member of the file that says who wrote it, read before anything else.
LABEL = "lrisk.json"
#: Most bytes of the label.
LABEL_SIZE = 10_000
#: Plain classes of lrisk that fitted estimators hold, beside the kinds that
#: `is_trusted` knows.
HELPERS = {
    "lrisk.corrections.features.RandomFeatures",
    "lrisk.corrections.surrogates.Surrogate",
    "lrisk.solvers.online.kernel.KernelState",
    "lrisk.solvers.online.linear.LinearState",
    "lrisk.solvers.stochastic.stream.Stream",
    "lrisk.tables.preparation.TablePreparation",
}


def is_trusted(name: str) -> bool:
    """Whether files may hold objects of the type of that full name.

    Beside what skops itself trusts (arrays, numbers, words, scikit-learn's estimators)
    these are classes of lrisk: its exported estimators, parameter objects (spectra,
    losses, noises, kernels, solvers), named tuples, and `HELPERS`. None of them does
    anything on being made or filled; functions are never among them. Nothing but the
    estimators' own modules is imported to find out.
    """
    known = estimators()
    module, _, own = name.rpartition(".")
    if module.partition(".")[0] != "lrisk":
        return False
    kind = vars(sys.modules[module]).get(own) if module in sys.modules else None
    if not isinstance(kind, type) or kind.__module__ != module:
        return False
    return (
        kind in known.values()
        or issubclass(kind, Parameters)
        or (issubclass(kind, tuple) and hasattr(kind, "_fields"))
        or name in HELPERS
    )


def save_model(model: dict[str, Any], path: Path) -> None:
    """Write the whole file, or nothing."""
    content = _dumped({**model, "estimator": _predicting_only(model["estimator"])})
    temporary = path.parent / f".{path.name}.{secrets.token_hex(4)}.part"
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def load_model(path: Path) -> dict[str, Any]:
    """Read a model; types that are not trusted are refused by name."""
    from skops import io as skops_io

    content = path.read_bytes()
    if not zipfile.is_zipfile(io.BytesIO(content)):
        raise ValueError(f"{path} is not a model file of lrisk, or not a whole one")
    try:
        label = _label(content)
        _check_version(path, label)
        found = skops_io.get_untrusted_types(data=content)
    except _OtherVersion as error:
        raise ValueError(str(error)) from None
    except Exception as error:  # a hostile file can make the parser raise anything
        raise ValueError(f"{path} is not a model file of lrisk ({error!r})") from None
    refused_types = [name for name in found if not is_trusted(name)]
    if refused_types:
        raise ValueError(
            f"{path} is refused: it holds the untrusted type {refused_types[0]}, which "
            "no model of lrisk does; it could run code"
        )
    try:
        model = skops_io.loads(content, trusted=found)
    except Exception as error:  # as above
        raise ValueError(f"{path} is damaged ({error!r})") from None
    if label is None or not _is_model(model):
        raise ValueError(f"{path} is not a model file of lrisk")
    return dict(model)


def _predicting_only(estimator: Any) -> Any:
    """A copy of the model, and of models within it, without what judges rows."""
    if isinstance(estimator, RobustEstimator):
        return estimator.predicting_only()
    if not isinstance(estimator, BaseEstimator):
        return estimator
    own = copy(estimator)
    for name, value in vars(own).items():
        setattr(own, name, _predicting_only(value))
    return own


class _OtherVersion(Exception):
    """The file is of a version that this one cannot read."""


def _dumped(model: dict[str, Any]) -> bytes:
    from skops import io as skops_io

    content = skops_io.dumps(model, compression=zipfile.ZIP_DEFLATED)
    for name in skops_io.get_untrusted_types(data=content):
        if not is_trusted(name):
            raise ValueError(
                f"the model cannot be saved: it holds {name}, which could not be "
                "loaded safely"
            )
    buffer = io.BytesIO(content)
    label = {"format": FORMAT, "lrisk": __version__}
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as file:
        file.writestr(LABEL, json.dumps(label))
    return buffer.getvalue()


def _label(content: bytes) -> dict[str, Any] | None:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        if LABEL not in file.namelist():
            return None
        with file.open(LABEL) as member:
            return dict(json.loads(member.read(LABEL_SIZE)))


def _check_version(path: Path, label: dict[str, Any] | None) -> None:
    """Refuse files of a later lrisk, or of an older format, whatever they hold."""
    if label is None:
        return
    written = str(label["lrisk"])[:40]
    try:
        later = Version(written) > Version(__version__)
    except InvalidVersion:
        raise ValueError(f"no version: {written!r}") from None
    if later or int(label["format"]) > FORMAT:
        raise _OtherVersion(
            f"{path} was written by lrisk {written}, which is newer than this lrisk "
            f"{__version__}; update lrisk: pip install -U lrisk"
        )
    if int(label["format"]) < FORMAT:
        raise _OtherVersion(
            f"{path} was written by an earlier lrisk ({written}) that prepared tables "
            "otherwise; fit the model anew"
        )


def _is_model(model: Any) -> bool:
    needed = {"estimator", "preparation", "target", "classes"}
    if not isinstance(model, dict) or not needed <= set(model):
        return False
    return (
        type(model["estimator"]) in estimators().values()
        and isinstance(model["classes"], list)
        and isinstance(model["preparation"], TablePreparation)
    )
