"""Evaluation sets: what a database says of one data set, protocol and split, and their names as people write them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.files import shipped
from rankadjust.base.reading import read_csv
from rankadjust.base.sealed import Table, read_sealed, write_sealed
from rankadjust.base.shipped_sums import check_shipped
from rankadjust.base.spreadsheets import without_guards
from rankadjust.base.vocabulary import EVALUATION
from rankadjust.database.store import RELEASED, load_database

CANDIDATES = "candidates.parquet"
DATASETS = "datasets.tsv"
# The shipped protocols for data with times; to read them all takes longer than everything else.
_TEMPORAL = ("time-aware", "time-static")

_HISTOGRAMS = Table(
    name="candidates",
    schema=1,
    columns=dict.fromkeys(EVALUATION, pl.String()) | {"num_candidates": pl.Int64(), "tasks": pl.Int64()},
    what="a table of candidate histograms",
    remake="'snakemake --cores all database' makes one",
)


@dataclass(frozen=True)
class EvaluationSet:
    """One data set, protocol and split. constants: its rows of the database (a row for each side and metric)."""

    dataset: str
    protocol: str
    split: str
    constants: pl.DataFrame

    def __str__(self) -> str:
        """Return the name for messages."""
        return f"{self.dataset} ({self.protocol}, {self.split})"


def find_evaluation_set(
    database: pl.DataFrame | str | Path | None, dataset: str, protocol: str, split: str
) -> EvaluationSet:
    """Return an evaluation set of a database (a frame, a file, None for the released one).

    Names may be in upper or lower case, the data set's also an alias of the registry.
    Raises RankadjustError for a name that the database does not have.
    """
    rows = database if isinstance(database, pl.DataFrame) else load_database(database)
    rows, dataset = _narrowed(rows, "dataset", dataset, lambda: "the database")
    rows, protocol = _narrowed(rows, "protocol", protocol, lambda: f"the database for {dataset}")
    rows, split = _narrowed(rows, "split", split, lambda: f"the database for {dataset} ({protocol})")
    return EvaluationSet(dataset, protocol, split, rows)


def has_times(database: pl.DataFrame | str | Path | None, dataset: str) -> bool:
    """Tell whether a database holds a data set as temporal data.

    Either it has a protocol for such data, or a scorer that sees times varies in another way than one that does not.

    Parameters
    ----------
    database
        As in `find_evaluation_set`.
    dataset
        The name of the data set in the database.

    """
    rows = (database if isinstance(database, pl.DataFrame) else load_database(database)).filter(
        pl.col("dataset") == dataset
    )
    is_temporal = pl.col("protocol").is_in(_TEMPORAL) | (
        pl.col("variance_static_scorer") != pl.col("variance_random_scorer")
    )
    return bool(rows.select(is_temporal.any()).item())


def _narrowed(
    rows: pl.DataFrame, column: str, name: str, where: Callable[[], str]
) -> tuple[pl.DataFrame, str]:
    """Return the rows with that name and the name as the database has it."""
    chosen = rows.filter(pl.col(column) == name)
    if chosen.height:
        return chosen, name
    found = known_name(name, rows[column].unique().to_list(), _WHAT[column], where())
    return rows.filter(pl.col(column) == found), found


_WHAT = {"dataset": "data set", "protocol": "protocol", "split": "split"}
_WHERE_TO_LOOK = (
    "; 'rankadjust datasets' lists those that are known, and with --results FOLDER those of a run of your own"
)


def known_name(name: str, known: Iterable[str], what: str, where: str) -> str:
    """Return the one of the known names that is meant, or raise RankadjustError with what it might be."""
    names = {word.casefold(): word for word in sorted(known)}
    folded = name.strip().casefold()
    if folded in names:
        return names[folded]
    if what == _WHAT["dataset"]:
        # Reading the registry takes longer than everything else: only for names that need it.
        from rankadjust.data.registry import load_registry, meanings, resolve_dataset  # noqa: PLC0415

        registry = load_registry()
        try:
            meant = resolve_dataset(name, registry).name
        except RankadjustError:
            words = (word for one in registry.values() for word in (one.name, *one.aliases))
            hint = did_you_mean(name, names.values()) or did_you_mean(name, words) or _WHERE_TO_LOOK
            if meanings(name, registry):
                raise
            raise RankadjustError(f"unknown data set '{name}'{hint}") from None
        if meant in names.values():
            return meant
        raise RankadjustError(f"the data set {meant} is registered, but {where} has nothing on it")
    # Likewise the file of words.
    from rankadjust.base.words import our_word  # noqa: PLC0415

    ours = our_word(what, name)
    if ours in names.values():
        return str(ours)
    hint = did_you_mean(name, names.values()) or f"; it has {', '.join(names.values())}"
    raise RankadjustError(f"there is no {what} '{name}' in {where}{hint}")


def load_candidates(path: str | Path | None = None) -> pl.DataFrame:
    """Return candidate histograms: dataset, protocol, split, side, entities, num_candidates, tasks, ...

    None means the released ones. A table of your own need not be sealed. Raises RankadjustError when the file is
    missing or holds something else, and when its values are not those that were sealed.
    """
    file = beside_database(None, CANDIDATES) if path is None else Path(path)
    check_shipped(file)
    try:
        histograms, _ = read_sealed(file, _HISTOGRAMS)
    except FileNotFoundError:
        raise RankadjustError(
            f"{file}: there are no candidate histograms; give a file with --candidates, or a run with --results"
        ) from None
    return histograms


def write_candidates(histograms: pl.DataFrame, path: str | Path) -> None:
    """Write candidate histograms as Parquet, sealed: with version, schema and a digest in the metadata."""
    write_sealed(histograms, path, _HISTOGRAMS)


def load_datasets(path: str | Path | None = None) -> pl.DataFrame:
    """Return the counts of every data set as text, a row each; None means the released table."""
    file = beside_database(None, DATASETS) if path is None else Path(path)
    check_shipped(file)
    try:
        return without_guards(read_csv(file, separator="\t"))
    except FileNotFoundError:
        raise RankadjustError(
            f"{file}: there is no table of data sets; a run writes it beside its database: give the run with --results"
        ) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise RankadjustError(f"{file}: cannot be read as a table ({str(error).splitlines()[0]})") from None


def beside_database(database: str | Path | None, name: str) -> Path:
    """Return the path of a file that is released together with a database (None: the released one)."""
    file = shipped(RELEASED) if database is None else Path(database)
    return file.parent / name
