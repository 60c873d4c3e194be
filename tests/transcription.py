"""Tidy tables of resources/published that were read from the tables in resources/published/raw.

A folder there holds the files of one source as they were found, at the commit that the sidecar beside each names, and
becomes the tidy table of the same name. To write them again, after a change of a sidecar or of the reader:

    .venv/bin/python -m tests.transcription
"""

from pathlib import Path

import polars as pl

from rankadjust.chance.metrics import resolve
from rankadjust.tables.reading import read_tables

PUBLISHED = Path(__file__).parent.parent / "resources" / "published"
RAW = PUBLISHED / "raw"
# Versions of a page that are older than the shipped table of this source.
VERSIONS = {"ampligraph-versions": PUBLISHED / "ampligraph.csv"}
COLUMNS = [
    *(
        "source",
        "source_url",
        "source_line",
        "year",
        "table",
        "dataset",
        "model",
        "split",
        "side",
        "protocol",
    ),
    *("candidates", "metric", "value", "unit", "spread", "notes", "dataset_as_printed", "metric_as_printed"),
]


def raw_tables(folder: Path) -> list[Path]:
    """Return the files of a source that contain tables."""
    return sorted(path for path in folder.iterdir() if path.suffix != ".yaml")


def transcribed(folder: Path) -> pl.DataFrame:
    """Return the tidy table that is read from the files of a source with their sidecars."""
    values = pl.concat(read_tables(path).values.select(COLUMNS) for path in raw_tables(folder))
    newest = VERSIONS.get(folder.name)
    return values if newest is None else first_printed(values, pl.read_csv(newest, infer_schema=False))


def first_printed(values: pl.DataFrame, newest: pl.DataFrame) -> pl.DataFrame:
    """Return the results (a model's values on a data set) that neither the newest nor an older version prints."""
    line = ["source", "table", "source_line", "dataset", "model"]
    names = {name: resolve(name).key for name in pl.concat([newest["metric"], values["metric"]]).unique()}
    printed = pl.format("{} {}", pl.col("metric").replace_strict(names), pl.col("value").cast(pl.Float64))
    results = (
        pl.concat([newest, values], how="diagonal")
        .group_by(line, maintain_order=True)
        .agg(result=printed.sort().str.join(", "))
        .filter(pl.struct("dataset", "model", "result").is_first_distinct())
    )
    return values.join(results, on=line, how="semi", maintain_order="left")


if __name__ == "__main__":
    for source in sorted(path for path in RAW.iterdir() if path.is_dir()):
        transcribed(source).write_csv(PUBLISHED / f"{source.name}.csv")
