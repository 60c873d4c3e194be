"""The deposit: a release for people without this library, as a folder to be published (docs/use-the-database.md).

Every file follows from the release alone and from the versions of the software, never from the time or the machine.
"""

import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jinja2
import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import SUMS, sha256_of, write_csv, write_sums, write_text
from rankadjust.base.schemas import read_yaml
from rankadjust.base.version import REGISTRY_DATE, VERSION
from rankadjust.counting.protocols import load_protocols
from rankadjust.data.registry import Dataset
from rankadjust.database.constants import Constants
from rankadjust.database.store import BASELINES, write_baselines, write_candidates, write_database
from rankadjust.database.verification import pykeen_layout
from rankadjust.output.terminal import SAMPLED, SAMPLED_DESCRIPTION, metric_rows

DEPOSITED_DATASETS = "datasets.csv"
TABLES = (
    "adjustments.parquet",
    BASELINES,
    "candidates.parquet",
    "adjustments.csv.gz",
    "metric_adjustments.tsv.gz",
    DEPOSITED_DATASETS,
)
TEXTS = ("datapackage.json", "croissant.json", "README.md", "LICENSE", "CITATION.cff", ".zenodo.json")

# Without scale and offset, which two subtractions and a division replace.
_SMALL = (
    *("dataset", "protocol", "split", "side", "metric", "tasks"),
    *("expectation", "optimum", "variance", "variance_random_scorer", "expectation_low", "expectation_high"),
)
_SOFTWARE = ("numpy", "polars", "scipy", "snakemake")
_FOLDER = Path(__file__).parent
_LICENCE = {
    "name": "CC0-1.0",
    "path": "https://creativecommons.org/publicdomain/zero/1.0/",
    "title": "Creative Commons Zero v1.0 Universal",
}
_KINDS = {pl.String: "string", pl.Int64: "integer", pl.Float64: "number"}
_DATA_TYPES = {"string": "sc:Text", "integer": "sc:Integer", "number": "sc:Float"}
# The context of JSON-LD that the specification of Croissant gives.
_CROISSANT_TERMS = (
    "citeAs column equivalentProperty extract field fileProperty fileObject fileSet format includes isLiveDataset "
    "jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate separator source "
    "subField transform"
)
_CROISSANT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in _CROISSANT_TERMS.split()},
}
_FORMATS = {
    ".parquet": ("parquet", "application/vnd.apache.parquet"),
    ".csv": ("csv", "text/csv"),
    ".tsv": ("tsv", "text/tab-separated-values"),
}


def write_deposit(
    constants: Constants, datasets: pl.DataFrame, registry: Mapping[str, Dataset], folder: Path
) -> None:
    """Write every file of a deposit into a folder.

    datasets: the counts of every data set as text. Raises RankadjustError where a column is not described in
    columns.yaml, or two rows of a table have the same key; then nothing is written.
    """
    database = constants.table
    tables = {
        "adjustments.parquet": database,
        BASELINES: constants.baselines,
        "candidates.parquet": constants.histograms.table,
        "adjustments.csv.gz": database.select(name for name in _SMALL if name in database.columns),
        "metric_adjustments.tsv.gz": pykeen_layout(database, registry),
        DEPOSITED_DATASETS: _with_origins(datasets, registry),
    }
    columns = read_yaml(_FOLDER / "columns.yaml")
    described = [_described(name, tables[name], columns[name]) for name in TABLES]
    write_database(database, folder / "adjustments.parquet")
    write_baselines([constants.baselines], folder / BASELINES)
    write_candidates(tables["candidates.parquet"], folder / "candidates.parquet")
    for name in ("adjustments.csv.gz", "metric_adjustments.tsv.gz", DEPOSITED_DATASETS):
        write_csv(tables[name], folder / name)
    versions = {name: version(name) for name in _SOFTWARE}
    facts: dict[str, Any] = {
        "name": "rankadjust-database",
        "title": "rankadjust: constants that adjust link-prediction metrics for chance",
        "version": VERSION,
        "date": REGISTRY_DATE,
        "paper": "2203.07544",
        "software": {"rankadjust": VERSION, "python": platform.python_version()} | versions,
        "tables": described,
        "rows": {name: frame.height for name, frame in tables.items()},
        "named": database["dataset"].n_unique(),
        "metrics": database["metric"].n_unique(),
        "families": [row for row in metric_rows() if row["adjusted"]],
        "protocols": _protocols(database),
    }
    package = _data_package(folder, described, facts)
    write_text(_json(package), folder / "datapackage.json")
    write_text(_json(_croissant(package, facts)), folder / "croissant.json")
    write_text(_json(_zenodo(facts)), folder / ".zenodo.json")
    for name in ("README.md", "CITATION.cff"):
        write_text(_rendered(name, facts), folder / name)
    write_text((_FOLDER / "templates" / "CC0-1.0.txt").read_text(encoding="utf-8"), folder / "LICENSE")
    write_sums([folder / name for name in sorted((*TABLES, *TEXTS))], folder / SUMS)


def _protocols(database: pl.DataFrame) -> Mapping[str, str]:
    """Return the descriptions of the protocols of a database; all sampled protocols share one."""
    named = {name: protocol.description for name, protocol in load_protocols().items()}
    used = sorted(database["protocol"].unique())
    known = {name: named[name] for name in used if name in named}
    return known | {SAMPLED: SAMPLED_DESCRIPTION}


def _with_origins(datasets: pl.DataFrame, registry: Mapping[str, Dataset]) -> pl.DataFrame:
    """Return the counts of data sets with the licence, the publication and PyKEEN's name of each."""
    known = [registry.get(name) for name in datasets["dataset"]]
    origins = [
        pl.Series(name, [getattr(dataset, name, None) for dataset in known], dtype=pl.String)
        for name in ("licence", "reference", "pykeen")
    ]
    first = ["dataset", "role"]
    return datasets.select(*first, *origins, pl.exclude(first).cast(pl.Int64))


def _described(name: str, frame: pl.DataFrame, description: Mapping[str, Any]) -> dict[str, Any]:
    """Return what columns.yaml says about a table, with the columns that it has in place of all."""
    undescribed = [column for column in frame.columns if column not in description["columns"]]
    if undescribed:
        raise RankadjustError(
            f"{name}: the column {undescribed[0]!r} is not described; say in rankadjust/output/columns.yaml what it is"
        )
    repeated = frame.filter(pl.struct(description["key"]).is_duplicated())
    if repeated.height:
        row = ", ".join(map(str, repeated.select(description["key"]).row(0)))
        raise RankadjustError(
            f"{name}: two rows have the key {row}; its key is {', '.join(description['key'])}"
        )
    fields = [
        {"name": column, "type": _KINDS[type(kind)], **description["columns"][column]}
        for column, kind in frame.schema.items()
    ]
    return {**description, "file": name, "description": description["description"].strip(), "fields": fields}


def _data_package(
    folder: Path, tables: Sequence[Mapping[str, Any]], facts: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the descriptor of a Frictionless data package (specs.frictionlessdata.io)."""
    return {
        "profile": "data-package",
        "name": facts["name"],
        "title": facts["title"],
        "version": facts["version"],
        "created": f"{facts['date']}T00:00:00Z",
        "licenses": [_LICENCE],
        "software": facts["software"],
        "resources": [_resource(folder, table) for table in tables],
    }


def _resource(folder: Path, table: Mapping[str, Any]) -> dict[str, Any]:
    path = folder / table["file"]
    suffix = next(each for each in path.suffixes if each in _FORMATS)
    kind, media_type = _FORMATS[suffix]
    return {
        "name": table["file"].replace(".", "-").replace("_", "-"),
        "path": table["file"],
        "title": table["title"],
        "description": table["description"],
        # The tool `frictionless` reads Parquet by way of pandas, where integers with gaps become fractions. Of a plain
        # file it checks the size and the hash.
        **(
            {"type": "file"}
            if kind == "parquet"
            else {"profile": "tabular-data-resource", "encoding": "utf-8"}
        ),
        "format": kind,
        "mediatype": media_type,
        **({"compression": "gz"} if path.suffix == ".gz" else {}),
        **({"dialect": {"delimiter": "\t"}} if kind == "tsv" else {}),
        "bytes": path.stat().st_size,
        "hash": f"sha256:{sha256_of(path)}",
        "schema": {"fields": list(table["fields"]), "primaryKey": list(table["key"]), "missingValues": [""]},
    }


def _croissant(package: Mapping[str, Any], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a data package says in the words of Croissant 1.0, which searches for data sets read."""
    return {
        "@context": _CROISSANT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": package["name"],
        "description": package["title"],
        "version": package["version"],
        "datePublished": facts["date"],
        "license": _LICENCE["path"],
        "url": "https://rankadjust.github.io/rankadjust/",
        "citeAs": f"The rankadjust authors: {package['title']}, version {package['version']}",
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": resource["path"],
                "name": resource["path"],
                "description": resource["title"],
                "contentUrl": resource["path"],
                "contentSize": f"{resource['bytes']} B",
                "encodingFormat": "application/gzip" if "compression" in resource else resource["mediatype"],
                "sha256": resource["hash"].removeprefix("sha256:"),
            }
            for resource in package["resources"]
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": resource["name"],
                "name": resource["name"],
                "description": resource["description"],
                "key": [{"@id": f"{resource['name']}/{key}"} for key in resource["schema"]["primaryKey"]],
                "field": [
                    {
                        "@type": "cr:Field",
                        "@id": f"{resource['name']}/{field['name']}",
                        "name": field["name"],
                        "description": field["description"],
                        "dataType": _DATA_TYPES[field["type"]],
                        "source": {
                            "fileObject": {"@id": resource["path"]},
                            "extract": {"column": field["name"]},
                        },
                    }
                    for field in resource["schema"]["fields"]
                ],
            }
            for resource in package["resources"]
        ],
    }


def _zenodo(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "title": facts["title"],
        "upload_type": "dataset",
        "version": facts["version"],
        "publication_date": facts["date"],
        "creators": [{"name": "The rankadjust authors"}],
        "license": "cc0-1.0",
        "description": _rendered("zenodo.html", facts),
        "keywords": ["knowledge graph", "link prediction", "evaluation", "ranking metrics"],
        "related_identifiers": [
            {"identifier": f"arXiv:{facts['paper']}", "relation": "cites", "scheme": "arxiv"}
        ],
    }


def _rendered(name: str, facts: Mapping[str, Any]) -> str:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("rankadjust.output"),
        autoescape=name.endswith(".html"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(f"deposit/{name}.jinja").render(facts)


def _json(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
