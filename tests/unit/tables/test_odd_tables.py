"""Tables that could be read wrongly without a word: each is read as a person reads it, or its cells are named.

All are made up, one for each difficulty. What is expected was written down before the table was read.
"""

import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.tables.account import describe, unread_cells
from rankadjust.tables.facts import reasons_in as entries
from rankadjust.tables.reading import read_tables

MRR, MR = "inverse_harmonic_mean_rank", "arithmetic_mean_rank"


def read(tmp_path, name, text, sidecar=None):
    (tmp_path / name).write_text(text, encoding="utf-8")
    if sidecar:
        (tmp_path / name).with_suffix(".yaml").write_text(sidecar, encoding="utf-8")
    return read_tables(tmp_path / name)


def values(reading, *columns):
    return reading.values.select(columns or ("model", "dataset", "metric", "value")).rows()


def table(*rows):
    header, *body = rows
    return "\n".join(
        [f"| {header} |", "|" + "-|" * (header.count("|") + 1), *(f"| {row} |" for row in body), ""]
    )


CENTRED = table(
    "Model | | WN18 | | | UMLS | ", " | MR | MRR | H@1 | MR | MRR | H@1", "A | 9 | .5 | .4 | 2 | .8 | .7"
)


def test_names_in_the_middle_of_their_columns(tmp_path):
    assert values(read(tmp_path, "a.md", CENTRED), "dataset", "value") == [
        *(("WN18", value) for value in ("9", "0.5", "0.4")),
        *(("UMLS", value) for value in ("2", "0.8", "0.7")),
    ]


def test_names_that_a_paste_moved_to_the_left(tmp_path):
    text = (
        "Model | WN18 | UMLS | ||\n---|---|---|---|---|\nMRR | H@1 | MRR | H@1 | |\nA | .5 | .4 | .8 | .7 |\n"
    )
    assert values(read(tmp_path, "a.txt", text), "model", "dataset", "value") == [
        ("A", "WN18", "0.5"),
        ("A", "WN18", "0.4"),
        ("A", "UMLS", "0.8"),
        ("A", "UMLS", "0.7"),
    ]


def test_a_name_whose_columns_are_not_clear_is_not_taken(tmp_path):
    text = table("Model | | WN18 | ", " | MR | MRR | H@1", "A | 9 | .5 | .4")
    reading = read(tmp_path, "a.md", text)
    assert values(reading, "dataset", "value") == [("WN18", "0.5"), ("WN18", "0.4")]
    assert "it is not clear whether 'WN18' belongs to this column" in unread_cells(reading)[0]


def test_an_unknown_section_ends_the_one_before(tmp_path):
    text = table("Model | MRR", "**UMLS** | ", "A | .5", "**MyKG** | ", "A | .6")
    reading = read(tmp_path, "a.md", text)
    assert values(reading, "dataset", "value") == [("UMLS", "0.5"), ("MyKG", "0.6")]
    assert entries(reading.values["assumed"][1])["dataset"].startswith("the row 'MyKG' read as a name")


def test_parts_of_a_section_do_not_end_it(tmp_path):
    rows = (
        "Model | MRR",
        "UMLS | ",
        "Bilinear | ",
        "A | .5",
        "Neural | ",
        "B | .6",
        "WN18 | ",
        "Bilinear | ",
        "A | .7",
    )
    found = values(read(tmp_path, "a.md", table(*rows)), "dataset", "value")
    assert found[0] == ("UMLS", "0.5")
    assert found[-1] == ("WN18", "0.7")


@pytest.mark.parametrize("header", ["MRR_1", "HITS@10_50", "Hits@1-3", "fil_mrr", "best_mrr", "Hits@1/10"])
def test_a_metric_with_an_unknown_word_is_named(tmp_path, header):
    reading = read(tmp_path, "umls.md", table(f"Model | MR | {header}", "A | 2 | .5", "B | 3 | .4"))
    assert values(reading, "metric", "value") == [(MR, "2"), (MR, "3")]
    [line] = unread_cells(reading)
    assert line.startswith(
        f"2 in column 3 '{header}', lines 3 to 4 ('.5', '.4'): a metric beside unknown words"
    )


def test_a_sidecar_says_what_a_row_with_an_unknown_word_holds(tmp_path):
    text = table("Metric | A", "MRR | .5", "HITS@10_50 | .7")
    assert values(read(tmp_path, "umls.md", text), "value") == [("0.5",)]
    stated = "rows: {HITS@10_50: {metric: Hits@10, protocol: sampled-50}}\n"
    assert values(read(tmp_path, "umls.md", text, stated), "metric", "protocol") == [
        (MRR, None),
        ("hits_at_10", "sampled-50"),
    ]


def test_unknown_data_sets_before_each_metric_are_read_as_such(tmp_path):
    reading = read(tmp_path, "a.md", table("Model | WikiPeople MRR | WD50K MRR", "A | .5 | .4"))
    assert values(reading, "dataset", "metric", "value") == [
        ("WikiPeople", MRR, "0.5"),
        ("WD50K", MRR, "0.4"),
    ]
    assert all(
        "of a header read as a name, none of the registry" in text for text in reading.values["assumed"]
    )


@pytest.mark.parametrize(
    ("text", "task"),
    [
        (table("Model | Head 1-1 MRR | Tail N-1 MRR", "A | .5 | .4"), "prediction by relation category"),
        ("Table 2: Relation prediction on UMLS\n\n" + table("Model | MRR", "A | .5"), "relation prediction"),
        (
            "# UMLS against 50 random negatives\n\n" + table("Model | MRR", "A | .5"),
            "ranking among sampled candidates",
        ),
        ("# UMLS, few-shot\n\n" + table("Model | MRR", "A | .5"), "few-shot prediction"),
        (table("Model | Task | MRR", "A | triple classification | .5"), "triple classification"),
    ],
)
def test_values_of_another_task_are_not_read(tmp_path, text, task):
    reading = read(tmp_path, "umls.md", text)
    assert values(reading) == []
    assert task in unread_cells(reading)[0]


def test_a_sidecar_says_that_a_table_is_of_the_usual_task_after_all(tmp_path):
    text = "# UMLS, few-shot\n\n" + table("Model | MRR", "A | .5")
    assert values(read(tmp_path, "umls.md", text, "task: link prediction\n"), "value") == [("0.5",)]


def test_a_column_of_tasks(tmp_path):
    rows = (
        "Model | Task | MRR",
        "A | link prediction | .5",
        "B | tail prediction | .4",
        "C | entity typing | .3",
    )
    reading = read(tmp_path, "umls.md", table(*rows))
    assert values(reading, "model", "side", "value") == [("A", None, "0.5"), ("B", "tail", "0.4")]


def test_labels_under_an_empty_corner_that_are_data_sets_are_no_models(tmp_path):
    reading = read(tmp_path, "a.md", table(" | MRR", "UMLS | .5", "WN18 (raw) | .4"))
    assert values(reading, "model", "dataset", "protocol") == [(None, "UMLS", None), (None, "WN18", "raw")]


def test_a_data_set_within_every_name_of_a_model(tmp_path):
    reading = read(tmp_path, "a.md", table("Model | MRR", "A (UMLS) | .5", "A on WN18 | .4"))
    assert values(reading) == [("A", "UMLS", MRR, "0.5"), ("A", "WN18", MRR, "0.4")]


def test_a_column_that_an_unknown_word_tells_apart_leaves_both_unread(tmp_path):
    reading = read(
        tmp_path, "a.md", table("Model | UMLS MRR | UMLS (Paper*) MRR | UMLS MR", "A | .5 | .4 | 2")
    )
    assert values(reading, "metric") == [(MR,)]
    assert reading.unread.height == 2


def test_spreads_and_gains_are_no_values(tmp_path):
    reading = read(tmp_path, "a.csv", "seed,dataset,MRR\n1,UMLS,0.5\nmean,UMLS,0.52\nstd,UMLS,0.01\n")
    assert values(reading, "value") == [("0.5",), ("0.52",)]
    reading = read(
        tmp_path, "umls.md", table("Metric | A | B | Gain", "MRR | .5 | .4 | 25.0", "H@1 | .4 | .3 | 33.3")
    )
    assert values(reading, "model", "value") == [("A", "0.5"), ("B", "0.4"), ("A", "0.4"), ("B", "0.3")]


def test_a_point_among_commas_is_marked(tmp_path):
    text = table("Model | MR | MRR", "A | 3,384 | .2", "B | 3.340 | .4")
    reading = read(tmp_path, "wn18rr.md", text)
    assert values(reading, "value")[2] == ("3.340",)
    assert "value inferred" in reading.values["grades"][2]


def test_tail_only_is_a_side_and_50_neg_another_task(tmp_path):
    text = table("Model | Hits@10 (filtered, tail only) | MRR (50 neg)", "A | .6 | .5")
    reading = read(tmp_path, "umls.md", text)
    assert values(reading, "side", "protocol", "value") == [("tail", "filtered", "0.6")]
    assert "ranking among sampled candidates (as printed): state the protocol" in unread_cells(reading)[0]


SAMPLED = (
    "MRR (sampled)",
    "MRR (50 neg)",
    "Sampled MRR",
    "MRR (100 negative samples)",
    "MRR (filtered, 1,000 sampled negatives)",
    "MRR against 100 randomly sampled negative entities",
)


@pytest.mark.parametrize("header", SAMPLED)
def test_a_metric_among_sampled_candidates_is_read_where_the_protocol_is_given(tmp_path, header):
    text = table(f"Model | MR | {header}", "A | 9 | .5")
    reading = read(tmp_path, "umls.md", text)
    assert values(reading, "metric") == [(MR,)]
    assert "ranking among sampled candidates (as printed): state the protocol" in unread_cells(reading)[0]
    given = read_tables(tmp_path / "umls.md", given={"protocol": "sampled-100"})
    assert values(given, "metric", "protocol") == [(MR, "sampled-100"), (MRR, "sampled-100")]
    raw = read_tables(tmp_path / "umls.md", given={"protocol": "raw"})
    assert ("the option says raw, the table says filtered" in str(raw.unread.rows())) is (
        "filtered" in header
    )


def test_a_heading_that_speaks_of_sampled_negatives_needs_no_task_beside_the_protocol(tmp_path):
    read(tmp_path, "umls.md", "## MRR among 100 sampled negatives\n\n" + table("Model | UMLS", "A | .5"))
    given = read_tables(tmp_path / "umls.md", given={"protocol": "sampled-100"})
    assert values(given, "metric", "protocol", "value") == [(MRR, "sampled-100", "0.5")]


def test_what_a_text_or_a_note_says_about_the_candidates_puts_the_protocol_in_doubt(tmp_path):
    prose = (
        "As in all of the earlier work that we compare our models with, every triple of the test set is ranked "
        "against 100 randomly sampled negative entities.\n\n"
    )
    text = prose + table("Model | MRR (filtered) | MR", "A | .5 | 9")
    reading = read(tmp_path, "umls.md", text)
    words = "though the text around the table speaks of '100 randomly sampled negative entities'"
    reasons = [entries(assumed)["protocol"] for assumed in reading.values["assumed"]]
    assert reasons == [f"filtered, {words}", f"filtered by default, {words}"]
    assert "protocol inferred" in reading.values["grades"][0]
    noted = read(tmp_path, "umls.md", table("Model | MRR (hard)", "A | .5"))
    reason = entries(noted.values["assumed"][0])["protocol"]
    assert reason == "filtered by default, though the header has a note: hard"


@pytest.mark.parametrize(
    "cell", ["paper: 0.49 ours 0.44", "a: 0.49 a: 0.44", "0.49/0.44", "0.49 (0.44, 0.52)", "0.52-0.54"]
)
def test_several_values_in_a_cell_are_named(tmp_path, cell):
    reading = read(tmp_path, "umls.md", table("Metric | UMLS", f"MRR | {cell}"))
    assert values(reading) == []
    assert [line.rpartition(": ")[2] for line in unread_cells(reading)] == ["several values in one cell"]


def test_a_number_in_the_name_of_a_model_is_not_lost(tmp_path):
    reading = read(tmp_path, "umls.md", table("Model | MRR | H@1", "A w. B 30.5 | | 20.1", "C | 31.5 | 21.0"))
    assert values(reading, "model", "value") == [("A w. B 30.5", "20.1"), ("C", "31.5"), ("C", "21.0")]
    assert "ends in a number, which may be the value beside it" in unread_cells(reading)[0]
    assert "model inferred" in reading.values["grades"][0]


def test_rows_that_a_page_left_without_their_merged_cells(tmp_path):
    text = "Dataset | Model | Metric | Value\n---|---|---|---\nUMLS | A | MRR | .5\nMR | 2 | |\nWN18 | A | MRR | .4\n"
    assert values(read(tmp_path, "a.txt", text)) == [
        ("A", "UMLS", MRR, "0.5"),
        ("A", "UMLS", MR, "2"),
        ("A", "WN18", MRR, "0.4"),
    ]


def test_frames_of_pandas_in_json(tmp_path):
    by_column = '{"model": {"0": "A", "1": "B"}, "MRR": {"0": 0.5, "1": 0.4}}'
    split = '{"columns": ["model", "MRR"], "index": [0, 1], "data": [["A", 0.5], ["B", 0.4]]}'
    for text in (by_column, split):
        assert values(read(tmp_path, "umls.json", text), "model", "value") == [("A", "0.5"), ("B", "0.4")]


LOGS = (
    "2021-03-01 10:00:01,123 INFO     Valid MRR at step 100: 0.331\n"
    "2021-03-01 10:00:02,124 INFO     Test MRR at step 200: 0.337\n",
    "[proc 0][Valid] Valid average MRR : 0.331\n[proc 0] Test average MRR : 0.337\n",
    "#Valid MRR: 0.331\t\t\n#Test MRR: 0.337\t\t\n",
    "Epoch: 1, Val MRR: 0.331, Val Mean Rank: 9\nTest MRR: 0.337, Test Mean Rank: 8\n",
)


@pytest.mark.parametrize("text", LOGS)
def test_lines_of_logs_name_their_split(tmp_path, text):
    found = values(read(tmp_path, "umls.log", text), "split", "metric", "value")
    assert ("validation", MRR, "0.331") in found
    assert ("testing", MRR, "0.337") in found


def test_a_fenced_log_in_markdown(tmp_path):
    reading = read(tmp_path, "umls.md", "# Run\n\n```\nTest average MRR : 0.5\nTest average MR : 2.5\n```\n")
    assert values(reading, "split", "value", "source_line") == [
        ("testing", "0.5", "4"),
        ("testing", "2.5", "4"),
    ]


PDF = """Table 2 Results
WN18 UMLS
Name
MRR Hits@1 MR MRR Hits@1 MR
RESCAL 0.892 0.843 - 0.354 0.235 -
Dist Mult 0.831 0.733 655 0.351 - 41
"""


def test_text_of_a_pdf_with_single_blanks(tmp_path):
    reading = read(tmp_path, "a.txt", PDF)
    rows = values(reading)
    assert rows[0] == ("RESCAL", "WN18", MRR, "0.892")
    assert rows[-1] == ("Dist Mult", "UMLS", MR, "41")
    assert len(rows) == 9


def test_text_of_a_pdf_whose_header_does_not_fit_asks_for_the_columns(tmp_path):
    reading = read(tmp_path, "a.txt", PDF.replace("Hits@1", "Hits @ 1"))
    assert values(reading) == []
    assert describe(reading).startswith("a.txt: 0 of 9 numbers read, 9 not:")


def test_headers_in_chinese(tmp_path):
    text = "### 表3 UMLS 链接预测结果\n" + table(
        "模型 | 平均排名 | 平均倒数排名 | 命中率@10", "A | 2 | .5 | .9"
    )
    assert values(read(tmp_path, "a.md", text)) == [
        ("A", "UMLS", MR, "2"),
        ("A", "UMLS", MRR, "0.5"),
        ("A", "UMLS", "hits_at_10", "0.9"),
    ]


@pytest.mark.parametrize("line", ["split: tset", "columns: {MRR: {split: tset}}", "task: link predicton"])
def test_a_slip_in_a_sidecar_is_refused(tmp_path, line):
    with pytest.raises(RankadjustError, match=r"umls\.yaml:1: unknown (split|task) '.*'; did you mean "):
        read(tmp_path, "umls.md", table("Model | MRR", "A | .5"), line)


def test_a_list_directly_above_a_table_does_not_swallow_it(tmp_path):
    text = "papers:\n- A: one\n- B: two\nresults:\nmodel | MRR |\n---|---|\nA | 0.5 |\n"
    assert values(read(tmp_path, "umls.txt", text), "model", "value") == [("A", "0.5")]


def test_a_metric_that_a_page_has_hidden_is_named(tmp_path):
    reading = read(tmp_path, "umls.md", table("Model | MRR | Filter [email protected]", "A | .5 | .7"))
    assert values(reading, "value") == [("0.5",)]
    [line] = unread_cells(reading)
    assert line.startswith(
        "1 in column 3 'Filter [email protected]', line 3 ('.7'): no header names its metric"
    )


def test_names_of_models_that_differ_by_a_side_alone(tmp_path):
    rows = ("Model | MR", "A Left (n=50) | 9", "A Right (n=50) | 5", "A Average (n=50) | 7", "Right B | 8")
    reading = read(tmp_path, "umls.md", table(*rows))
    assert values(reading, "model", "side") == [
        ("A Left (n=50)", "head"),
        ("A Right (n=50)", "tail"),
        ("A Average (n=50)", None),
        ("Right B", None),
    ]
    sides = [entries(text).get("side") for text in reading.values["assumed"]][:2]
    assert sides == ["as left is the head in OpenKE, but it is the tail in ConvE and CompGCN"] * 2


def test_a_command_above_a_log_names_its_model(tmp_path):
    log = "dglke_train --model_name TransE_l2 --lr 0.1\nTest average MRR : 0.5\nTest average MR : 2.5\n"
    reading = read(tmp_path, "umls.log", log)
    assert set(values(reading, "model", "split")) == {("TransE_l2", "testing")}
    assert "from the text 'dglke_train" in entries(reading.values["assumed"][0])["model"]


def test_trials_of_pykeen_are_judged_on_validation_triples(tmp_path):
    text = "number\tuser_attrs_avg.hits_at_1\tuser_attrs_both.realistic.hits_at_3\n0\t0.4\t0.6\n"
    assert set(values(read(tmp_path, "umls.tsv", text), "split", "protocol")) == {("validation", "pykeen")}
    studies = "model\tevaluator\ttraining_loop\tMRR\nA\trankbased\tlcwa\t0.4\n"
    assert values(read(tmp_path, "umls.tsv", studies), "split", "protocol") == [(None, "pykeen")]


def test_a_letter_beside_metrics_is_a_side_where_the_other_letter_is_there_too(tmp_path):
    reading = read(
        tmp_path,
        "umls.md",
        table("Model | MRR (h) | MRR (t) | MRR | l-MR | r-MR", "A | .4 | .6 | .5 | 3 | 2"),
    )
    assert values(reading, "side", "value") == [
        ("head", "0.4"),
        ("tail", "0.6"),
        (None, "0.5"),
        ("head", "3"),
        ("tail", "2"),
    ]
    assert "side inferred" in reading.values["grades"][0]


@pytest.mark.parametrize(
    "header", ["MR (/1000)", "Hits@10 (‰)", "MR (10^3)", "MRR ‰", "MR (×10)", "MR (log)"]
)
def test_a_metric_on_a_scale_that_is_no_percentage_is_named(tmp_path, header):
    reading = read(tmp_path, "umls.md", table(f"Model | Hits@1 | {header}", "A | .4 | 3.3"))
    assert values(reading, "value") == [("0.4",)]
    assert "a metric beside unknown words" in unread_cells(reading)[0]


def test_a_data_set_with_a_mark_may_be_another(tmp_path):
    reading = read(tmp_path, "a.md", table("Model | UMLS* MRR | WN18 MRR*", "A | .4 | .5"))
    grades = [text.partition(";")[0] for text in reading.values["grades"]]
    assert grades == ["dataset inferred", "dataset printed"]


@pytest.mark.parametrize(
    ("caption", "protocol"),
    [
        ("## UMLS, static filter", "time-static"),
        ("Table 1: UMLS in the raw setting", "raw"),
        ("## Training on raw text about UMLS", None),
        ("## UMLS with raw metrics and in the filtered setting", None),
        ("## Time-aware models on UMLS", None),
    ],
)
def test_a_caption_names_the_protocol_in_words_that_speak_of_ranking(tmp_path, caption, protocol):
    reading = read(tmp_path, "a.md", f"{caption}\n\n" + table("Model | MRR", "A | .5"))
    assert values(reading, "dataset", "protocol") == [("UMLS", protocol)]
    assert f"protocol {'inferred' if protocol else 'default'}" in reading.values["grades"][0]


def test_a_caption_is_of_one_table(tmp_path):
    sizes, results = table("#ent | #rel", "135 | 46"), table("Model | MRR", "A | .5")
    above = f"**Table 1**: Statistics of UMLS.\n\n{sizes}\nTable 2: Results.\n\n{results}"
    assert values(read(tmp_path, "a.md", above), "dataset") == [(None,)]
    below = f"{results}\nTable 3: Results on UMLS.\n\n{results}\n<span></span>**Table 4:** Results on WN18.\n"
    assert values(read(tmp_path, "b.md", below), "dataset") == [("UMLS",), ("WN18",)]


def test_names_above_metrics_are_no_variants_of_the_data_set_in_the_caption(tmp_path):
    text = "Table 1: Results on UMLS, KGX and KGY\n\n" + table(
        "Model | KGX | | KGY | ", " | MRR | H@1 | MRR | H@1", "A | .5 | .4 | .8 | .7"
    )
    assert [row[1] for row in values(read(tmp_path, "a.md", text))] == ["KGX", "KGX", "KGY", "KGY"]


def test_results_without_a_metric_are_named_and_sizes_are_not(tmp_path):
    reading = read(tmp_path, "a.md", table("Model | UMLS | WN18 | ", "A | .5 | .9 | 3"))
    assert unread_cells(reading) == [
        "2 in columns 2 'UMLS', 3 'WN18', line 3 ('.5', '.9'): nothing names its metric; state the metric"
    ]
    assert unread_cells(read(tmp_path, "b.md", table("Data | Entities", "UMLS | 135"))) == []
    assert len(unread_cells(read(tmp_path, "c.csv", "0,A,UMLS,0.5\n1,B,UMLS,0.6\n"))) == 1


@pytest.mark.parametrize("cell", [".531 [.52; .54]", "0.531 (95% CI 0.52-0.54)", ".531 [12]"])
def test_what_stands_in_brackets_after_a_number_is_a_note(tmp_path, cell):
    reading = read(tmp_path, "umls.md", table("Model | MRR", f"A | {cell}"))
    assert values(reading, "value") == [("0.531",)]
    assert reading.values["notes"][0].startswith("in brackets: ")


def test_labels_within_a_cell_are_read_like_headers(tmp_path):
    text = table("Metric | UMLS", "MRR | paper: 0.49 ours: 0.44", "H@1 | Paper:98.8  ours:0.9")
    reading = read(tmp_path, "a.md", text, "model: A\n")
    assert values(reading, "model", "dataset", "value", "unit") == [
        ("A (paper)", "UMLS", "0.49", "fraction"),
        ("A (ours)", "UMLS", "0.44", "fraction"),
        ("A (Paper)", "UMLS", "98.8", "percent"),
        ("A (ours)", "UMLS", "0.9", "fraction"),
    ]
    assert values(read(tmp_path, "b.md", text), "model") == [
        ("paper",),
        ("ours",),
        ("Paper",),
        ("ours",),
    ]
    sides = table("Model | MRR", "A | head: 0.4, tail: 0.6")
    assert values(read(tmp_path, "umls.md", sides), "model", "side", "value") == [
        ("A", "head", "0.4"),
        ("A", "tail", "0.6"),
    ]


def test_columns_in_which_most_rows_are_impossible_are_in_doubt(tmp_path):
    rows = ("Model | H@10 | H@1 | MR", "A | .24 | .53 | 9", "B | .25 | .54 | 8", "C | .6 | .55 | 7")
    reading = read(tmp_path, "umls.md", table(*rows))
    assert all("metric inferred" in grades for grades in reading.values["grades"])
    reading = read(tmp_path, "umls.md", table(*rows, "D | .7 | .5 | 6"))
    assert all("metric printed" in grades for grades in reading.values["grades"])


def test_protocols_below_the_merged_names_of_metrics(tmp_path):
    text = table(" | Mean Rank | | Hits@10 | ", " | Raw | Filter | Raw | Filter", "A | 9 | 5 | 34.9 | 47.1")
    assert values(read(tmp_path, "umls.md", text), "metric", "protocol", "value") == [
        (MR, "raw", "9"),
        (MR, "filtered", "5"),
        ("hits_at_10", "raw", "34.9"),
        ("hits_at_10", "filtered", "47.1"),
    ]


def test_an_average_below_models_is_none_of_them(tmp_path):
    rows = ("Category | Model | MRR", "Deep | A | .5", " | B | .6", "Average | | .55")
    assert values(read(tmp_path, "umls.md", table(*rows)), "model") == [("A",), ("B",), (None,)]


def test_pairs_of_values_in_a_table_without_a_metric_are_named(tmp_path):
    reading = read(tmp_path, "a.md", table("Model | UMLS (MRR/H@10)", "A | 0.5/0.9"))
    assert "('0.5/0.9'): nothing names its metric" in unread_cells(reading)[0]


# Each expectation is what a person reads in the text: the values, then how many cells are left unread and named.
FOUND_IN_READMES = {
    "the filter may be named by another word of the metric": (
        "umls.md",
        table("Model | Mean Rank | MR@filter", "A | 9 | 5"),
        [("A", "UMLS", MR, "5", None, None, "filtered")],
        1,
    ),
    "a version beside its data set": (
        "a.md",
        table(
            "Dataset | Version | Metric | Ours | B | 提升",
            "FB15k-237 | v1 | MRR | .5 | .4 | +25%",
            "WN18RR | v2 | MRR | .7 | .6 | +16%",
        ),
        [
            (model, dataset, MRR, value, None, None, None)
            for dataset, both in (("GraIL-FB15k237-v1", ("0.5", "0.4")), ("GraIL-WN18RR-v2", ("0.7", "0.6")))
            for model, value in zip(("Ours", "B"), both, strict=True)
        ],
        0,
    ),
    "versions below their data set, beside 'Method'": (
        "a.md",
        "Inductive results (MRR)\n\n"
        + table(" | WN18RR | | FB15k-237 | ", "Method | v1 | v2 | v1 | v2", "A | .1 | .2 | .3 | .4"),
        [
            ("A", f"GraIL-{dataset}", MRR, value, None, None, None)
            for dataset, value in (
                ("WN18RR-v1", "0.1"),
                ("WN18RR-v2", "0.2"),
                ("FB15k237-v1", "0.3"),
                ("FB15k237-v2", "0.4"),
            )
        ],
        0,
    ),
    "'predicting' before a side": (
        "umls.md",
        table(" | Predicting head | Predicting tail", "Model | MRR | MRR", "A | .4 | .6"),
        [("A", "UMLS", MRR, value, None, side, None) for value, side in (("0.4", "head"), ("0.6", "tail"))],
        0,
    ),
    "metrics beside those of a data set are assumed to be of it": (
        "a.md",
        table("Model | UMLS MRR | MR | WN18 MRR | MR", "A | .5 | 9 | .6 | 8"),
        [
            ("A", dataset, metric, value, None, None, None)
            for dataset, both in (("UMLS", ("0.5", "9")), ("WN18", ("0.6", "8")))
            for metric, value in zip((MRR, MR), both, strict=True)
        ],
        0,
    ),
    "row numbers are no values, and 'Valeur' is no model": (
        "umls.md",
        table(
            "# | Metric | Model | Valeur",
            *(
                f"{row} | {metric} | A | {value}"
                for row, metric, value in ((60, "MRR", ".5"), (61, "MR", "9"))
            ),
            "62 | H@1 | A | .4",
        ),
        [("A", "UMLS", metric, value, None, None, None) for metric, value in ((MRR, "0.5"), (MR, "9"))]
        + [("A", "UMLS", "hits_at_1", "0.4", None, None, None)],
        0,
    ),
    "numbers with a word about them": (
        "umls.md",
        table("Metric | Best baseline | Ours", "MRR | 0.49(ConvE) | Ours (0.54)", "H@1 | 0.41(ConvE) | ~0.5"),
        [],
        4,
    ),
    "the mean of both sides": (
        "umls.md",
        table("Metric | head | tail | mean", "MRR | .4 | .6 | .5"),
        [
            (None, "UMLS", MRR, value, None, side, None)
            for value, side in (("0.4", "head"), ("0.6", "tail"), ("0.5", "both"))
        ],
        0,
    ),
    "a result for each data set, model and split": (
        "a.json",
        '{"UMLS": {"TransE": {"test": {"mrr": 0.5}, "valid": {"mrr": 0.6}}}}',
        [
            ("TransE", "UMLS", MRR, value, split, None, None)
            for value, split in (("0.5", "testing"), ("0.6", "validation"))
        ],
        0,
    ),
    "Hits in a list": (
        "umls.log",
        "TEST : {'MRR': 0.5, 'hits@[1,3]': tensor([0.4, 0.6])}\n"
        "VALID : {'MRR': 0.6, 'hits@[1,3]': tensor([0.5, 0.7])}\n",
        [
            (None, "UMLS", metric, value, split, None, None)
            for split, own in (("testing", ("0.5", "0.4", "0.6")), ("validation", ("0.6", "0.5", "0.7")))
            for metric, value in zip((MRR, "hits_at_1", "hits_at_3"), own, strict=True)
        ],
        0,
    ),
    "facts among the pairs of a line": (
        "a.log",
        "FINAL baseline=old model=A dataset=UMLS split=test mrr=0.5 h1=0.4\n"
        "FINAL baseline=old model=B dataset=UMLS split=test mrr=0.6 h1=0.5\n",
        [
            (model, "UMLS", metric, value, "testing", None, None)
            for model, both in (("A", ("0.5", "0.4")), ("B", ("0.6", "0.5")))
            for metric, value in zip((MRR, "hits_at_1"), both, strict=True)
        ],
        0,
    ),
    "lines of pairs in the text of a README": (
        "a.md",
        "# Results\n\nOn UMLS:\n    MRR: 0.5\n    Hits@1:\n    Hits@10: 0.9 (filtered)\n",
        [
            (None, "UMLS", MRR, "0.5", None, None, None),
            (None, "UMLS", "hits_at_10", "0.9", None, None, "filtered"),
        ],
        0,
    ),
    "keys of several words below their split": (
        "umls.txt",
        "Read 5216 triples\nValidation:\nHits left @10: 0.8\nMean reciprocal rank: 0.5\n"
        "Test:\nHits left @10: 0.7\nMean reciprocal rank: 0.4\n",
        [
            (None, "UMLS", metric, value, split, side, None)
            for split, both in (("validation", ("0.8", "0.5")), ("testing", ("0.7", "0.4")))
            for metric, value, side in zip(("hits_at_10", MRR), both, ("head", None), strict=True)
        ],
        0,
    ),
    "candidates of the type in a column of evaluations": (
        "umls.md",
        table("Model | Evaluation | MRR", "A | naive | .5", "A | type-constrained | .6"),
        [("A", "UMLS", MRR, "0.5", None, None, None)],
        1,
    ),
    "a metric before its sides": (
        "umls.log",
        "- [INFO] - MRR: Tail : 0.6, Head : 0.4, Avg : 0.5\n- [INFO] - MR: Tail : 7, Head : 9, Avg : 8\n",
        [
            (None, "UMLS", metric, value, None, side, None)
            for metric, own in ((MRR, ("0.6", "0.4", "0.5")), (MR, ("7", "9", "8")))
            for value, side in zip(own, ("tail", "head", "both"), strict=True)
        ],
        0,
    ),
    "items of a list, each with data set and split": (
        "a.md",
        "# Results\n\n- **UMLS** : Test metrics: mrr: 0.5\n- **WN18** : Test metrics: mrr: 0.6\n",
        [
            (None, dataset, MRR, value, "testing", None, None)
            for dataset, value in (("UMLS", "0.5"), ("WN18", "0.6"))
        ],
        0,
    ),
    "forward and backward": (
        "umls.json",
        '{"forward": {"mrr": 0.6}, "backward": {"mrr": 0.4}, "average": {"mrr": 0.5}}',
        [
            (None, "UMLS", MRR, value, None, side, None)
            for value, side in (("0.6", "tail"), ("0.4", "head"), ("0.5", "both"))
        ],
        0,
    ),
    "stamps of a logger": (
        "umls.log",
        "INFO:Trainer:2024-05-19 16:26:31:mrr: 0.5\nINFO:Trainer:2024-05-19 16:26:31:mr: 9\n",
        [(None, "UMLS", MRR, "0.5", None, None, None), (None, "UMLS", MR, "9", None, None, None)],
        0,
    ),
    "raw and filtered below metrics below data sets": (
        "a.tex",
        r"\begin{tabular}{ccccc} Data Sets & \multicolumn{4}{c}{UMLS} \\ \hline"
        r"\multirow{2}{*}{Metric} & \multicolumn{2}{c}{MR} & \multicolumn{2}{c}{Hits@10 (\%)} \\"
        r" & Raw & Filt & Raw & Filt \\ \hline TransE & 9 & 7 & 61 & 71.5 \\ \end{tabular}",
        [
            ("TransE", "UMLS", metric, value, None, None, protocol)
            for metric, both in ((MR, ("9", "7")), ("hits_at_10", ("61", "71.5")))
            for value, protocol in zip(both, ("raw", "filtered"), strict=True)
        ],
        0,
    ),
    "k below Hits": (
        "umls.md",
        table("Model | MRR | Hits | ", " | | k=1 | k=10", "A | .5 | .4 | .8"),
        [
            ("A", "UMLS", metric, value, None, None, None)
            for metric, value in ((MRR, "0.5"), ("hits_at_1", "0.4"), ("hits_at_10", "0.8"))
        ],
        0,
    ),
    "Hits below k": (
        "umls.md",
        table("Model | k=1 | k=10", " | Hits | Hits", "A | .4 | .8"),
        [
            ("A", "UMLS", metric, value, None, None, None)
            for metric, value in (("hits_at_1", "0.4"), ("hits_at_10", "0.8"))
        ],
        0,
    ),
    "metrics between the rows, and a mean over data sets": (
        "a.md",
        table(
            " | UMLS | WN18 | Avg.",
            "**MRR** | | | ",
            "A | .5 | .7 | .6",
            "**H@1** | | | ",
            "A | .4 | .6 | .5",
        ),
        [
            ("A", dataset, metric, value, None, None, None)
            for metric, both in ((MRR, ("0.5", "0.7")), ("hits_at_1", ("0.4", "0.6")))
            for dataset, value in zip(("UMLS", "WN18"), both, strict=True)
        ],
        0,
    ),
    "data sets below a header in another language": (
        "a.csv",
        "Modell;Datensatz;MRR\nA;UMLS;0,5\nA;WN18;0,75\n",
        [
            ("A", dataset, MRR, value, None, None, None)
            for dataset, value in (("UMLS", "0.5"), ("WN18", "0.75"))
        ],
        0,
    ),
    "means beside their spread": (
        "a.csv",
        "method,kg,metric,mean,std,n_seeds\nA,UMLS,MRR,0.5,0.02,5\nA,UMLS,Hits@1,0.4,0.03,5\n",
        [
            ("A", "UMLS", metric, value, None, None, None)
            for metric, value in ((MRR, "0.5"), ("hits_at_1", "0.4"))
        ],
        0,
    ),
    "a table that a program drew": (
        "umls.txt",
        "┏━━━┳━━━━━┓\n┃ M ┃ MRR ┃\n┡━━━╇━━━━━┩\n│ A │ 0.5 │\n├───┼─────┤\n│ B │ 0.6 │\n└───┴─────┘\n",
        [(model, "UMLS", MRR, value, None, None, None) for model, value in (("A", "0.5"), ("B", "0.6"))],
        0,
    ),
    "a name in the middle of its columns, over blanks": (
        "a.txt",
        "               UMLS                  WN18\n"
        " Model    MRR   H@1   H@10    MRR   H@1   H@10\n"
        " A        .5    .4    .8      .7    .6    .9\n"
        " B        -     -     -       -     -     -\n",
        [
            ("A", dataset, metric, value, None, None, None)
            for dataset, own in (("UMLS", ("0.5", "0.4", "0.8")), ("WN18", ("0.7", "0.6", "0.9")))
            for metric, value in zip((MRR, "hits_at_1", "hits_at_10"), own, strict=True)
        ],
        0,
    ),
    "a caption below tabs": (
        "a.txt",
        "Model\tMRR\tMR\nA\t0.5\t9\n\nTable 2: Results on UMLS\n",
        [("A", "UMLS", metric, value, None, None, None) for metric, value in ((MRR, "0.5"), (MR, "9"))],
        0,
    ),
    "a list of results without colons": (
        "a.md",
        "# Results\n\n- UMLS: MRR 0.5, Hits@1 0.4\n- WN18: MRR 0.7, Hits@1 0.6\n",
        [
            (None, dataset, metric, value, None, None, None)
            for dataset, both in (("UMLS", ("0.5", "0.4")), ("WN18", ("0.7", "0.6")))
            for metric, value in zip((MRR, "hits_at_1"), both, strict=True)
        ],
        0,
    ),
    "a dictionary on several lines, below the call": (
        "a.txt",
        "pipeline(model='TransE', dataset='UMLS')\n{'mrr': 0.5,\n 'mr': 9,\n 'hits@1': 0.4}\n",
        [
            ("TransE", "UMLS", metric, value, None, None, None)
            for metric, value in ((MRR, "0.5"), (MR, "9"), ("hits_at_1", "0.4"))
        ],
        0,
    ),
    "single pairs below a line of several, with times and splits": (
        "a.log",
        "11:02:33   Model: RotatE\n11:02:33   #train: 86835, #valid: 3034, data/wn18rr\n"
        "11:31:12   Evaluate on valid\n11:31:12   mr: 9\n11:31:12   mrr: 0.5\n"
        "11:32:12   Evaluate on test\n11:32:12   mr: 8\n11:32:12   mrr: 0.6\n",
        [
            ("RotatE", "WN18RR", metric, value, split, None, None)
            for split, both in (("validation", ("9", "0.5")), ("testing", ("8", "0.6")))
            for metric, value in zip((MR, MRR), both, strict=True)
        ],
        0,
    ),
    "an empty corner in place of a border": (
        "umls.txt",
        "       |  MRR | MR\n  head |  0.5 | 9\n  tail |  0.7 | 7\n  avg  |  0.6 | 8\n",
        [
            (None, "UMLS", metric, value, None, side, None)
            for side, both in (("head", ("0.5", "9")), ("tail", ("0.7", "7")), ("both", ("0.6", "8")))
            for metric, value in zip((MRR, MR), both, strict=True)
        ],
        0,
    ),
    "a nested dictionary": (
        "umls.log",
        "{'both': {'optimistic': {'mrr': 0.310}, 'realistic': {'mrr': 0.300}}}\n",
        [(None, "UMLS", MRR, value, None, "both", "pykeen") for value in ("0.310", "0.300")],
        0,
    ),
    "data sets as titles of parts to unfold": (
        "a.md",
        "".join(
            f"<details><summary>{name}</summary>\n\n{table('Model | MRR', f'A | {value}')}\n</details>\n"
            for name, value in (("UMLS", ".5"), ("WN18", ".7"))
        ),
        [
            ("A", dataset, MRR, value, None, None, None)
            for dataset, value in (("UMLS", "0.5"), ("WN18", "0.7"))
        ],
        0,
    ),
    "the summary of a run of wandb": (
        "umls.log",
        "wandb: Run summary:\nwandb:  test/hits@1 0.4\nwandb: test/hits@10 0.9\nwandb:  test/mrr 0.5\n",
        [
            (None, "UMLS", metric, value, "testing", None, None)
            for metric, value in (("hits_at_1", "0.4"), ("hits_at_10", "0.9"), (MRR, "0.5"))
        ],
        0,
    ),
    "mean and spread below each metric": (
        "a.txt",
        "                 mrr           hits@10\n                mean    std    mean     std\nmodel   dataset\n"
        "A       UMLS    0.50   0.02    0.90   0.01\n        WN18    0.70   0.01    0.95   0.03\n"
        "B       UMLS    0.60   0.01    0.92   0.02\n",
        [
            (model, dataset, metric, value, None, None, None)
            for model, dataset, both in (
                ("A", "UMLS", ("0.50", "0.90")),
                ("A", "WN18", ("0.70", "0.95")),
                ("B", "UMLS", ("0.60", "0.92")),
            )
            for metric, value in zip((MRR, "hits_at_10"), both, strict=True)
        ],
        0,
    ),
    "a row of a metric among rows of costs": (
        "umls.md",
        table("Row | A | B", "Params | 5M | 6M", "Time | 3h | 4h", "Epochs | 10 | 20", "MRR | .5 | .6"),
        [(model, "UMLS", MRR, value, None, None, None) for model, value in (("A", "0.5"), ("B", "0.6"))],
        0,
    ),
    "frequent and rare entities": (
        "umls.md",
        "MRR by frequency of the answer\n\n" + table("Model | Head | Torso | Tail", "A | .5 | .4 | .3"),
        [("A (Torso)", "UMLS", MRR, "0.4", None, None, None)],
        2,
    ),
    "complex queries": (
        "a.md",
        "MRR of complex query answering on UMLS\n\n" + table("Model | 1p | 2p", "A | .5 | .4"),
        [],
        2,
    ),
    "sides and both in the keys of a CSV with decimal commas": (
        "a.csv",
        "model;dataset;head_mrr;tail_mrr;both_mrr\nA;UMLS;0,242;0,430;0,336\n",
        [
            ("A", "UMLS", MRR, value, None, side, None)
            for value, side in (("0.242", "head"), ("0.430", "tail"), ("0.336", "both"))
        ],
        0,
    ),
    "a data set and its version in a CSV of ULTRA": (
        "a.csv",
        "dataset,version,mr,mrr,hits@10_50\nFB15k237Inductive,v1,38.02,0.498,0.930\n",
        [
            (None, "GraIL-FB15k237-v1", metric, value, None, None, None)
            for metric, value in ((MR, "38.02"), (MRR, "0.498"))
        ],
        1,
    ),
    "a split in the stamp of a line": (
        "umls.log",
        "[Epoch 9 valid]: MRR: Tail : 0.4, Head : 0.2, Avg : 0.3\n",
        [
            (None, "UMLS", MRR, value, "validation", side, None)
            for value, side in (("0.4", "tail"), ("0.2", "head"), ("0.3", "both"))
        ],
        0,
    ),
}


@pytest.mark.parametrize("what", FOUND_IN_READMES)
def test_structures_found_in_readmes_and_logs(tmp_path, what):
    name, text, expected, unread = FOUND_IN_READMES[what]
    reading = read(tmp_path, name, text)
    columns = ("model", "dataset", "metric", "value", "split", "side", "protocol")
    assert sorted(values(reading, *columns), key=str) == sorted(expected, key=str)
    assert reading.unread.height == unread


def test_a_version_beside_a_data_set_and_a_name_in_a_key_are_inferred(tmp_path):
    version = read(tmp_path, "a.md", table("Dataset | Version | MRR", "WN18RR | v1 | .5"))
    assert "dataset inferred" in version.values["grades"][0]
    part = read(tmp_path, "c.md", table("Model | Dataset | MRR", "A | WN18RR (5k) | .5"))
    assert entries(part.values["assumed"][0])["dataset"] == "'WN18RR (5k)' without its brackets"
    key = read(tmp_path, "a.json", '{"UMLS": {"TransE": {"mrr": 0.5, "mr": 9}}}')
    assert "model inferred" in key.values["grades"][0]
    names = read(tmp_path, "d.md", table("Model | KG-W MRR | KGX MRR", "A | .5 | .6"))
    assert values(names, "dataset") == [("KG-W",), ("KGX",)]
    # The O of FB15k-237-O is a part of the data set's name.
    other = read(tmp_path, "b.md", table("Model | FB15k-237-O MRR", "A | .5"))
    assert values(other, "dataset") == [("FB15k-237-O",)]
