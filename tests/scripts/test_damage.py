"""Damaged files between the stages: the next stage refuses each in one line that says how to make it again.

Every kind of file is damaged in every way that has once given other numbers without an error: rows gone, values
changed, a column renamed, a file of an earlier version, of another data set, cut short, empty, or with a bit flipped.
"""

import json
import random
import shutil
from pathlib import Path

from scripts.baselines import baselines
from scripts.benchmarks import benchmarks
from scripts.bounds import bounds
from scripts.case_study import case_study
from scripts.compare import compare
from scripts.count import count
from scripts.encode import encode_dataset
from scripts.fetch import fetch
from scripts.figures import figures
from scripts.gather import gather
from scripts.literature import literature
from scripts.moments import moments
from scripts.paper import paper
from scripts.release import release
from scripts.render import render
from scripts.rescore import rescore_tables
from scripts.tasks import tasks

import polars as pl
import polars.selectors as cs
import pytest

from rankadjust.base import stages
from rankadjust.base.errors import RankadjustError
from rankadjust.base.stages import (
    BENCHMARKS,
    BOUNDS,
    MOMENTS,
    Product,
    read_product_json,
    write_product,
    write_product_json,
    write_product_text,
)
from rankadjust.counting.protocols import get_protocol
from rankadjust.data.registry import load_registry
from rankadjust.database.store import (
    database_of_run,
    load_baselines,
    load_candidates,
    load_database,
    write_baselines,
    write_candidates,
    write_database,
)
from rankadjust.evaluation.task_attributes import with_attributes
from tests.tiny import FILES, REGISTRY

# Every stage reads every damage of every file: more than a minute.
pytestmark = pytest.mark.slow

METRICS = ["arithmetic_mean_rank", "inverse_harmonic_mean_rank"]
PROTOCOL = get_protocol("pykeen")
TABLE = """\
dataset,model,metric,value,protocol
Tiny,A,mrr,0.61,pykeen
Tiny,A,z_mrr,-0.5,pykeen
Tiny,B,mrr,0.5,pykeen
"""


def encode_one(folder, name, out):
    dataset = load_registry(folder / f"{name}.yaml")[name]
    fetch(name, dataset.sources, out / "bytes", folder / "cache", None, offline=True)
    files = out / "triples.parquet", out / "labels.parquet", out / "summary.json"
    encode_dataset(dataset, out / "bytes", *files, lambda _: None)


def count_one(folder, out, name="Tiny"):
    given = folder / "triples.parquet", folder / "summary.json"
    count(*given, name, [PROTOCOL], out / "histograms.parquet", out / "pairs.parquet")


def moments_of(folder, out, name="Tiny"):
    given = folder / "histograms.parquet", folder / "pairs.parquet"
    moments(*given, name, [PROTOCOL], METRICS, out / "moments.parquet")


def tasks_of(folder, out, name="Tiny"):
    given = [folder / file for file in ("triples.parquet", "labels.parquet", "summary.json")]
    tasks(*given, name, PROTOCOL, baselines=True, table=out / "tasks.parquet")


def baselines_of(folder, out, name="Tiny"):
    given = folder / "triples.parquet", folder / "summary.json"
    baselines(*given, name, [PROTOCOL], METRICS, out / "baselines.parquet")


def gather_all(folder, out):
    given = [
        (folder / "moments.parquet", MOMENTS, "Tiny"),
        (folder / "bounds.parquet", BOUNDS, "Bounded"),
        (folder / "benchmarks.parquet", BENCHMARKS, "benchmarks"),
    ]
    (out / "database").mkdir(exist_ok=True)
    histograms, summaries = {"Tiny": folder / "histograms.parquet"}, {"Tiny": folder / "summary.json"}
    gather(given, summaries, histograms, {"Tiny": folder / "baselines.parquet"}, out / "database")


def rescore_all(folder, out):
    registry = [folder / "Tiny.yaml"]
    rescore_tables([folder / "table.csv"], database_in(folder), folder / "none", registry, out / "rescored")


def paper_all(folder, out):
    given = database_in(folder), folder / "none", [folder / "Tiny.yaml"]
    paper(folder / "table.csv", *given, out / "paper")


def database_in(folder):
    return folder / "database" / "adjustments.parquet"


def rescored_in(folder):
    return folder / "rescored" / "table.parquet"


def draw(folder, out):
    figures([rescored_in(folder)], None, database_in(folder), folder / "none", out / "figures")


def draw_case_study(folder, out):
    figures([], rescored_in(folder), database_in(folder), folder / "none", out / "figures")


def audit(folder, out):
    case_study(rescored_in(folder), database_in(folder), out / "case.csv")


def compare_all(folder, out):
    given = [rescored_in(folder)], [folder / "literature.parquet"], database_in(folder), folder / "none"
    compare(*given, out / "comparison")


def render_all(folder, out):
    render(
        rescored=[rescored_in(folder)],
        own=["table"],
        literature=[folder / "literature.parquet"],
        comparison=[folder / "comparison" / "chance-share.csv"],
        figures=folder / "figures",
        databases=[database_in(folder), folder / "none"],
        registry=[folder / "Tiny.yaml"],
        output=out / "report.html",
    )


def beside(folder, out):
    given = [rescored_in(folder)], [folder / "table.csv"], database_in(folder), folder / "none"
    literature(*given, [folder / "Tiny.yaml"], out / "literature.parquet")


def release_all(folder, out):
    database = folder / "database"
    tables = [database / name for name in ("baselines.parquet", "datasets.tsv", "candidates.parquet")]
    release(database_in(folder), tables, out / "release")


def use_tasks(folder, out):
    ranks = pl.DataFrame({"triple": ["d\tr\tb"], "side": ["head"]})
    with_attributes(ranks, folder / "tasks.parquet")


# Which stages read a file; the functions above do what each stage does, from one folder to another.
READERS = {
    "triples.parquet": [count_one, tasks_of, baselines_of],
    "summary.json": [count_one, tasks_of, baselines_of, gather_all],
    "labels.parquet": [tasks_of],
    "histograms.parquet": [moments_of, gather_all],
    "pairs.parquet": [moments_of],
    "moments.parquet": [gather_all],
    "baselines.parquet": [gather_all],
    "bounds.parquet": [gather_all],
    "benchmarks.parquet": [gather_all],
    "database/adjustments.parquet": [
        rescore_all,
        paper_all,
        audit,
        draw,
        draw_case_study,
        compare_all,
        beside,
        render_all,
        release_all,
    ],
    "database/baselines.parquet": [rescore_all, paper_all, compare_all, release_all],
    "database/candidates.parquet": [
        rescore_all,
        paper_all,
        compare_all,
        render_all,
        release_all,
    ],
    "database/datasets.tsv": [render_all, release_all],
    "rescored/table.parquet": [draw, draw_case_study, audit, compare_all, beside, render_all],
    "literature.parquet": [compare_all, render_all],
    "comparison/chance-share.csv": [render_all],
    "figures/chance-share.svg": [render_all],
    "figures/chance-share.json": [render_all],
}
# This may be anybody's table: without its seal, or of another data set, it is one of those.
OWN = {"tasks.parquet": [use_tasks]}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Return two folders with the files of all stages, of the data set Tiny and of another one."""
    root = tmp_path_factory.mktemp("damage")
    folders = []
    for name in ("Tiny", "Other"):
        folder = root / f"made-{name}"
        (folder / name).mkdir(parents=True)
        for file in FILES.iterdir():
            lines = file.read_text().splitlines(keepends=True)
            kept = lines[1:] if name == "Other" and file.name == "train.txt" else lines
            (folder / name / file.name).write_text("".join(kept))
        (folder / f"{name}.yaml").write_text(REGISTRY.replace("Tiny", name).replace("data/", f"{name}/"))
        encode_one(folder, name, folder)
        count_one(folder, folder, name)
        moments_of(folder, folder, name)
        tasks_of(folder, folder, name)
        baselines_of(folder, folder, name)
        folders.append(folder)
    tiny, other = folders
    (tiny / "table.csv").write_text(TABLE)
    (tiny / "validation.txt").write_text("1\n0 2 0\n")
    (tiny / "testing.txt").write_text("2\n0 3 0\n1 4 0\n")
    (tiny / "ranges.txt").write_text("1\n0\t2\t0\t1\n0\t3\t2\t3\t4\n")
    for folder, name in ((tiny, "Bounded"), (other, "Other")):
        bounds(tiny, name, 5, {}, METRICS, folder / "bounds.parquet")
    benchmarks(METRICS, tiny / "benchmarks.parquet")
    for stage in (gather_all, rescore_all, beside, compare_all, draw):
        stage(tiny, tiny)
    # What takes the place of a file as another data set, table or run has it.
    (other / "benchmarks.parquet").write_bytes((other / "moments.parquet").read_bytes())
    (other / "rescored").mkdir()
    write_product(pl.read_parquet(rescored_in(tiny)), rescored_in(other), stages.RESCORED, "another")
    write_product(
        pl.read_parquet(rescored_in(tiny)), other / "literature.parquet", stages.RESCORED, "another"
    )
    (other / "figures").mkdir()
    write_product_text("<svg/>", other / "figures" / "chance-share.svg", stages.FIGURE, "size")
    write_product_json({}, other / "figures" / "chance-share.json", stages.FIGURE, "size")
    (other / "database").mkdir()
    write_database(load_database(database_in(tiny)).head(9), database_in(other))
    (other / "comparison").mkdir()
    (other / "comparison" / "chance-share.csv").write_text("dataset\n")
    reached = load_baselines(tiny / "database" / "baselines.parquet")
    write_baselines([reached.head(3)], other / "database" / "baselines.parquet")
    candidates = load_candidates(tiny / "database" / "candidates.parquet")
    write_candidates(candidates.head(2), other / "database" / "candidates.parquet")
    table = (tiny / "database" / "datasets.tsv").read_text()
    (other / "database" / "datasets.tsv").write_text(table.replace("Tiny", "Other"))
    return tiny, other


def seal_in(path):
    with path.open("rb") as file:
        return stages._mark_of(file)


def rewritten(path, change):
    """Write a Parquet file anew as polars does, with the metadata that it had: the worst case, nothing looks wrong."""
    metadata = {k: v for k, v in pl.read_parquet_metadata(path).items() if k.startswith("rankadjust.")}
    change(pl.read_parquet(path)).write_parquet(path, compression="zstd", metadata=metadata)


def doubled(frame):
    number = frame.select(cs.float() | cs.integer()).columns[-1]
    return frame.with_columns(2 * pl.col(number).fill_null(0) + 1)


def edited_text(path, change):
    path.write_text(change(path.read_text()))


def rows_gone(path):
    if path.suffix == ".parquet":
        rewritten(path, lambda frame: frame.head(frame.height // 2))
    elif path.suffix == ".json":
        edited_text(path, lambda text: "".join(text.splitlines(True)[:-2]))
    else:
        edited_text(path, lambda text: "".join(text.splitlines(True)[:-1]))


def values_changed(path):
    if path.suffix == ".parquet":
        rewritten(path, doubled)
    else:
        edited_text(path, lambda text: text.translate(str.maketrans("0123456789", "1234567890")))


def column_renamed(path):
    if path.suffix == ".parquet":
        rewritten(path, lambda frame: frame.rename({frame.columns[-1]: "renamed"}))
    else:
        edited_text(path, lambda text: f"renamed{text}")


def without_seal(path):
    """As versions before the seal wrote it; the table of data sets and its sums never had one."""
    if path.suffix == ".parquet":
        pl.read_parquet(path).write_parquet(path)
    elif path.suffix == ".json":
        data = json.loads(path.read_text())
        del data["rankadjust.seal"]
        path.write_text(json.dumps(data))
    else:
        edited_text(path, lambda text: text.replace("rankadjust.seal", "seal").strip())


def with_another_layout(path):
    """Sealed by a version with other columns; the tables of the database have numbers of their own for these."""
    seal = seal_in(path)
    if seal is None:
        edited_text(path, lambda text: text + "\n") if path.suffix in (".tsv", ".csv") else rewritten(
            path, doubled
        )
        return
    layout = Product(seal.name, seal.schema + 1)
    if path.suffix == ".parquet":
        write_product(pl.read_parquet(path), path, layout, seal.of)
    elif path.suffix == ".json":
        write_product_json(
            read_product_json(path, Product(seal.name, seal.schema), seal.of), path, layout, seal.of
        )
    else:
        write_product_text(path.read_text(), path, layout, seal.of)


def cut_short(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def emptied(path):
    path.write_bytes(b"")


def flipped(path):
    whole = bytearray(path.read_bytes())
    whole[random.Random(path.name).randrange(len(whole))] ^= 1
    path.write_bytes(whole)


DAMAGE = [
    rows_gone,
    values_changed,
    column_renamed,
    without_seal,
    with_another_layout,
    cut_short,
    emptied,
    flipped,
]


def refused(reader, folder, file, out):
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    with pytest.raises(RankadjustError) as info:
        reader(folder, out)
    message = str(info.value)
    assert "\n" not in message
    assert message.startswith(f"{folder / file}: ")
    return message


@pytest.mark.parametrize(
    ("file", "reader"), [(file, reader) for file, readers in (READERS | OWN).items() for reader in readers]
)
def test_the_next_stage_refuses_a_damaged_file_and_says_how_to_make_it_again(made, tmp_path, file, reader):
    tiny, other = made
    folder = tmp_path / "run"
    shutil.copytree(tiny, folder)
    whole = (folder / file).read_bytes()
    damage = DAMAGE if file in READERS else [rows_gone, values_changed, column_renamed, flipped]
    for way in damage:
        (folder / file).write_bytes(whole)
        way(folder / file)
        assert (folder / file).read_bytes() != whole, way
        message = refused(reader, folder, file, tmp_path / "out")
        assert f"make it again: snakemake --cores all --force {folder / file}" in message, (way, message)
    if file in READERS:
        (folder / file).write_bytes((other / file).read_bytes())
        assert f"--force {folder / file}" in refused(reader, folder, file, tmp_path / "out")
    (folder / file).write_bytes(whole)
    # Whole again, it is read: what was refused is the damage.
    if reader is (READERS | OWN)[file][0]:
        reader(folder, tmp_path / "out")


def test_without_its_digests_no_file_of_the_database_is_read(made, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(made[0], folder)
    for damage in (emptied, Path.unlink):
        damage(folder / "database" / "SHA256SUMS")
        for reader in (rescore_all, audit, compare_all, render_all, release_all):
            (tmp_path / "out").mkdir(exist_ok=True)
            with pytest.raises(RankadjustError, match=r"adjustments\.parquet: .*SHA256SUMS.*--force"):
                reader(folder, tmp_path / "out")
    # A run of an earlier version has none; the commands of the library read its database all the same.
    assert database_of_run(folder) == database_in(folder)


# The number of each layout, and its columns: who changes the columns raises the number in rankadjust/base/stages.py,
# so that no version reads what another meant otherwise.
_MOMENTS = (
    "dataset protocol split side metric entities tasks expectation variance method reason variance_random_scorer "
    "reason_random_scorer variance_static_scorer reason_static_scorer"
)
LAYOUTS = {
    "triples.parquet": (1, "split head relation tail"),
    "labels.parquet": (1, "kind id label"),
    "histograms.parquet": (
        1,
        "protocol split side entities num_candidates tasks shared_pairs repeated_pairs static_shared_pairs "
        "static_repeated_pairs",
    ),
    "pairs.parquet": (
        1,
        "protocol split head_candidates tail_candidates tasks linked_pairs static_linked_pairs",
    ),
    "moments.parquet": (1, _MOMENTS),
    "bounds.parquet": (1, f"{_MOMENTS} expectation_low expectation_high variance_low variance_high"),
    "tasks.parquet": (
        2,
        "split triple line ids side num_candidates relation query cardinality half_link popularity_optimistic "
        "popularity_pessimistic redundancy_optimistic redundancy_pessimistic rules_optimistic rules_pessimistic",
    ),
}


@pytest.mark.parametrize("file", LAYOUTS)
def test_a_layout_has_the_number_of_its_columns(made, file):
    assert (seal_in(made[0] / file).schema, " ".join(pl.read_parquet_schema(made[0] / file))) == LAYOUTS[file]
