"""Mapping of printed words: an example of each word and rule of config/published.yaml, and near misses."""

import polars as pl
import pytest

from rankadjust.base.errors import RankadjustError
from rankadjust.data.registry import load_registry
from rankadjust.literature.mapping import MAPPED, load_rules, map_words
from rankadjust.literature.tidy import tidy_columns

RULES = load_rules()

COLLECTION = "Link Prediction Problem: Experiment Results on Benchmark Datasets (collection)"
RENET = 'RE-Net README, commented-out "Predictive Performances" (Jin et al., EMNLP 2020)'

# rule -> a row that it is about (words of the source, from the shipped tables), and what the row becomes.
EXAMPLES = {
    "inductive test": ({"dataset": "FB15k-237-ind-v1", "split": "test"}, {"split": "inference_testing"}),
    "inductive validation": (
        {"dataset": "ILPC2022-small", "split": "valid"},
        {"split": "inference_validation"},
    ),
    "RE-Net's filter": (
        {"source": "RE-Net README, commented-out", "dataset": "ICEWS18", "protocol": "filtered"},
        {"protocol": "time-static"},
    ),
    "all destinations of tgbl-wiki-v2": (
        {"dataset": "tgbl-wiki-v2", "protocol": "time-aware-filtered", "candidates": "all"},
        {"protocol": "sampled-999"},
    ),
    "the case study": (
        {
            "source": "A Unified Framework for Rank-based Evaluation Metrics: per-run results",
            "protocol": "filtered",
        },
        {"protocol": "pykeen"},
    ),
    "PyKEEN's benchmark runs": (
        {
            "notes": "PyKEEN benchmark run (Ali et al. 2020), 16-digit value",
            "protocol": "filtered",
            "side": "tail",
        },
        {"protocol": "pykeen", "side": "tail"},
    ),
    "values copied from the NodePiece paper": (
        {
            "source": "PyKEEN reproduction config: Learn WN18RR Dataset with NodePiece + RotatE",
            "notes": "value the PyKEEN authors copied from the cited paper (rank type tag: best)",
            "protocol": "filtered",
        },
        {"protocol": "pykeen"},
    ),
    "AmpliGraph without unseen triples": (
        {"notes": "test triples with entities unseen in training were excluded (28 of FB15k-237)"},
        {"protocol": "filtered-training"},
    ),
    "truncated MRR": (
        {"metric": "mrr", "notes": "tail only; 1001 candidates; MRR truncated at 10; dataset deprecated"},
        {"metric": "mrr@10"},
    ),
    "AMRI is an index": ({"metric": "AAMRI", "unit": "percent"}, {"unit": "index"}),
    "Freebase of DGL-KE": (
        {"source": "DGL-KE example benchmarks (Zheng et al., SIGIR 2020)", "dataset": "Freebase"},
        {"dataset": "Freebase-DGL-KE"},
    ),
    "Freebase of LibKGE": (
        {"source": "LibKGE README: results and pretrained models", "dataset": "Freebase"},
        {"rule_status": "approximate", "dataset": "Freebase-DGL-KE"},
    ),
    "GDELT of RE-Net": ({"source": RENET, "dataset": "GDELT"}, {"dataset": "GDELT-forecasting"}),
    "ICEWS14 of the recurrency baselines": (
        {
            "source": "Recurrency baselines README, corrected results (Gastinger et al., IJCAI 2024)",
            "dataset": "ICEWS14",
        },
        {"dataset": "ICEWS14-forecasting"},
    ),
    "WIKI of RE-Net": ({"source": RENET, "dataset": "WIKI (temporal)"}, {"dataset": "WIKI-forecasting"}),
    "YAGO of RE-Net": ({"source": RENET, "dataset": "YAGO (temporal)"}, {"rule_status": "approximate"}),
    "WikiKG90Mv2, test-dev": ({"dataset": "WikiKG90Mv2", "split": "test-dev"}, {"split": "testing"}),
    "WikiKG90Mv2, test-challenge": (
        {"dataset": "WikiKG90Mv2", "split": "test-challenge"},
        {"dataset": "WikiKG90Mv2-challenge", "split": "testing"},
    ),
    "second-hand": (
        {"source": COLLECTION},
        {"caveat": "second-hand: collected from papers that are not named value by value"},
    ),
    "second-hand in QLogicE's table": (
        {"source": "QLogicE README: comparison of models (second-hand)", "model": "TuckER"},
        {"caveat": "second-hand: copied into a table of comparison"},
    ),
    "second-hand in the README of Manabe": (
        {"source": "knowledge-graph-embeddings README (Manabe)", "model": "ComplEx*"},
        {"caveat": "second-hand: copied from the paper that is cited"},
    ),
    "no rank from 2 to 10": (
        {"source": "QLogicE README: comparison of models (second-hand)", "model": "QLogicE"},
        {
            "caveat": "MRR, Hits@1 and Hits@10 are the same number in every row: no answer has a rank from 2 to 10, "
            "as if a set of answers had been told from the rest and not ranked"
        },
    ),
    "copied by PyKEEN": (
        {"notes": "value the PyKEEN authors copied from the cited paper (rank type tag: avg)"},
        {"caveat": "second-hand: copied from the paper that is cited"},
    ),
    "MINERVA and Multi-Hop": (
        {"source": COLLECTION, "model": "R+RL-Multi-Hop-2018-[21]", "dataset": "WN18RR", "side": "both"},
        {"side": "tail"},
    ),
    "baselines that MINERVA ran again": (
        {"source": COLLECTION, "model": "E-ConvE-2018-[2]", "dataset": "UMLS", "side": "both"},
        {"side": "tail"},
    ),
    "MRR of Kinship under UMLS": (
        {"source": COLLECTION, "model": "E-ConvE-2018-[2]", "dataset": "UMLS", "metric": "mrr"},
        {
            "caveat": "second-hand: collected from papers that are not named value by value; "
            "the collection prints the MRR of Kinship here: it contradicts the Hits@k of the same row"
        },
    ),
    "Neural LP run again for MINERVA": (
        {"source": COLLECTION, "model": "R+NN-Neural LP-2017-[14]", "dataset": "Kinships", "side": "both"},
        {"side": "tail"},
    ),
    "Neural LP run again for MINERVA, Hits@1 and Hits@3": (
        {
            "source": COLLECTION,
            "model": "R+NN-Neural LP-2017-[14]",
            "dataset": "WN18RR",
            "metric": "hits@3",
            "side": "both",
        },
        {"side": "tail"},
    ),
    "DRUM on UMLS and Kinship": (
        {"source": COLLECTION, "model": "R+NN-DRUM-2019-[22]", "dataset": "UMLS"},
        {"rule_status": "split_unknown"},
    ),
    "evaluation that profits from ties": (
        {"source": "PyKEEN reproduction config: Learn WN18RR Dataset with ConvKB", "model": "ConvKB"},
        {
            "caveat": "refuted: the evaluation placed the true triple before all that have the same score, of which "
            "these models give many (Sun et al. 2020, arXiv 1911.03903)"
        },
    ),
    "training that knew the test triples": (
        {"source": COLLECTION, "model": "E+NN-AttentionE-2019-[18]"},
        {
            "caveat": "second-hand: collected from papers that are not named value by value; "
            "refuted: the evaluation placed the true triple before all that have the same score, of which "
            "these models give many (Sun et al. 2020, arXiv 1911.03903); "
            "refuted: test triples took part in drawing the negatives of training"
        },
    ),
    "ranks counted from 0": (
        {
            "source": "Fast-TransX README",
            "model": "Fast-TransE (n = 50, threads = 8, rounds = 1000)",
            "metric": "mr",
        },
        {"caveat": "the code counts ranks from 0: the mean rank is one too low"},
    ),
    "protocol of the code": (
        {"notes": "protocol not stated; the code is built on PyKEEN and on KG-reeval"},
        {
            "caveat": "the source does not say how it ranked: taken as filtered, as the code that it builds on does"
        },
    ),
    "misprints of PGL on FB15k": (
        {
            "source": "PGL README: knowledge graph embedding (pgl-ke)",
            "dataset": "FB15k",
            "model": "RotatE",
            "protocol": "filtered",
            "metric": "hits_at_10",
        },
        {"caveat": "misprint: the log of the run beside the table has 0.6570 (TransE) and 0.7062 (RotatE)"},
    ),
    "misprint of PGL, TransR on WN18": (
        {
            "source": "PGL README: knowledge graph embedding (pgl-ke)",
            "dataset": "WN18",
            "model": "TransR",
            "protocol": "filtered",
            "metric": "hits_at_3",
        },
        {"caveat": "misprint: the log of the run beside the table has 0.8601"},
    ),
    "misprint of PGL, RotatE on WN18": (
        {
            "source": "PGL README: knowledge graph embedding (pgl-ke)",
            "dataset": "WN18",
            "model": "RotatE",
            "protocol": "raw",
            "metric": "inverse_harmonic_mean_rank",
        },
        {"caveat": "misprint: the log of the run beside the table has 0.6025"},
    ),
    "time intervals of tkbi": (
        {"source": "tkbi README: link prediction of TimePlex", "dataset": "yago11k"},
        {"rule_status": "approximate"},
    ),
    "ogbl-wikikg": (
        {"dataset": "ogbl-wikikg"},
        {
            "caveat": "withdrawn: half of the entities are never among the negatives, so that models learn which "
            "ones are"
        },
    ),
    "NELL-995 second-hand": (
        {"source": COLLECTION, "dataset": "NELL-995"},
        {"rule_status": "protocol_unknown"},
    ),
    "other ties": ({"ties": "pessimistic"}, {"rule_status": "no_moments"}),
    "unknown candidates": ({"protocol": "sampled-unknown"}, {"rule_status": "protocol_unknown"}),
    "first versions of TGB": (
        {"dataset": "tgbl-review-v1", "protocol": "sampled-unknown"},
        {"rule_status": None, "protocol": "sampled-20"},
    ),
}

# Rows that look alike and must stay as the general words have them.
COUNTEREXAMPLES = [
    ({"dataset": "FB15k-237", "split": "test"}, {"split": "testing"}),
    ({"source": "Recurrency baselines README", "protocol": "filtered"}, {"protocol": "filtered"}),
    (
        {
            "source": "PyKEEN reproduction config: Learn WN18 Dataset with TransE",
            "notes": "value the PyKEEN authors copied from the cited paper",
            "protocol": "filtered",
        },
        {"protocol": "filtered"},
    ),
    ({"metric": "hits@10", "notes": "MRR TRUNCATED: 0 if not in the top 10"}, {"metric": "hits@10"}),
    (
        {"source": "DGL-KE example benchmarks", "dataset": "Freebase", "protocol": "sampled-1000"},
        {"rule_status": None, "protocol": "sampled-1000"},
    ),
    ({"dataset": "ogbl-biokg", "protocol": "sampled-500"}, {"rule_status": None}),
    ({"split": "test-dev"}, {"split": "test-dev"}),
    ({"dataset": "GDELT"}, {"dataset": "GDELT"}),
    ({"dataset": "WikiKG90M", "split": "test-subset"}, {"split": "test-subset"}),
    # TorchDrug and NeuralKG rank KBGAT as they rank other models (DeepGraphLearning/torchdrug, issue 54).
    ({"source": "TorchDrug benchmark", "model": "KBGAT"}, {"caveat": None}),
    (
        {"source": COLLECTION, "model": "E-ConvE-2018-[2]", "dataset": "WN18RR", "side": "both"},
        {"side": "both"},
    ),
    (
        {
            "source": COLLECTION,
            "model": "R+NN-Neural LP-2017-[14]",
            "dataset": "WN18RR",
            "metric": "hits@10",
            "side": "both",
        },
        {"side": "both"},
    ),
    ({"dataset": "thgl-forum", "protocol": "sampled-unknown"}, {"rule_status": "protocol_unknown"}),
    # The row of KB2E in the tables of Fast-TransX, and Hits, which are counted right.
    (
        {"source": "Fast-TransX README", "model": "TransE (n = 50, rounds = 1000)", "metric": "mr"},
        {"caveat": None},
    ),
    ({"source": "Fast-TransX README", "model": "Fast-TransE", "metric": "hits@10"}, {"caveat": None}),
    # Its README was renewed after the code counted ranks up to 11 (dair-iitd/tkbi, issue 6).
    ({"source": "tkbi README: link prediction of TimePlex", "metric": "hits_at_10"}, {"caveat": None}),
    ({"source": "some README", "dataset": "ICEWS14"}, {"dataset": "ICEWS14"}),
]


def mapped(row):
    frame = pl.DataFrame({"dataset": "WN18RR", "metric": "mrr", "value": "0.3"} | row, strict=False)
    return map_words(frame.with_columns(pl.all().cast(pl.String)), RULES).row(0, named=True)


def test_every_rule_has_an_example():
    assert [rule["name"] for rule in RULES.rules] == list(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_rule(name):
    row, expected = EXAMPLES[name]
    result = mapped(row)
    assert {column: result[column] for column in expected} == expected


@pytest.mark.parametrize("name", EXAMPLES)
def test_example_needs_its_rule(name):
    row, expected = EXAMPLES[name]
    others = type(RULES)(
        RULES.words, tuple(rule for rule in RULES.rules if rule["name"] != name), RULES.adjusted
    )
    frame = pl.DataFrame({"dataset": "WN18RR", "metric": "mrr", "value": "0.3"} | row)
    result = map_words(frame, others).row(0, named=True)
    assert {column: result[column] for column in expected} != expected


@pytest.mark.parametrize(("row", "expected"), COUNTEREXAMPLES)
def test_rules_leave_others_alone(row, expected):
    result = mapped(row)
    assert {column: result[column] for column in expected} == expected


@pytest.mark.parametrize(
    ("column", "word", "ours"),
    # Which task a table is about is read with its headers: tests/unit/tables/test_odd_tables.py.
    [(column, *pair) for column, words in RULES.words.items() if column != "task" for pair in words.items()],
)
def test_word(column, word, ours):
    result = mapped({column: word})
    assert (result[column], result[f"{column}_as_printed"]) == (ours, word)


def test_every_rule_and_word_is_used_by_the_shipped_tables(project):
    tables = [
        pl.read_csv(path, infer_schema=False) for path in (project / "resources/published").glob("*.csv")
    ]
    printed = pl.concat(tables, how="diagonal")
    whole = map_words(printed, RULES)
    for rule in RULES.rules:
        if rule["name"] not in ("inductive validation", "other ties"):  # nobody printed any yet; users may
            without = tuple(other for other in RULES.rules if other is not rule)
            fewer = map_words(printed, type(RULES)(RULES.words, without, RULES.adjusted))
            assert not whole.equals(fewer), rule["name"]


@pytest.mark.parametrize(
    ("protocol", "candidates", "expected"),
    [
        ("sampled-50", "50", "sampled-49"),  # GraIL: the true answer is one of the 50
        ("sampled-50", "51", "sampled-50"),  # NBFNet, MorsE
        ("sampled-500", "501", "sampled-500"),
        ("sampled", "101", "sampled-100"),
        ("sampled-50", None, "sampled-50"),
        ("filtered", "6653", "filtered"),
        ("raw", "91230610", "raw"),
        ("time-aware-filtered", "all", "time-aware"),
    ],
)
def test_candidates_decide_the_sampled_protocol(protocol, candidates, expected):
    assert mapped({"protocol": protocol, "candidates": candidates})["protocol"] == expected


def test_an_empty_split_of_an_inductive_set_is_its_inference_test():
    assert mapped({"dataset": "ILPC2022-large", "split": None})["split"] == "inference_testing"
    assert mapped({"dataset": "ILPC2022-large", "split": "testing"})["split"] == "testing"


def test_defaults_fill_absent_columns_and_empty_cells():
    row = mapped({"split": None})
    assert (row["split"], row["side"], row["protocol"]) == ("testing", "both", "filtered")
    assert row["split_as_printed"] is None


def test_words_as_printed_are_kept_where_the_table_has_them():
    row = mapped({"dataset": "WN18RR", "dataset_as_printed": "WN18-RR"})
    assert (row["dataset"], row["dataset_as_printed"]) == ("WN18RR", "WN18-RR")


def test_inductive_rule_knows_the_inductive_sets_by_every_alias():
    roles = {
        name: dataset.role
        for dataset in load_registry().values()
        for name in (dataset.name, *dataset.aliases)
    }
    table = pl.DataFrame({"dataset": list(roles), "metric": "mrr", "value": "0.3", "split": "test"})
    splits = map_words(table, RULES)["split"]
    expected = ["inference_testing" if role == "inductive" else "testing" for role in roles.values()]
    assert dict(zip(roles, splits, strict=True)) == dict(zip(roles, expected, strict=True))


def test_every_mapped_column_is_described():
    assert set(MAPPED) < set(tidy_columns()["properties"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("words: {}\nrules: []\nadjusted: {}\nrule: []\n", "unknown key 'rule'"),
        ("words: {}\nadjusted: {}\nrules:\n  - {name: a, match: {split: t}, reason: r}\n", "published"),
        (
            "words: {}\nadjusted: {}\nrules:\n"
            "  - {name: a, match: {split: t}, set: {split: testing}, reason: r}\n"
            "  - {name: a, match: {split: u}, set: {split: testing}, reason: r}\n",
            "two rules have the name 'a'",
        ),
        (
            "words: {}\nadjusted: {}\nrules:\n"
            "  - {name: a, match: {spilt: t}, set: {split: testing}, reason: r}\n",
            "spilt",
        ),
        (
            "words: {}\nrules: []\nadjusted: {amri: {metric: mrx, adjustment: index}}\n",
            "unknown metric 'mrx'",
        ),
    ],
)
def test_bad_rules_are_refused(tmp_path, text, message):
    path = tmp_path / "published.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RankadjustError, match=message):
        load_rules(path)
