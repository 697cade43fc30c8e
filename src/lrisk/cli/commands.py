"""The commands and their options; all that is slow is imported inside them."""

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._version import __version__
from .auditing import (
    audited,
    estimator_at,
    open_report,
    predictions_at,
    refusals_told,
)
from .errors import (
    BUG,
    DONE,
    REFUSED,
    STATUSES,
    STOPPED,
    TOO_MANY,
    BadInput,
    check_installed,
    one_line,
    settle_output,
    told_in_one_line,
)
from .folders import audited_folder, large_folder
from .warming import be_quiet, compiling_told, warm_up

FILE = click.Path(path_type=Path)
NO_HEADER = click.option("--no-header", is_flag=True, help="The first line is data; "
                         "columns are called c1, c2, ...")  # fmt: skip
DROP = click.option("--drop", multiple=True, metavar="COLUMN", help="Leave this column "
                    "out, as if it were not there; may be repeated.")  # fmt: skip
TASKS = click.Choice(["auto", "regression", "classification"])
KERNELS = click.Choice(["linear", "rbf"])


if TYPE_CHECKING:
    _Type = click.ParamType[str | float]
else:  # before click 8.4 it knows no types
    _Type = click.ParamType


class Contamination(_Type):
    """'auto' or a share."""

    name = "auto|SHARE"

    def convert(self, value: Any, param: Any, ctx: Any) -> str | float:
        """Turn the text into 'auto' or a number in [0, 0.5)."""
        if value == "auto":
            return "auto"
        try:
            share = float(value)
        except ValueError:
            share = -1.0
        if not 0.0 <= share < 0.5:
            self.fail(f"must be 'auto' or a number in [0, 0.5), got {value!r}", param)
        return share


class _Commands(click.Group):
    """The commands; what a user can change about any of them is told in one line."""

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        with told_in_one_line():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        with told_in_one_line():
            return super().invoke(ctx)


_MEANINGS = "\n".join(f"{code:>5}  {words}" for code, words in STATUSES.items())

#: How to have options completed; click does the work.
_COMPLETION = """\b
Completion of commands and options by the Tab key, in the file your shell reads:
  bash  eval "$(_LRISK_COMPLETE=bash_source lrisk)"   in ~/.bashrc
  zsh   eval "$(_LRISK_COMPLETE=zsh_source lrisk)"    in ~/.zshrc
  fish  _LRISK_COMPLETE=fish_source lrisk | source    in ~/.config/fish/config.fish"""


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=f"\b\nExit status:\n{_MEANINGS}\n\n{_COMPLETION}",
)
@click.version_option(__version__, prog_name="lrisk", message="%(prog)s %(version)s")
def lrisk() -> None:
    """Find rows that do not fit, and learn in spite of them.

    Begin with: lrisk audit DATA.csv --target COLUMN
    """


@lrisk.command()
@click.argument("data", type=FILE)
@click.option("--target", required=True, help="Column to be predicted.")
@click.option("--task", type=TASKS, default="auto", show_default=True,
              help="Whether the target is a quantity or a class; by default words and "
              "targets of two values are classes.")  # fmt: skip
@click.option("--estimator", metavar="MODULE:OBJECT",
              help="Judge rows by this model instead of lrisk's own fit, such as "
              "sklearn.ensemble:RandomForestRegressor or my_models:pipeline. The "
              "module is imported, from the current folder too: its code "
              "runs.")  # fmt: skip
@click.option("--predictions", metavar="COLUMN|FILE",
              help="Judge rows by these out-of-fold predictions of a model that lives "
              "elsewhere: a column of DATA, or a file of as many rows, such as `lrisk "
              "predict` writes, or one column with a header or without.")  # fmt: skip
@click.option("--kernel", type=KERNELS, default="linear", show_default=True,
              help="Shape of the three fits that are compared.")  # fmt: skip
@click.option("--spectrum", default="superquantile:0.9", show_default=True,
              help="What the tail-risk fit minimises.")  # fmt: skip
@click.option("--contamination", type=Contamination(), default="auto",
              show_default=True,
              help="Flag this share of the rows instead of judging them.")  # fmt: skip
@click.option("--group", help="Compare the groups of this column; an --estimator "
              "judges each without having seen any of it.")  # fmt: skip
@click.option("--time", help="Compare stretches of this column of dates or "
              "times.")  # fmt: skip
@click.option("--id", help="Show this column beside row numbers, and do not learn from "
              "it.  [default: a column in which nearly every row has its "
              "own]")  # fmt: skip
@DROP
@NO_HEADER
@click.option("--out", type=FILE, default=None,
              help="Write report.html, rows.csv and audit.json into this folder.  "
              "[default: DATA-audit]")  # fmt: skip
@click.option("--parquet", is_flag=True, help="Write rows.parquet beside rows.csv.")
@click.option("--seed", "random_state", type=click.IntRange(0), default=0,
              show_default=True, help="Draw folds and samples by this seed, the "
              "random_state of lrisk.audit.")  # fmt: skip
@click.option("--fail-above", type=click.FloatRange(0.0, 1.0),
              help="Exit with status 1 if more than this share of rows does not fit "
              "(by the lower end of the printed interval).")  # fmt: skip
@click.option("--redact", is_flag=True,
              help="Leave cell values and names of groups out of what is printed and "
              "written.")  # fmt: skip
@click.option("--quiet", "-q", is_flag=True,
              help="Print nothing but errors; the files are written all the "
              "same.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True,
              help="Print audit.json, on one line, instead of words.")  # fmt: skip
@click.option("--open", "opened", is_flag=True,
              help="Open the report in a browser.")  # fmt: skip
@click.option("--compare", type=FILE,
              help="Say what changed since this earlier audit.json.")  # fmt: skip
@click.option("--verdicts", type=FILE,
              help="Respect and measure the 'wrong' and 'right' that a person wrote "
              "into this rows.csv.")  # fmt: skip
def audit(
    data: Path,
    target: str,
    out: Path | None,
    fail_above: float | None,
    redact: bool,
    compare: Path | None,
    verdicts: Path | None,
    no_header: bool,
    quiet: bool,
    as_json: bool,
    opened: bool,
    parquet: bool,
    **options: Any,
) -> None:
    """Say which rows of a table do not fit, why, and what changes without them.

    DATA is a .csv, .tsv, .txt, .xlsx, .json, .jsonl or .parquet file, .gz or not, a
    folder of Parquet files, or - for the standard input.

    In a pipeline: lrisk audit DATA --target COLUMN --quiet --fail-above 0.02 ends with
    status 1 if more than 2 % of the rows do not fit, with 2 if it could not judge
    (lrisk --help lists all), and --json gives the next step everything that was found.
    """
    check_installed("lrisk audit", "pandas", "jinja2", "rich")
    if parquet:
        check_installed("--parquet", "pyarrow")
    from .reading import read_audit, read_verdicts

    if fail_above is not None and fail_above != fail_above:
        raise ValueError("--fail-above must be a number from 0 to 1, got nan")
    if data == verdicts == Path("-"):
        raise ValueError(
            "DATA and --verdicts are both -, and only one of them can be the standard "
            "input; give a file for the other"
        )
    name = "data" if data == Path("-") else data.name
    folder = out or Path(f"{name.split('.')[0] or 'data'}-audit")
    _writable(folder)
    if quiet:
        be_quiet()
    options["compare"] = read_audit(compare) if compare else None
    shown = "json" if as_json else "nothing" if quiet else "words"
    with refusals_told(redact):
        if (large := large_folder(data)) is not None:
            options["verdicts"] = verdicts
            result = audited_folder(large, target, name, options, folder, redact, shown)
            return _ended(result, folder, fail_above, opened)
        table = _read(data, target, no_header, options["predictions"], told=not quiet)
        frame = table.frame
        options["verdicts"] = read_verdicts(verdicts, len(frame)) if verdicts else None
        options["estimator"] = estimator_at(options["estimator"])
        options["predictions"] = predictions_at(options["predictions"], frame)
        result = audited(
            frame, target, name, options, folder, redact, shown, table.notes, parquet
        )
    _ended(result, folder, fail_above, opened)


def _ended(result: Any, folder: Path, fail_above: float | None, opened: bool) -> None:
    """Show the report, and fail if too many rows do not fit, where that was asked."""
    if opened:
        open_report(folder / "report.html")
    if fail_above is not None and result.interval[0] > fail_above:
        click.echo(
            f"lrisk: at least {result.interval[0]:.1%} of the rows do not fit, "
            f"more than --fail-above {fail_above:g}",
            err=True,
        )
        raise click.exceptions.Exit(TOO_MANY)


def _read(
    data: Path,
    target: str | None,
    no_header: bool,
    predictions: str | None = None,
    told: bool = True,
) -> Any:
    """A table from a file; what was left out of it is told, if anything is to be."""
    from ..tables.files import read_table

    labels = [] if predictions is None else [predictions]
    table = read_table(data, target, header=not no_header, labels=labels)
    for note in table.notes if told else []:
        click.echo(f"lrisk: note: {one_line(note)}", err=True)
    return table


def _writable(folder: Path) -> None:
    """Refuse a folder that cannot be written before the work is done."""
    import tempfile

    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--out {folder} is a file; give a folder")
    place = folder
    while not place.exists():
        place = place.parent
    try:
        Path(tempfile.mkdtemp(prefix=".lrisk-", dir=place)).rmdir()
    except OSError:
        message = f"--out {folder} cannot be written; choose another folder"
        raise ValueError(message) from None


#: Of ``lrisk fit``, one below the other.
_FITS = """\b
Examples:
  lrisk fit flats.csv --target rent --out flats.skops
  lrisk fit flats.csv --target rent --estimator kernel-risk-regressor \\
      --spectrum superquantile:0.9 --set gamma=0.1 --out flats.skops
  lrisk fit flats.csv --estimator RiskKMeans --set n_clusters=3 --out kinds.skops"""


@lrisk.command(epilog=_FITS)
@click.argument("data", type=FILE)
@click.option("--target", help="Column to be predicted; none for clustering.")
@click.option("--estimator", "name", metavar="NAME",
              help="Any estimator of lrisk: `lrisk estimators` lists them.  "
              "[default: RobustRegressor or RobustClassifier]")  # fmt: skip
@click.option("--task", type=TASKS, default="auto", show_default=True)
@click.option("--spectrum", help="Such as superquantile:0.9, where it has one.")
@click.option("--kernel", help="Such as rbf, where it has one.")
@click.option("--alpha", type=float, help="Penalty, where it has one.")
@click.option(
    "--set",
    "words",
    multiple=True,
    metavar="NAME=VALUE",
    help="Any other parameter, such as tol=1e-8, loss=huber, n_clusters=3, "
    "noise=gaussian:0.1 or estimator=RiskClassifier; may be repeated.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
              help="Fit by this seed, the random_state of what draws.")  # fmt: skip
@DROP
@NO_HEADER
@click.option("--out", type=FILE, required=True, help="Model file to write.")
def fit(
    data: Path,
    target: str | None,
    name: str | None,
    task: str,
    words: tuple[str, ...],
    seed: int,
    drop: tuple[str, ...],
    no_header: bool,
    out: Path,
    **given: Any,
) -> None:
    """Fit any estimator of lrisk to a table and save it for `lrisk predict`.

    Numbers are standardised, levels one-hot encoded and missing cells filled first, as
    the audit does; that goes into the model file too. Penalties, kernel widths and
    variances of noise therefore refer to columns of unit variance. The file holds what
    predictions need; what rows were judged by is not in it. How good the model is on
    rows it has not seen is printed.
    """
    check_installed("lrisk fit", "pandas", "skops", "packaging")
    from ..tables.table import without
    from .models import fit_model
    from .settings import parsed_settings
    from .storage import save_model

    settings = parsed_settings(words)
    for key, value in given.items():
        if value is not None and settings.setdefault(key, value) is not value:
            raise BadInput(f"{key} is given twice: --{key} and --set {key}")
    _writable(out.parent)
    if out.is_dir():
        raise BadInput(f"--out {out} is a folder; give a file")
    frame = without(_read(data, target, no_header).frame, drop)
    fitted = fit_model(frame, target, name, task, settings, seed)
    save_model(fitted.model, out)
    for note in fitted.notes:
        click.echo(f"lrisk: note: {one_line(note)}", err=True)
    used = type(fitted.model["estimator"]).__name__
    click.echo(f"{used} fitted to {fitted.n_rows} rows, saved in {out}")
    if fitted.score:
        click.echo(fitted.score)


@lrisk.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@NO_HEADER
@click.option("--out", type=FILE, help="CSV file to write.  [default: print]")
def predict(model: Path, data: Path, no_header: bool, out: Path | None) -> None:
    """Predict the rows of a table by a model that `lrisk fit` saved.

    Writes the row, counted from 1, its prediction and, for classifiers, the probability
    of that prediction. Columns may stand in any order; those that the model does not
    use are ignored. Model files are skops files: what could run code is refused.
    """
    check_installed("lrisk predict", "pandas", "skops", "packaging")
    from .models import predict_with
    from .storage import load_model
    from .writing import predictions_csv, write_text

    loaded = load_model(model)
    found = predict_with(loaded, _read(data, None, no_header).frame)
    text = predictions_csv(found.columns)
    if found.ignored:
        names = ", ".join(found.ignored)
        click.echo(one_line(f"lrisk: note: columns not used: {names}"), err=True)
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(out, text)
        click.echo(f"Written: {out}")


@lrisk.command("estimators")
def list_estimators() -> None:
    """List the estimators that `lrisk fit` knows, and their parameters."""
    from .registry import estimators, kind_of

    for name, kind in estimators().items():
        own = kind()
        what = (kind.__doc__ or "").strip().partition("\n")[0]
        click.echo(f"{name} ({kind_of(own)}): {what}")
        click.echo(f"    {', '.join(own.get_params(deep=False))}")


@lrisk.command()
@click.option("--out", type=FILE, default=Path("lrisk-demo"), show_default=True)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True,
              help="Draw the table by this seed, and the audit's folds.")  # fmt: skip
def demo(out: Path, seed: int) -> None:
    """Audit a generated table with planted errors, and say how many were found."""
    check_installed("lrisk demo", "jinja2", "rich")
    from .demo import found_words, planted_errors

    _writable(out)
    planted = planted_errors(seed)
    source = "rents of 400 flats (generated)"
    options = {"random_state": seed, "group": "desk"}
    result = audited(planted.data, planted.target, source, options, out, False)
    click.echo(f"\n{found_words(planted.wrong, result.flags)[0]}")
    click.echo(f"Open {out / 'report.html'} in a browser.")


@lrisk.command()
def warmup() -> None:
    """Compile everything common now, so that nothing waits for it later.

    What is compiled is kept in the user's cache folder, or in the folder that
    NUMBA_CACHE_DIR names: there a build of an image can put it for all users, who need
    not be able to write to it.
    """
    from .._jit import cache_folder

    folder = cache_folder()
    if folder is None:
        raise BadInput("no cache can be written; set NUMBA_CACHE_DIR to a folder")
    warm_up(lambda name: click.echo(f"compiling: {name}"))
    click.echo(f"Compiled code is in {folder}.")


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status (`errors.STATUSES`)."""
    try:
        status = _status(arguments)
    except click.UsageError as error:
        words = one_line(error.format_message())
        click.echo(f"lrisk: {words} (see lrisk --help)", err=True)
        status = REFUSED
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("lrisk: stopped", err=True)
        status = STOPPED
    except Exception:
        traceback.print_exc()
        click.echo("lrisk: this is a bug in lrisk; please report it", err=True)
        status = BUG
    settle_output()
    return status


def _status(arguments: Sequence[str] | None) -> int:
    """What click says; it returns, and does not raise, what a command exits with."""
    command: Callable[..., Any] = lrisk.main
    with compiling_told():
        status = command(args=arguments, prog_name="lrisk", standalone_mode=False)
    return status if isinstance(status, int) else DONE
