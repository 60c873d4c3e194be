"""Published tables into tidy values.

tests/data/tables holds tables of our own making, one or more for each quirk of published ones (quirks.csv). What they
should give stands in expected.csv, checked against the tables by eye.
"""

import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rankadjust.base.errors import RankadjustError
from rankadjust.data.registry import Dataset
from rankadjust.literature.rescore import rescore
from rankadjust.output.markup import to_markdown
from rankadjust.output.reading_text import describe, draft_sidecar
from rankadjust.tables.facts import DEFAULTS
from rankadjust.tables.facts import reasons_in as told
from rankadjust.tables.reading import CELLS, VALUES, read_table, read_tables
from rankadjust.tables.sidecar import load_sidecar
from tests.searching import in_profile

TABLES = Path(__file__).parents[2] / "data" / "tables"
SIDECARS = TABLES.parent / "sidecars"
QUIRKS = pl.read_csv(TABLES / "quirks.csv")["file"].to_list()
ALIASES = {
    **dict.fromkeys(("FB15k", "WN18", "WN18RR", "UMLS", "Nations", "CoDEx-M", "Wikidata5M", "GDELT"), ()),
    **dict.fromkeys(("ICEWS14", "ICEWS18"), ()),
    "FB15k-237": ("FB15K237",),
    "YAGO3-10": ("yago310",),
    "Kinships": ("Kinship",),
    "NELL-995": ("NELL",),
    **{f"FB15k-237-ind-v{version}": (f"FB15k-237 v{version}",) for version in (1, 2, 3)},
    **{f"NELL-995-ind-v{version}": (f"NELL v{version}",) for version in (1, 2, 3)},
}


def registered(name, **aliases):
    """Return a data set of the registry that has nothing but names."""
    return Dataset(name, "transductive", (), ("training",), Path("datasets.yaml"), **aliases)


REGISTRY = {name: registered(name, aliases=aliases) for name, aliases in ALIASES.items()}
MRR = "inverse_harmonic_mean_rank"


def read(path, sidecar=None):
    return read_tables(path, sidecar, REGISTRY)


def read_text(tmp_path, name, text, sidecar=None):
    (tmp_path / name).write_text(text, encoding="utf-8")
    if sidecar is not None:
        (tmp_path / name).with_suffix(".yaml").write_text(sidecar, encoding="utf-8")
    return read(tmp_path / name)


def assert_balanced(reading):
    """Every cell of every grid has one state, and values stand in the cells that have the state 'value' only."""
    cells, values = reading.cells, reading.values
    assert cells.schema == CELLS
    assert values.schema == VALUES
    places = ["grid", "row", "column"]
    every = [
        (table.number, row + 1, column + 1)
        for table in reading.tables
        for row in range(len(table.grid.rows))
        for column in range(table.grid.width)
    ]
    assert cells.select(places).rows() == every
    assert set(cells["state"]) <= {"value", "missing", "unread", "label"}
    assert set(values.select(places).rows()) == set(
        cells.filter(pl.col("state") == "value").select(places).rows()
    )
    unread = cells.filter(pl.col("state") == "unread")
    assert unread["reason"].null_count() == 0
    assert reading.unread.equals(unread)


def test_every_table_has_its_quirks_listed():
    files = {path.name for path in TABLES.iterdir() if path.suffix != ".yaml"} - {
        "quirks.csv",
        "expected.csv",
    }
    assert files == set(QUIRKS)


@pytest.mark.parametrize("name", QUIRKS)
def test_table_is_read_as_expected(name):
    reading = read(TABLES / name)
    expected = pl.read_csv(TABLES / "expected.csv", infer_schema=False).filter(pl.col("file") == name)
    found = reading.values.select(pl.col(expected.columns[1:]).cast(pl.String))
    assert found.rows() == expected.drop("file").rows()
    assert_balanced(reading)


@pytest.mark.parametrize("name", QUIRKS)
def test_table_reads_the_same_with_the_sidecar_drafted_for_it(name, tmp_path):
    reading = read(TABLES / name)
    sidecar = tmp_path / "drafted.yaml"
    sidecar.write_text(draft_sidecar(reading), encoding="utf-8")
    left_out = ("notes", "assumed", "grades", "metric_as_printed", "dataset_as_printed", *DEFAULTS)
    columns = [name for name in VALUES if name not in left_out]
    again = read(TABLES / name, sidecar).values
    assert again.select(columns).equals(reading.values.select(columns))
    usual = [pl.col(name).fill_null(value) for name, value in DEFAULTS.items()]
    split = pl.col("split").replace("inference_testing", "testing")
    assert again.select(usual).with_columns(split).equals(reading.values.select(usual))


@pytest.mark.parametrize(
    ("name", "entries"),
    [
        (
            "mixed_units_fb15k237.md",
            [
                "unit: percent: 3 of 3 values above 1",
                "unit: fraction: 3 of 3 values at most 1",
                "unit: percent: like the other Hits of the table",
                "dataset: from the file's name",
            ],
        ),
        (
            "collection_hits10.md",
            ["metric: from the file's name", "line 7: 6 cells where the header has 5"],
        ),
        (
            "dimensions.md",
            [
                "dataset: from the text 'All models were trained on WN18RR with the same budget.'",
                "model: several rows have the same model",
            ],
        ),
        (
            "side_by_side.html",
            ["dataset: header 'MyKG' read as a name, none of the registry"],
        ),
        ("thousands.csv", ["dataset: as in the row above", "value: the comma separates thousands"]),
        (
            "leaderboard_tgbl_coin.md",
            ["side: tail from the benchmark", "protocol: sampled-20 from the benchmark"],
        ),
        (
            "asterisk_wikikg90m.md",
            [f"metric: as printed, though the evaluator of WikiKG90M gives {MRR}_at_10"],
        ),
        (
            "conv_datasets.md",
            [
                "model: not named",
                "split: testing by default",
                "side: both by default",
                "protocol: filtered by default",
            ],
        ),
        ("repeated_header.md", ["dataset: from the header of column 1"]),
        ("pykeen_results_nations.json", ["protocol: of PyKEEN, whose keys these are"]),
        (
            "left_and_right_umls.log",
            ["side: as left is the head in OpenKE, but it is the tail in ConvE and CompGCN"],
        ),
        (
            "german_umls.csv",
            [
                "model: column 1 taken for the models",
            ],
        ),
    ],
)
def test_nothing_is_assumed_without_a_word(name, entries):
    reading = read(TABLES / name)
    assumed = {
        f"{what}: {why}"
        for text in reading.values["assumed"].drop_nulls()
        for what, why in told(text).items()
    }
    assert set(entries) <= assumed | set(reading.remarks)


def test_cells_that_cannot_be_read_are_listed_with_their_place():
    unread = read(TABLES / "collection_hits10.md").unread
    assert unread.rows() == [(1, 6, 6, 7, "0.5", "unread", "the column has no header")]
    assert read(TABLES / "booktabs.tex").cells.filter(state="missing").select(
        "row", "column", "text"
    ).rows() == [
        (3, 3, "–"),
        (3, 6, "–"),
        (5, 7, "OOM"),
        (5, 8, "OOM"),
    ]


def test_the_account_has_ten_lines_and_one_for_a_reason():
    reading = read(TABLES / "arrows_wn18.html")
    first, reason, *others = describe(reading).splitlines()
    assert first == "arrows_wn18.html: 3 of 4 numbers read, 1 not:"
    assert reason == "  1 in column 4 'H@10 (%)', line 6 ('about 95'): not a number"
    assert others[-1].startswith("first value: TransE WN18 MRR 0.454 fraction; --all")
    assert "table 1, row 2: TransE WN18 MRR 0.454 fraction\n" in describe(reading, everything=True)
    lengths = {name: len(describe(read(TABLES / name)).splitlines()) for name in QUIRKS}
    assert {name: lines for name, lines in lengths.items() if lines > 10} == {}


def test_draft_asks_for_what_nothing_says():
    draft = draft_sidecar(read(TABLES / "conv_datasets.md"))
    assert "# model:  # which model" in draft
    assert "unit" not in draft
    assert "protocol: filtered" in draft


def test_draft_keeps_what_the_sidecar_says():
    draft = draft_sidecar(read(TABLES / "stated.csv"))
    assert "source: a workshop poster" in draft
    assert "First of its kind" in draft


def test_draft_keeps_words_of_the_sidecar(tmp_path):
    reading = read_text(tmp_path, "a.md", "|Model|MRR|\n|-|-|\n|A|0.5|\n", "dataset: umls\n")
    assert reading.values["dataset"].to_list() == ["UMLS"]
    assert "dataset: umls\n" in draft_sidecar(reading)


def test_tidy_rows_carry_source_and_place():
    row = read(TABLES / "stated.csv").values.row(0, named=True)
    told = {
        key: row[key] for key in ("source", "source_url", "year", "table", "source_line", "notes", "cell")
    }
    assert told == {
        "source": "a workshop poster",
        "source_url": "https://example.org/poster",
        "year": "2021",
        "table": "stated",
        "source_line": "2",
        "notes": "numbers read off a chart",
        "cell": "35",
    }


def test_models_in_columns_stand_on_the_line_of_the_header():
    # The metrics of one model must share a line: it is part of the key under which they are compared.
    lines = read(TABLES / "metrics_as_rows.md").values["source_line"].unique().to_list()
    assert lines == ["3"]


def test_an_ambiguous_name_is_told_with_what_it_may_mean(tmp_path):
    registry = {name: registered(name, ambiguous_aliases=("YAGO",)) for name in ("Y1", "Y2")}
    (tmp_path / "a.md").write_text("|Dataset|Model|MRR|\n|-|-|-|\n|YAGO|A|0.5|\n")
    reading = read_tables(tmp_path / "a.md", registry=registry)
    assert reading.values["assumed"].str.starts_with("dataset: as printed, which may be Y1 or Y2; ").all()
    assert reading.values["dataset"].to_list() == ["YAGO"]


def test_a_percent_sign_says_nothing_of_other_columns(tmp_path):
    reading = read_text(tmp_path, "WN18RR.csv", "model,Hits@1,Hits@10\nA,0.40,60.1%\nB,0.35,55.0%\n")
    assert dict(reading.values.select("metric", "unit").rows()) == {
        "hits_at_1": "fraction",
        "hits_at_10": "percent",
    }


def test_a_column_that_is_neither_percent_nor_fraction_stays_unread(tmp_path):
    text = "|Model|MRR|\n|-|-|\n" + "".join(
        f"|m{n}|{v}|\n" for n, v in enumerate(["0.3", "0.4", "0.2", "41.0"])
    )
    reading = read_text(tmp_path, "nations.md", text)
    assert reading.values.height == 0
    assert set(reading.unread["reason"]) == {
        "neither percent nor fraction is certain: 1 of 4 values above 1; state the unit"
    }
    stated = read_text(tmp_path, "nations.md", text, "unit: percent\n")
    assert stated.values["unit"].to_list() == ["percent"] * 4


def test_thousands_are_not_certain_beside_decimal_commas(tmp_path):
    text = "model;MRR;MR;AMR\nA;0,352;3.340;1,112\nB;0,311;15,5;2,034\n"
    reading = read_text(tmp_path, "umls.csv", text)
    assert reading.values["value"].to_list() == ["0.352", "0.311", "15.5"]
    assert set(reading.unread["reason"]) == {"thousands or decimal: the file has decimal commas"}


def test_commas_of_shares_are_decimal(tmp_path):
    reading = read_text(tmp_path, "umls.csv", "model;Hits@10\nA;95,123\nB;96,512\n")
    assert reading.values.select("value", "unit").rows() == [("95.123", "percent"), ("96.512", "percent")]


def test_commas_of_an_index_are_decimal_and_of_a_ratio_separate_thousands(tmp_path):
    reading = read_text(tmp_path, "umls.csv", "model;AMRI;AMR\nA;1,234;1,234\n")
    assert reading.values["value"].to_list() == ["1.234", "1234"]


def test_two_values_in_a_cell_are_not_read_even_where_a_sidecar_names_the_metric(tmp_path):
    text = "|Model|MRR / MR|\n|-|-|\n|A|0.35 / 12|\n"
    reading = read_text(tmp_path, "umls.md", text, "columns: {MRR / MR: {metric: MRR}}\n")
    assert reading.unread.select("text", "reason").rows() == [("0.35 / 12", "not a number")]


def test_auc_is_read_where_a_sidecar_states_it(tmp_path):
    text = "|Model|AUC|MRR|\n|-|-|-|\n|A|0.9|0.5|\n"
    assert read_text(tmp_path, "umls.md", text).values["metric"].to_list() == [MRR]
    stated = read_text(tmp_path, "umls.md", text, "columns: {AUC: {metric: AUC}}\n")
    assert stated.values["metric"].to_list() == ["auc", MRR]


def test_a_printed_name_with_braces_is_no_pattern(tmp_path):
    values = read_text(tmp_path, "umls.md", "|Model|MRR|\n|-|-|\n|{x} A|0.5|\n").values
    assert values["model"].to_list() == ["{x} A"]


def test_a_bare_number_above_a_column_needs_the_word_in_the_corner(tmp_path):
    (tmp_path / "none.yaml").write_text("")
    models = (
        read(TABLES / "ranks_yago310.md", tmp_path / "none.yaml").values["model"].unique(maintain_order=True)
    )
    assert models.to_list() == ["rank 5", "rank 50", "rank 500"]


def test_a_pattern_tells_rows_of_one_model_apart(tmp_path):
    text = "|Model|Dim|MRR|\n|-|-|-|\n|A|5|0.5|\n|A|6|0.6|\n"
    reading = read_text(tmp_path, "umls.md", text)
    assert reading.values["model"].to_list() == ["A", "A"]
    assert "model: several rows have the same model" in reading.values["assumed"][0]
    reading = read_text(tmp_path, "umls.md", text, 'model: "{Model} (dim {Dim})"\n')
    assert reading.values["model"].to_list() == ["A (dim 5)", "A (dim 6)"]


def test_the_metric_of_a_column_is_stated_before_that_of_the_table(tmp_path):
    sidecar = "dataset: UMLS\nmetric: MRR\ncolumns:\n  Y: {metric: Hits@1}\n"
    values = read_text(tmp_path, "a.csv", "Model,X,Y\nA,0.3,0.2\n", sidecar).values
    assert values.select("metric", "value").rows()[-1] == ("hits_at_1", "0.2")


def test_a_row_or_column_of_a_sidecar_may_have_a_year_of_its_own(tmp_path):
    # A README prints results of several years in one table; the row's year wins, as its other statements do.
    sidecar = "year: 2021\ncolumns:\n  MR: {year: 2022}\nrows:\n  B: {year: 2023}\n"
    values = read_text(tmp_path, "a.csv", "Model,MRR,MR\nA,0.3,200\nB,0.4,100\n", sidecar).values
    assert values["year"].to_list() == ["2021", "2022", "2023", "2023"]


def test_words_of_a_sidecar_need_no_quotes(tmp_path):
    sidecar = 'model: "{Model} {Rules}"\ncolumns:\n  Rules: {role: other, words: {Yes: with, No: without}}\n'
    text = "|Model|Rules|MRR|\n|-|-|-|\n|A|yes|0.5|\n|A|No|0.6|\n"
    assert read_text(tmp_path, "umls.md", text, sidecar).values["model"].to_list() == ["A with", "A without"]


def test_a_row_is_stated_before_a_column_before_the_table(tmp_path):
    text = "|Model|MRR|MR|\n|-|-|-|\n|A|0.5|2|\n|B|0.6|2|\n"
    sidecar = "side: head\ncolumns:\n  MR: {side: tail}\nrows:\n  B: {side: both}\n"
    sides = read_text(tmp_path, "umls.md", text, sidecar).values["side"].to_list()
    assert sides == ["head", "tail", "both", "both"]


def test_a_benchmark_with_several_protocols_prescribes_none(tmp_path):
    reading = read_text(tmp_path, "GraIL-WN18RR-v1.md", "|Model|MRR|\n|-|-|\n|A|0.5|\n")
    assert reading.values["protocol"].to_list() == [None]
    assert reading.values["assumed"].str.contains("under sampled-49 or sampled-50").all()
    assert reading.values["assumed"].str.contains("split: inference_testing by default").all()


def test_what_a_sidecar_states_of_a_column_corrects_it_and_of_the_table_must_agree(tmp_path):
    text = "|Model|Test MRR|\n|-|-|\n|A|0.5|\n"
    assert read_text(tmp_path, "umls.md", text).values["split"].to_list() == ["testing"]
    column = "columns:\n  Test MRR: {split: validation}\n"
    assert read_text(tmp_path, "umls.md", text, column).values["split"].to_list() == ["validation"]
    reading = read_text(tmp_path, "umls.md", text, "split: validation\n")
    assert reading.unread["reason"].to_list() == [
        "the sidecar or the option says validation, the table says testing"
    ]
    # A part of the test set is of the test set.
    assert read_text(tmp_path, "umls.md", text, "split: test-dev\n").values["split"].to_list() == ["test-dev"]


@pytest.mark.parametrize(
    ("text", "sidecar", "reason"),
    [
        (
            "|Model|Side|Head MRR|\n|-|-|-|\n|A|tail|0.5|\n",
            None,
            "the column says head, the row says tail",
        ),
        (
            "|Model|Data set|WN18RR MRR|\n|-|-|-|\n|A|UMLS|0.5|\n",
            None,
            "the column says WN18RR, the row says UMLS",
        ),
        (
            "|Model|Raw MRR|\n|-|-|\n|A|0.5|\n",
            "protocol: filtered\n",
            "the sidecar or the option says filtered, the table says raw",
        ),
        (
            "|Model|MRR|\n|-|-|\n|A|0.5|\n",
            "metric: MR\n",
            f"the sidecar or the option says arithmetic_mean_rank, the table {MRR}",
        ),
        (
            "|Model|Test MRR|Filtered Test MRR|\n|-|-|-|\n|A|0.3|0.5|\n",
            None,
            "nothing says in what 'Test MRR', 'Filtered Test MRR' differ; state it in a sidecar",
        ),
    ],
)
def test_what_is_said_in_two_ways_is_not_read(tmp_path, text, sidecar, reason):
    assert reason in read_text(tmp_path, "nations.md", text, sidecar).unread["reason"].to_list()


def test_a_plain_column_beside_a_filtered_one_is_never_filtered(tmp_path):
    text = "|Model|Test MRR|Filtered Test MRR|\n|-|-|-|\n|A|0.3|0.5|\n"
    assert read_text(tmp_path, "umls.md", text).values.select("value", "protocol").rows() == [
        ("0.5", "filtered")
    ]
    raw = "columns:\n  Test MRR: {protocol: raw}\n"
    assert read_text(tmp_path, "umls.md", text, raw).values["protocol"].to_list() == ["raw", "filtered"]


def test_optimistic_and_pessimistic_values_are_kept_and_not_adjusted(tmp_path):
    values = read(TABLES / "pykeen_results_nations.json").values
    rescored = rescore(values.filter(pl.col("metric") == MRR))
    assert rescored.group_by("ties", "status").len().sort("ties").rows() == [
        ("optimistic", "no_moments", 3),
        ("pessimistic", "no_moments", 3),
        # PyKEEN's keys have its protocol, but do not name the data set: the file does.
        ("realistic", "assumed", 3),
    ]
    assert rescored.filter(pl.col("ties") != "realistic")["index"].is_null().all()


def test_tables_of_one_file_are_stated_one_by_one(tmp_path):
    text = "|Model|MRR|\n|-|-|\n|A|0.5|\n\nx\n\n|Model|MRR|\n|-|-|\n|A|0.6|\n"
    sidecar = "dataset: UMLS\ntables:\n  2: {dataset: Nations, columns: {MRR: {side: head}}}\n"
    values = read_text(tmp_path, "two.md", text, sidecar).values
    assert values.select("table", "dataset", "side").rows() == [
        ("two-1", "UMLS", None),
        ("two-2", "Nations", "head"),
    ]


@pytest.mark.parametrize(
    ("sidecar", "message"),
    [
        ("datset: UMLS\n", "a.yaml:1: unknown key 'datset'; did you mean dataset"),
        ("dataset: UMLS\nside: middle\n", "a.yaml:2: side is 'middle'; allowed: head, tail, both"),
        ("metric: MMRR\n", "a.yaml:1: metric 'MMRR' is not known; write for example MRR"),
        ("columns:\n  MRR: {metric: MMRR}\n", "a.yaml:2: metric 'MMRR' is not known"),
        ("columns:\n  Hits: other\n", "a.yaml:2: columns: no table has the column 'Hits'"),
        ("rows:\n  7: other\n", "a.yaml:2: rows: no table has the row 7"),
        (
            'model: "{Modell} x"\n',
            "a.yaml: the pattern '{Modell} x' names {Modell}, which is not a column; did you mean",
        ),
        ("tables:\n  3: {dataset: UMLS}\n", "a.yaml:2: tables: the file has no table 3"),
    ],
)
def test_mistakes_in_a_sidecar_are_one_line(tmp_path, sidecar, message):
    with pytest.raises(RankadjustError, match=re.escape(message)) as raised:
        read_text(tmp_path, "a.md", "|Model|MRR|\n|-|-|\n|A|0.5|\n", sidecar)
    assert "\n" not in str(raised.value)


def test_a_missing_sidecar_is_an_error(tmp_path):
    with pytest.raises(RankadjustError, match="there is no such file"):
        read(TABLES / "stated.csv", tmp_path / "no.yaml")


def test_read_table_uses_the_shipped_registry():
    values = read_table(TABLES / "sections.md")
    assert values["dataset"].unique(maintain_order=True).to_list() == ["FB15k-237", "WN18RR"]


def test_the_documentation_shows_what_is_printed_and_a_valid_sidecar(project, tmp_path):
    text = (project / "docs" / "tables.md").read_text(encoding="utf-8")
    command, _, printed = re.search(
        r"```console\n\$ rankadjust read (.*?)(\n)(.*?)```", text, re.DOTALL
    ).groups()
    assert describe(read_tables(project / command)) == printed
    text = (project / "docs" / "tables-reference.md").read_text(encoding="utf-8")
    example = text[text.index("    source: Somebody") : text.index("`workflow/schemas/sidecar")]
    (tmp_path / "example.yaml").write_text(example, encoding="utf-8")
    assert {"rows", "columns", "tables"} <= load_sidecar(tmp_path / "example.yaml").keys()


def test_the_forms_that_the_documentation_shows_are_read_as_it_says(project, tmp_path):
    text = (project / "docs" / "tables.md").read_text(encoding="utf-8")
    section = text.partition("## Forms that work\n")[2].partition("\n## Where")[0]
    examples = re.findall(r"```(markdown|json)\n(.*?)```\n\n```text\n(.*?)```", section, re.DOTALL)
    assert len(examples) == 4
    for suffix, table, values in examples:
        name = f"example.{ {'markdown': 'md', 'json': 'json'}[suffix] }"
        described = describe(read_text(tmp_path, name, table), everything=True)
        assert values == "table 1, row" + described.partition("table 1, row")[2]
    # With the facts that the page states for it, the last of them has no unread cell.
    (stated,) = re.findall(r"```yaml\n(columns:.*?)```", section, re.DOTALL)
    last = read_text(tmp_path, "stated.md", examples[-1][1], stated)
    assert last.unread.height == 0
    assert last.values["protocol"].unique().sort().to_list() == ["filtered", "raw"]


@pytest.mark.parametrize(("rows_above", "values"), [(0, 2), (1, 2), (2, 2), (3, 0)])
def test_a_header_may_stand_two_rows_below_the_first_and_no_lower(tmp_path, rows_above, values):
    text = "".join(f"note {number},,\n" for number in range(rows_above)) + "Model,MRR,MR\nA,0.5,12\n"
    assert read_text(tmp_path, "umls.csv", text).values.height == values


@pytest.mark.parametrize(
    "title", ["## Training", "## Head to head", "Long-tail entities", "# Raw text", "Test"]
)
def test_words_around_a_table_are_no_facts_about_it(tmp_path, title):
    text = f"{title}\n\n|Model|MRR|\n|-|-|\n|A|0.5|\n"
    values = read_text(tmp_path, "umls_raw_test.md", text).values
    assert values.select("split", "side", "protocol").row(0) == (None, None, None)


@pytest.mark.parametrize(("words", "nearest"), [(6, "WN18RR"), (7, "UMLS")])
def test_a_title_of_six_words_above_a_table_is_nearer_than_its_heading(tmp_path, words, nearest):
    title = " ".join(["On", "WN18RR", *["of"] * (words - 2)])
    text = f"# UMLS\n\n{title}\n\n|Model|MRR|\n|-|-|\n|A|0.5|\n"
    assert read_text(tmp_path, "results.md", text).values["dataset"].to_list() == [nearest]


# Random tables of results: models, a mean rank, and shares in one of the two units.
RESULTS = st.lists(
    st.tuples(st.integers(1000, 99999), st.integers(100, 399), st.integers(400, 999)), min_size=1, max_size=5
)


@settings(max_examples=in_profile(100), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(RESULTS, st.booleans(), st.booleans(), st.booleans(), st.sampled_from([".md", ".csv"]))
def test_random_results_come_back(tmp_path, results, percent, mixed, transposed, suffix):
    def share(thousandths, percents):
        return f"{thousandths / 10:.1f}" if percents else f"{thousandths / 1000:.3f}"

    rows = [
        (f"model {number}", f"{mr / 10:.1f}", share((low + high) // 2, percent), share(low, percent != mixed),
         share(high, percent != mixed))
        for number, (mr, low, high) in enumerate(results)
    ]  # fmt: skip
    header = ("Model", "MR", "MRR", "Hits@1", "Hits@10")
    table = [list(column) for column in zip(header, *rows, strict=True)] if transposed else [header, *rows]
    frame = pl.DataFrame(table[1:], schema=dict.fromkeys(table[0], pl.String), orient="row")
    render = {".md": to_markdown, ".csv": pl.DataFrame.write_csv}[suffix]
    path = tmp_path / f"wn18rr{suffix}"
    path.write_text(render(frame), encoding="utf-8")
    reading = read(path)
    units = [
        "rank",
        *(["percent" if percent else "fraction"]),
        *(["percent" if percent != mixed else "fraction"] * 2),
    ]
    keys = ("arithmetic_mean_rank", MRR, "hits_at_1", "hits_at_10")
    expected = {
        (row[0], key, text, unit)
        for row in rows
        for key, text, unit in zip(keys, row[1:], units, strict=True)
    }
    assert set(reading.values.select("model", "metric", "value", "unit").rows()) == expected
    assert set(reading.values["dataset"]) == {"WN18RR"}
    assert_balanced(reading)


def damaged(text: str) -> st.SearchStrategy[str]:
    """Texts with a part of this one left out, doubled, or replaced by a few signs."""
    place = st.integers(0, len(text))
    signs = st.text("|-+=&\\{}<>[]():,\t\n 0.1%±^_$#*`~ab'\"/", max_size=6)
    cut = st.tuples(place, st.integers(0, 40), st.integers(0, 2), signs)

    def damage(cuts):
        broken = text
        for start, length, times, inserted in cuts:
            end = start + length
            broken = broken[:start] + broken[start:end] * times + inserted + broken[end:]
        return broken

    return st.lists(cut, min_size=1, max_size=4).map(damage)


@settings(max_examples=in_profile(80), suppress_health_check=list(HealthCheck))
@given(st.data())
def test_no_broken_table_crashes_the_reading_or_its_balance(tmp_path, data):
    name = data.draw(st.sampled_from(QUIRKS))
    path = tmp_path / f"broken_{name}"
    path.write_text(data.draw(damaged((TABLES / name).read_text(encoding="utf-8"))), encoding="utf-8")
    try:
        reading = read(path)
    except RankadjustError as error:
        # A file in which no table is left says so, and a broken grid is named with its line; nothing else is an excuse.
        allowed = r"no table found|not valid (CSV|JSON|YAML)|near line \d+: Malformed table"
        assert re.search(allowed, str(error))  # noqa: PT017 - both outcomes are right
    else:
        assert_balanced(reading)
        describe(reading)
        draft_sidecar(reading)


def test_validation_ranks_of_libkge_are_filtered_without_the_test_set_unless_a_sidecar_says_more(tmp_path):
    text = "split,mean_rank,mean_rank_filtered\nvalid,30,20\n"
    assert read_text(tmp_path, "wn18rr.csv", text).values["protocol"].to_list() == [
        "raw",
        "filtered-cumulative",
    ]
    stated = "columns: {mean_rank_filtered: {metric: MR, protocol: filtered}}"
    assert read_text(tmp_path, "wn18rr.csv", text, stated).values["protocol"].to_list() == ["raw", "filtered"]
    # Alone it may be anything, and on test data both filters are the same.
    alone = read_text(tmp_path, "umls.csv", "split,mean_rank\nvalid,30\n").values
    assert alone["protocol"].to_list() == [None]
    test = read_text(tmp_path, "umls.csv", text.replace("valid", "test")).values
    assert test["protocol"].to_list() == ["raw", "filtered"]


def test_aliases_of_yaml_that_stand_for_millions_of_keys_are_refused(tmp_path):
    lines = ["a0: &a0 {mrr: 0.1, mr: 2}"]
    lines += [f"a{n}: &a{n} {{x: *a{n - 1}, y: *a{n - 1}}}" for n in range(1, 60)]
    with pytest.raises(RankadjustError, match="at most 1,000 columns and 5,000,000 cells are read"):
        read_text(tmp_path, "many.yml", "\n".join(lines))


def test_a_cell_that_only_looks_like_a_record_stays_text(tmp_path):
    text = "model,MRR,note\nA,0.3,{not: [closed}\nB,0.4,{}\n"
    values = read_text(tmp_path, "umls.csv", text).values
    assert values.select("model", "value").rows() == [("A", "0.3"), ("B", "0.4")]
