"""The command line: what people type, what they read, and that it starts at once."""

import doctest
import importlib
import json
import shlex
import shutil
import subprocess
import sys

import polars as pl
import pytest
from click.testing import CliRunner

import rankadjust
from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import LAYOUTS
from rankadjust.base.provenance import PACKAGE
from rankadjust.base.version import VERSION
from rankadjust.cli.commands import commands
from rankadjust.database.store import write_baselines, write_candidates, write_database
from rankadjust.output.terminal import SAMPLED
from tests.release import DATA, make_release
from tests.sessions import sessions


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    return make_release(tmp_path_factory.mktemp("release"))


def run_line(line, *more):
    """Run a command line: exit code, output, error."""
    result = CliRunner().invoke(commands, [*shlex.split(line), *map(str, more)])
    if isinstance(result.exception, RankadjustError):
        return 1, result.stdout, f"error: {result.exception}"
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def run(database, monkeypatch):
    """Return a function that runs a command line on the small release: exit code, output, error."""
    monkeypatch.setattr("rankadjust.database.store.RELEASED", str(database))

    return run_line


# --- documents ------------------------------------------------------------------------------------------------


def test_the_command_alone_opens_with_an_example():
    _, printed, error = run_line("")
    assert "rankadjust adjust --dataset FB15k-237 mrr=0.338" in (printed + error).split("Options:")[0]


@pytest.mark.parametrize(
    ("document", "least"),
    [("README.md", 1), ("docs/adjust.md", 5), ("docs/evaluate.md", 1)],
)
def test_sessions_of_the_documents_print_what_they_say(project, run, monkeypatch, document, least):
    monkeypatch.chdir(project)
    check_sessions(project / document, least, run)


@pytest.mark.parametrize(
    ("document", "least"),
    [
        ("docs/sampled.md", 1),
        ("docs/checking.md", 2),
        ("docs/tables.md", 1),
        ("docs/compare.md", 3),
    ],
)
def test_sessions_on_the_released_database_print_what_they_say(project, monkeypatch, document, least):
    monkeypatch.chdir(project)
    check_sessions(project / document, least, run_line)


def check_sessions(document, least, run):
    # Those on the results of a run are tried on a run: tests/workflow/test_workflow.py.
    found = [
        session for session in sessions(document.read_text(encoding="utf-8")) if "--results" not in session[0]
    ]
    assert len(found) >= least
    for command, expected in found:
        name, _, rest = command.partition(" ")
        assert name == "rankadjust"
        _, output, error = run(rest)
        assert (command, (output + error).rstrip("\n")) == (command, expected)


# --- adjust ---------------------------------------------------------------------------------------------------


def test_one_value(run):
    code, output, _ = run("adjust --dataset FB15k-237 mrr=0.338")
    assert code == 0
    assert "FB15k-237, filtered, test, both sides: 40,932 tasks" in output
    assert "0.0007111" in output
    chance, counting, rest = output.splitlines()[-3:]
    assert chance == "MRR 0.338 is 33.8 % of the way from chance (0.0007111) to perfect (1)."
    assert counting == "Counting training triples alone reaches 0.2345 (popularity): MRR 0.338 takes"
    assert rest == "  13.5 % of the headroom."
    assert "counting (rules)" in run("adjust --against rules --dataset FB15k-237 mrr=0.338")[1]


def test_several_values_and_metrics_as_json(run):
    code, output, _ = run("adjust --json --dataset nations mrr=.4304 hits@10=96.5% mr=4.20")
    rows = json.loads(output)
    assert code == 0
    assert [row["metric"] for row in rows] == [
        "inverse_harmonic_mean_rank",
        "hits_at_10",
        "arithmetic_mean_rank",
    ]
    assert [row["value"] for row in rows] == [0.4304, 0.965, 4.2]
    assert [row["value_low"] for row in rows] == [0.43035, 0.9645, 4.195]
    # ComplEx on Nations: manuscript_16_runs_published_vs_correct.tsv of the development data, from unrounded values.
    assert rows[0]["index"] == pytest.approx(0.0747, abs=1e-4)
    assert rows[0]["z"] == pytest.approx(3.4157, abs=5e-3)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--dataset Nation mrr=0.3", "unknown data set 'Nation'; did you mean Nations?"),
        ("--dataset Nations mrrr=0.3", "unknown metric 'mrrr'; did you mean mrr"),
        ("--dataset Nations mrr=x", "'x' is not a value; write a number such as 0.338 or 33.8%"),
        (
            "--dataset Nations mr=25",
            "is at most 7.95522, which is reached if every true answer ranks last among its",
        ),
        ("--dataset FB15k hits@7=0.3", "Hits@7 is not in the database for FB15k (filtered, testing)"),
        (
            "--dataset Nations std=0.3",
            "Standard deviation cannot be adjusted, because its expectation under chance is not known",
        ),
        ("--dataset ICEWS14 mrr=0.3", "'ICEWS14' does not say which data set is meant; write ICEWS14-"),
        ("--dataset Nations mrr=-0.1", "is from 0 to 1, so -0.1 cannot be its value"),
        ("--dataset Nations --side booth mrr=0.3", "did you mean both?"),
    ],
)
def test_mistakes_are_one_line_with_the_remedy(run, line, message):
    code, output, error = run(f"adjust {line}")
    assert (code, output) == (1, "")
    assert message in error
    assert "\n" not in error


@pytest.mark.parametrize("command", ["adjust", "evaluate", "rescore"])
def test_help_has_one_example_a_line(run, command):
    text = run(f"{command} --help")[1]
    examples = text[text.index("Examples:") :].splitlines()[1:]
    assert len(examples) >= 2
    assert all(line.strip().startswith(f"rankadjust {command} ") for line in examples)
    assert "\\b" not in text


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("adjust --dataset Nations 0.3", "0.3 is neither a metric with its value, such as mrr=0.338"),
        ("adjust --dataset Nations --metrik mrr 0.3", "No such option '--metrik'"),
        ("evaluate --output result.xlsx missing.csv", "result.xlsx must end in .parquet or .tsv or .csv"),
    ],
)
def test_a_mistake_in_an_option_is_seen_before_anything_is_read(run, line, message):
    code, _, error = run(line)
    assert code == 2
    assert message in error


def test_the_table_that_ships_with_rankadjust_is_found_in_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    table = "resources/published/conve.csv"
    assert run_line(f"rescore {table}")[1].startswith("40 of 40 numbers read")
    assert run_line(f"check {table}")[1].startswith("40 of 40 numbers read")
    assert "Read paper/check.md first." in run_line(f"paper {table}")[1]
    assert (tmp_path / "paper" / "table.md").stat().st_size


def test_the_list_of_commands_is_not_cut():
    assert "..." not in run_line("--help")[1].split("Commands:")[1]


def test_a_mistake_in_an_option_is_an_error_like_any_other():
    done = subprocess.run(
        [sys.executable, "-m", "rankadjust", "adjust", "--none", "mrr=0.3"],
        capture_output=True,
        text=True,
        check=False,
    )
    usage, error = done.stderr.splitlines()
    assert (done.returncode, usage) == (2, "Usage: rankadjust adjust [OPTIONS] VALUE...")
    assert error.startswith("error: No such option '--none'")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("datasets", "FB15k-237"),
        ("protocols", "filtered"),
        ("protocols", SAMPLED),
        ("metrics", "MR"),
    ],
)
def test_a_listing_has_json_too(run, line, name):
    code, text, _ = run(line)
    assert (code, name in text) == (0, True)
    assert f"{name}" in json.dumps(json.loads(run(f"{line} --json")[1]))


def test_data_sets_are_listed_under_their_usual_evaluation_in_100_columns(run):
    text = run("datasets")[1]
    assert max(map(len, text.splitlines())) <= 100
    # Of FB15k-237: tests/data/evaluation/fb15k-237.tsv and docs/methods-baselines.md.
    words = next(line.split() for line in text.splitlines() if line.startswith("FB15k-237 "))
    assert words == ["FB15k-237", "transductive", "40,932", "0.0007111", "0.2345", "counted"]
    known = {row["name"]: row["known"] for row in json.loads(run("datasets --json")[1])}
    assert (known["Nations"], known["AristoV4"], known["FBNELL"]) == ("counted", "approximate", "no data")
    assert "no data: count it ('snakemake --cores all database --config datasets=NAME')" in text


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("datasets codex", ["CoDEx-L", "CoDEx-M", "CoDEx-S"]),
        ("protocols pykeen", ["pykeen", "pykeen-published"]),
        ("metrics recall", ["Hits@k"]),
    ],
)
def test_a_word_picks_what_is_listed(run, line, names):
    assert [row["name"] for row in json.loads(run(f"{line} --json")[1])] == names
    assert run(f"{line}x")[::2] == (
        1,
        f"error: no name contains '{line.split()[1]}x'; leave the word out to list all names",
    )


@pytest.mark.parametrize("suffix", ["md", "csv", "tsv", "parquet"])
def test_rescore_writes_the_rows_and_says_where(run, tmp_path, suffix):
    (tmp_path / "mine.csv").write_text(TIDY.format(hits="much"))
    output = tmp_path / "folder" / f"adjusted.{suffix}"
    code, text, error = run("rescore --output", output, tmp_path / "mine.csv")
    assert (code, text) == (0, f"2 rows: 1 adjusted, 1 not; {output}\n")
    assert error.startswith("mine.csv:3: value 'much' is not a number")
    assert output.stat().st_size


def test_the_version_is_that_of_the_program_and_of_the_database(run, database, monkeypatch, tmp_path):
    assert run("--version")[1].splitlines() == [
        f"rankadjust {VERSION}",
        f"database {VERSION}, schema {LAYOUTS['adjustments']}",
    ]
    monkeypatch.setattr("rankadjust.database.store.RELEASED", str(tmp_path / "none.parquet"))
    assert "database: none" in run("--version")[1]


# --- evaluate -------------------------------------------------------------------------------------------------


def test_evaluate_prints_the_main_rows_and_writes_all(run, tmp_path):
    output = tmp_path / "result.csv"
    code, text, _ = run("evaluate --num-candidates 10 --output", output, DATA / "evaluation/ranks.csv")
    assert code == 0
    assert "side both, given ranks: 6 tasks" in text
    assert "side head" not in text
    written = pl.read_csv(output)
    assert set(written["side"]) == {"head", "tail", "both"}
    everything = run("evaluate --num-candidates 10 --all", DATA / "evaluation/ranks.csv")[1]
    assert "side head" in everything


def test_a_single_rank_has_no_standard_error(run, tmp_path):
    (tmp_path / "one.csv").write_text("rank\n1\n", encoding="utf-8")
    code, text, _ = run("evaluate --num-candidates 10", tmp_path / "one.csv")
    assert code == 0
    assert "side both, given ranks: 1 task\n" in text
    assert "standard error" not in text


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("ranks.csv", "rank\n1\n0\n", "ranks.csv: row 3: rank is '0', but it must be a rank"),
        ("ranks.csv", "ranks\n1\n", "unknown column 'ranks'; did you mean rank?"),
        (
            "ranks.tsv",
            "rank\tside\n1\thaed\n",
            "row 2: side is 'haed', but it must be head or tail; did you mean",
        ),
        ("ranks.csv", "", "ranks.csv: there are no ranks, because it is empty"),
        ("ranks.doc", "", "not a table of ranks or scores"),
        ("ranks.parquet", "rank", "cannot be read as a table"),
        ("scores.npz", "rank", "cannot be read as numbers"),
    ],
)
def test_bad_ranks_name_the_row(run, tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    code, _, error = run("evaluate", tmp_path / name)
    assert code == 1
    assert message in error


# --- the other commands ---------------------------------------------------------------------------------------


TIDY = """model,dataset,split,side,protocol,metric,value
A,Nations,testing,both,filtered,MRR,0.50
A,Nations,testing,both,filtered,Hits@1,{hits}
"""


@pytest.mark.parametrize(("hits", "code"), [("0.30", 0), ("0.60", 1)])
def test_check_exits_with_1_where_metrics_contradict_each_other(run, tmp_path, hits, code):
    (tmp_path / "table.csv").write_text(TIDY.format(hits=hits))
    found, text, _ = run("check", tmp_path / "table.csv")
    assert found == code
    assert ("table.csv:2: A:" in text) == bool(code)


def test_check_takes_typed_values_and_says_of_them_what_it_says_of_a_table(run, tmp_path):
    (tmp_path / "table.csv").write_text(TIDY.format(hits="0.60"))
    _, of_table, _ = run("check", tmp_path / "table.csv")
    code, typed, error = run("check --dataset Nations mrr=0.50 hits@1=0.60")
    assert (code, error) == (1, "")
    assert of_table.partition(" A: ")[2].split() == " ".join(typed.splitlines()[2:]).split()
    assert run("check --dataset Nations mrr=0.50 hits@1=30%")[1].startswith(
        "Nations, filtered, test, both sides\n2 values: nothing to look at. A wrong"
    )
    reported = json.loads(run("check --json --dataset Nations mr=25 --side tail")[1])
    assert reported["contradictions"][0]["status"] == "value_impossible"
    assert "side tail" in reported["reported"][0]


def test_values_that_no_ranks_have_need_no_data_set(run):
    # MRR is at least Hits@1 + (Hits@10 - Hits@1) / 10: 0.055 + 0.024.
    code, text, _ = run("check mrr=0.06 hits@1=0.06 hits@10=0.30")
    assert code == 1
    assert "MRR is at least 0.079" in text
    # Hits@1 from 0.7 on is more than Hits@10, and so is Hits@1 than a Hits@10 up to 0.2.
    assert run("check hits@1=0.4 hits@10=0.5")[:2] == (
        0,
        "2 values: nothing to look at. A wrong digit would be found in 6 of 18 cases\n",
    )


def test_a_number_of_candidates_stands_for_a_data_set(run):
    code, text, _ = run("adjust --num-candidates 10 --json mrr=0.5 hits@1=40%")
    mrr, hits = json.loads(text)
    # The harmonic number of 10 is 7381 / 2520.
    assert (code, round(mrr["expectation"], 9), mrr["z"]) == (0, round(7381 / 25200, 9), None)
    assert round(hits["index"], 9) == round((0.4 - 0.1) / 0.9, 9)
    with_tasks = json.loads(run("adjust --num-candidates 10 --num-tasks 100 --json hits@1=40%")[1])[0]
    assert round(with_tasks["z"], 9) == 10.0
    for line, message in (
        ("mrr=0.5", "Give --dataset, --triples, or the --num-candidates of every task"),
        (
            "--num-candidates 10 gmr=2",
            "gmr is not a mean over tasks, so it depends on their number; give --num-tasks, too",
        ),
        ("--num-candidates 10 --split testing mrr=0.5", "--split has no effect on values without --dataset"),
        ("--num-candidates 10 --num-tasks 0 mrr=0.5", "tasks is 0"),
    ):
        assert message in run(f"adjust {line}")[2]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("mrr=0.5 --side tail", "--side has no effect on values without --dataset; leave it out."),
        ("mrr=0.5 mrr=0.6 --dataset Nations", "mrr is given twice; leave one of the two out."),
        ("mrr=0.5 --dataset Nations --accept", "--accept has no effect on typed values; leave it out."),
        ("mrr=0.5 none.csv --dataset Nations", "none.csv is neither a metric with its value"),
        ("mrr=much --dataset Nations", "'much' is not a value; write a number such as 0.338 or 33.8%"),
    ],
)
def test_check_says_what_is_wrong_with_typed_values(run, line, message):
    code, _, error = run(f"check {line}")
    assert code in {1, 2}
    assert message in error


PUBLISHED = "| Nations | MRR | Hits@1 |\n|---|---|---|\n| A | 0.50 | 0.301 |\n| B | 0.40 | oops |\n"


@pytest.mark.parametrize("name", ["table.md", "table.txt"])
def test_check_reads_what_read_reads_and_lists_what_it_could_not(run, tmp_path, name):
    (tmp_path / name).write_text(PUBLISHED)
    code, text, _ = run("check", tmp_path / name)
    assert code == 1
    unread = f"{name}: 1 in column 3 'Hits@1', line 4 ('oops'): not a number"
    assert text.splitlines() == ["3 of 4 numbers read: 1 to look at", unread]
    reported = json.loads(run("check --json", tmp_path / name)[1])
    assert (reported["values"], reported["reported"]) == (3, [unread])


@pytest.mark.parametrize("command", ["check", "rescore"])
def test_facts_that_a_table_does_not_say_are_listed_before_the_result(run, tmp_path, command):
    """The table has no data set, split, side or protocol; half of its values are on another side."""
    (tmp_path / "nations.csv").write_text("model,MRR,head MRR\nA,50%,40%\n")
    (tmp_path / "tidy.csv").write_text("model,dataset,side,metric,value\nA,Nations,head,MRR,0.4\n")
    _, _, error = run(command, tmp_path / "nations.csv")
    assert error.splitlines() == [
        "nations.csv does not say everything. Assumed:",
        "  data set  Nations   from the file's name                   --dataset Nations",
        "  split     testing   by default                             --split testing",
        "  side      both      by default            (1 of 2 values)",
        "  protocol  filtered  by default                             --protocol filtered",
        "Correct them with these options or in a sidecar (docs/tables.md; --ask writes one), or accept them: --accept.",
    ]
    _, _, error = run(command, tmp_path / "tidy.csv")
    assert [line.split() for line in error.splitlines()[1:-1]] == [
        ["split", "testing", "by", "default", "--split", "testing"],
        ["protocol", "filtered", "usual", "--protocol", "filtered"],
    ]


def test_what_the_index_rests_on_is_assumed_until_somebody_states_it(run, tmp_path):
    """The default side stays quiet where it hardly matters: MRR of Nations on either side differs by more."""
    table = tmp_path / "mine.md"
    table.write_text("| Model | MRR |\n|---|---|\n| A | 50.0% |\n")

    def row(*options):
        [found] = json.loads(run("rescore --json", table, *options)[1])
        return found

    taken = row("--dataset", "Nations")
    assert (taken["status"], taken["message"]) == ("assumed", "assumed: protocol, split, side")
    assert taken["grades"] == (
        "dataset given; model printed; metric printed; value printed; unit printed; "
        "split default; side default; protocol default"
    )
    stated = ["--dataset", "nations", "--protocol", "filtered", "--split", "test", "--side", "both"]
    given = row(*stated)
    assert (given["status"], given["message"], given["assumed"]) == ("ok", None, None)
    assert given["index"] == taken["index"]
    assert row("--dataset", "Nations", "--accept")["status"] == "ok"
    # What was read once keeps its grades: `rescore` of the tidy values says the same.
    run("read", table, "--dataset", "Nations", "--tidy", tmp_path / "tidy.csv")
    assert json.loads(run("rescore --json", tmp_path / "tidy.csv")[1])[0]["status"] == "assumed"
    assert json.loads(run("rescore --json", tmp_path / "tidy.csv", *stated[2:])[1])[0]["status"] == "ok"


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--dataset", "error: --dataset: unknown data set 'x1'; 'rankadjust datasets' lists them"),
        ("--split", "error: --split: unknown split 'x1'; allowed are training, validation, testing"),
        ("--side", "error: --side: unknown side 'x1'; allowed are head, tail, both"),
        ("--protocol", "error: there is no protocol 'x1'; known: filtered, "),
    ],
)
def test_a_fact_that_nobody_knows_is_refused(run, tmp_path, option, said):
    (tmp_path / "mine.md").write_text("| Model | MRR |\n|---|---|\n| A | 50% |\n")
    code, _, error = run("rescore", tmp_path / "mine.md", option, "x1")
    assert (code, error.startswith(said), len(error.splitlines())) == (1, True, 1)


def test_every_report_has_file_and_line_whatever_the_tables_are(run, tmp_path):
    (tmp_path / "tidy.csv").write_text(TIDY.format(hits="much"))
    printed = "| Nations | MRR | Hits@1 |\n|---|---|---|\n| A | 0.50 | 0.600 |\n"
    (tmp_path / "printed.md").write_text(printed)
    lines = run("check", tmp_path / "printed.md", tmp_path / "tidy.csv")[1].splitlines()
    assert lines[0] == "4 of 4 numbers read: 2 to look at"
    assert lines[1].startswith("tidy.csv:3: value 'much' is not a number")
    said = "Hits@1 0.600 and MRR 0.50 contradict each other, because no ranks have both."
    # A finding is broken at 80 columns, and its further lines are moved in.
    assert all(len(line) <= 80 for line in lines)
    assert [line.startswith("  ") for line in lines] == [False, False, True, False, True, True]
    assert " ".join(map(str.strip, lines[3:])).startswith(f"printed.md:3: A: impossible: {said}")


@pytest.mark.parametrize("command", ["check", "rescore", "read"])
def test_nothing_read_is_exit_code_1(run, tmp_path, command):
    (tmp_path / "table.md").write_text("| Name | Colour |\n|---|---|\n| A | red |\n")
    code, output, error = run(command, tmp_path / "table.md")
    assert code == 1
    said = "0 of 0 numbers read" if command == "read" else "no value was read"
    assert said in " ".join((output + error).split())


@pytest.mark.parametrize("command", ["rescore", "read", "check"])
def test_a_folder_is_no_table(run, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    code, _, error = run(f"{command} .")
    assert (code, error) == (1, "error: .: this is a folder; give a file with a table")


@pytest.mark.parametrize(
    "line", ["rescore ''", "read ''", "check ''", "evaluate ''", "verify ''", "read t.md --sidecar ''"]
)
def test_an_empty_path_is_not_the_folder_of_work(run, line):
    code, _, error = run(line)
    assert code == 2
    assert "the path is empty" in error


def test_read_tells_what_was_understood(run, tmp_path):
    (tmp_path / "table.md").write_text("| Nations | MRR | Hits@1 |\n|---|---|---|\n| A | 0.50 | 30.0% |\n")
    code, text, _ = run(f"read --write-sidecar {tmp_path}/table.yaml", tmp_path / "table.md")
    assert code == 0
    assert text.startswith("table.md: ")
    assert (tmp_path / "table.yaml").is_file()


def test_read_rescore_and_check_take_a_sidecar_in_the_same_way(run, tmp_path):
    (tmp_path / "a.md").write_text("| Model | MRR | Hits@1 |\n|---|---|---|\n| A | 0.50 | 0.600 |\n")
    (tmp_path / "stated.yaml").write_text("dataset: Nations\nsplit: validation\n")
    sidecar = f"--sidecar {tmp_path}/stated.yaml {tmp_path}/a.md"
    [read] = {
        (row["dataset"], row["split"]) for row in json.loads(run(f"read --json {sidecar}")[1])["values"]
    }
    [adjusted] = {(row["dataset"], row["split"]) for row in json.loads(run(f"rescore --json {sidecar}")[1])}
    code, text, _ = run(f"check --json {sidecar}")
    checked = json.loads(text)["contradictions"]
    assert read == adjusted == ("Nations", "validation")
    # MRR cannot be below Hits@1; without the sidecar the data set is not known.
    assert code == 1
    assert {(row["dataset"], row["split"]) for row in checked} == {read}
    assert "not named" in run(f"read {tmp_path}/a.md")[1]


# --- a run of one's own -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def own_results(tmp_path_factory):
    """Return a folder of results whose database calls Nations by a name that no registry has."""
    folder = tmp_path_factory.mktemp("own") / "results"
    (folder / "database").mkdir(parents=True)
    database = make_release(folder / "database")
    for path, write in (
        (database, write_database),
        (database.with_name("candidates.parquet"), write_candidates),
        (database.with_name("baselines.parquet"), lambda table, path: write_baselines([table], path)),
    ):
        write(pl.read_parquet(path).with_columns(pl.col("dataset").replace("Nations", "my-graph")), path)
    counts = folder / "database" / "datasets.tsv"
    counts.write_text(counts.read_text().replace("Nations\t", "my-graph\t"))
    return folder


@pytest.fixture
def results(own_results, tmp_path):
    """Return a copy of these results, from which a test may take a file."""
    return shutil.copytree(own_results, tmp_path / "results")


def test_an_own_data_set_is_found_in_the_results_of_its_run(run, results):
    released, own = (
        json.loads(run(f"adjust --json {line} mrr=0.43")[1])[0]
        for line in ("--dataset Nations", f"--results {results} --dataset MY-GRAPH")
    )
    # The same counts under another name.
    assert own == released | {"dataset": "my-graph"}
    listed = {row["name"]: row for row in json.loads(run(f"datasets --json --results {results}")[1])}
    assert (listed["my-graph"]["kind"], listed["my-graph"]["protocols"]) == (
        "transductive",
        ["filtered", "raw"],
    )
    assert "my-graph" not in run("datasets")[1]
    assert "WN18RR" not in listed


TINY = [str(DATA / "tiny" / name) for name in ("train.txt", "valid.txt", "test.txt")]


def test_triples_stand_for_a_data_set(run, tmp_path):
    """A random ranking has an MRR of 49/72: three tasks of two candidates and three of three (tests/data/tiny)."""
    found = json.loads(run("adjust mrr=0.81 --json --triples", *TINY)[1])
    assert found[0]["expectation"] == pytest.approx(49 / 72, rel=1e-12)
    ranks = tmp_path / "ranks.csv"
    ranks.write_text("triple,side,rank\n1,head,1\n1,tail,2\n2,head,1\n2,tail,1\n3,head,2\n3,tail,3\n")
    rows = json.loads(run("evaluate --json --metric mrr", ranks, "--triples", *TINY)[1])
    [both] = [row for row in rows if row["side"] == "both"]
    assert both["expectation"] == pytest.approx(49 / 72, rel=1e-12)
    compared = json.loads(run("compare --json --against best", ranks, "--triples", *TINY)[1])
    assert {row["model"] for row in compared["values"]} == {"ranks", both["baseline"]}
    # Three tasks of two candidates and three of three have a mean rank of 2.5 at most.
    assert run("check mr=2.51 --triples", *TINY)[0] == 1
    of_heads = json.loads(run("adjust mrr=0.81 --side head --json --triples", *TINY)[1])
    assert (of_heads[0]["tasks"], of_heads[0]["side"]) == (3, "head")


@pytest.mark.parametrize(
    ("suffix", "separator", "header", "columns"),
    [
        (".csv", ",", "Head,relation,TAIL,weight", ""),
        (".tsv", "\t", "", "--columns head,relation,tail,ignore"),
        (".txt", " ", "6", "--columns head,relation,tail,ignore"),
        (".parquet", "", "", ""),
    ],
)
def test_triples_are_read_in_any_format(run, tmp_path, suffix, separator, header, columns):
    files = []
    for path in TINY:
        rows = pl.read_csv(path, separator="\t", has_header=False, new_columns=["head", "relation", "tail"])
        files.append(tmp_path / f"{len(files)}{suffix}")
        if suffix == ".parquet":
            rows.write_parquet(files[-1])
        else:
            lines = [header] * bool(header) + [separator.join([*row, "1"]) for row in rows.iter_rows()]
            files[-1].write_text("\n".join(lines))
    line = f"adjust mrr=0.81 --json {columns} --triples"
    assert run(line, *files) == run("adjust mrr=0.81 --json --triples", *TINY)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--triples {0} {1} {2} --dataset Nations", "--dataset has no effect on own triples; leave it out"),
        ("--triples {0} {1} {2} --columns head,tail", "they have to be head, relation and tail"),
        ("--triples {0} - -", "give training and test triples"),
        ("--triples {0} none.txt {2}", "none.txt: there is no such file"),
    ],
)
def test_mistakes_about_own_triples(run, line, message):
    code, _, error = run(f"adjust mrr=0.81 {line.format(*map(shlex.quote, TINY))}")
    assert code in {1, 2}
    assert message in error


def test_test_triples_that_stand_in_training_are_warned_about(run):
    _, _, error = run("adjust mrr=0.81 --triples", TINY[0], TINY[1], TINY[0])
    assert "testing triples (100%) are in training, too" in error


def test_tables_name_an_own_data_set(run, results, tmp_path):
    table = tmp_path / "table.md"
    table.write_text("| my-graph | MRR |\n|---|---|\n| A | .50 |\n")
    shown = run(f"read --results {results}", table)[1].splitlines()
    assert shown[-1].startswith("first value: A my-graph MRR 0.50 fraction")
    assert run(f"check --results {results}", table)[:2] == (
        0,
        "1 of 1 number read: nothing to look at. What that is worth: docs/checking.md\n",
    )
    rows = json.loads(run(f"rescore --json --accept --results {results}", table)[1])
    assert [(row["dataset"], row["status"]) for row in rows] == [("my-graph", "ok")]
    assert run(f"rescore --results {results} --output {tmp_path}/adjusted.md", table)[0] == 0


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "adjust mrr=.5 --dataset my-grap --results {results}",
            "unknown data set 'my-grap'; did you mean my-graph?",
        ),
        ("adjust --results {results} --dataset WN18RR mrr=.3", "the database has no rows for it"),
        ("check --results {results}-none {ranks}", "-none: no finished run has its results here"),
    ],
)
def test_mistakes_with_results_are_one_line(run, results, line, message):
    code, output, error = run(line.format(results=results, ranks=DATA / "evaluation/ranks.csv"))
    assert (code, output) == (1, "")
    assert message in error
    assert "\n" not in error


# --- the package ----------------------------------------------------------------------------------------------


def test_the_public_names_are_there_and_documented():
    for name in rankadjust.__all__:
        assert getattr(rankadjust, name).__doc__
    assert set(rankadjust.__all__) <= set(dir(rankadjust))
    with pytest.raises(AttributeError, match="no attribute 'adjusted'"):
        _ = rankadjust.adjusted


def modules_with_examples():
    paths = [path for path in sorted(PACKAGE.rglob("*.py")) if ">>> " in path.read_text(encoding="utf-8")]
    return [".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in paths]


@pytest.mark.parametrize("module", modules_with_examples())
def test_the_examples_in_docstrings_give_what_they_show(module):
    tried = doctest.testmod(importlib.import_module(module))
    assert tried.attempted
    assert not tried.failed


def test_adjust_does_not_import_what_is_slow(database):
    # 0.9 is so far from chance that no random scorer is drawn: draws need numpy.random.
    code = (
        "import sys\n"
        "from rankadjust.database import store\n"
        "store.RELEASED = sys.argv[1]\n"
        "sys.argv[1:] = ['adjust', '--dataset', 'Nations', 'mrr=0.9']\n"
        "from rankadjust.cli.commands import main\n"
        "try:\n    main()\nfinally:\n"
        "    slow = {'scipy', 'yaml', 'jsonschema', 'numpy.ma', 'numpy.random'}\n"
        "    print(sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(database)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_frames_of_others_are_refused_with_what_to_do():
    lazy = pl.LazyFrame({"rank": [1], "dataset": ["Nations"], "metric": ["mrr"], "value": ["0.5"]})
    for function in (rankadjust.rescore, rankadjust.check, rankadjust.evaluate):
        with pytest.raises(
            RankadjustError, match=r"this is a polars.LazyFrame; collect it with frame.collect\(\)"
        ):
            function(lazy)
    for triples in (lazy, {"training": lazy}):
        with pytest.raises(RankadjustError, match=r"polars.LazyFrame; collect it"):
            rankadjust.count_candidates(triples, "filtered")
    with pytest.raises(
        RankadjustError,
        match=r"the table: a frame of polars, pandas or pyarrow is needed, and this is a dict; make one",
    ):
        rankadjust.rescore({"value": ["0.5"]})


# --- compare --------------------------------------------------------------------------------------------------


def test_a_comparison_is_written_for_machines(run, project, tmp_path):
    models = [project / "tests" / "data" / "compare" / name for name in ("complex", "distmult")]
    written = {}
    for suffix in ("csv", "json"):
        path = tmp_path / f"table.{suffix}"
        options = ("--metric", "mrr", "--metric", "mr", "--output", path)
        code, output, _ = run("compare", *models, "--dataset", "Kinships", *options)
        assert code == 0
        assert "complex is better than distmult by MRR and MR." in output
        written[suffix] = path.read_text(encoding="utf-8")
    rows = pl.read_csv(written["csv"].encode())
    assert rows["better"].to_list() == ["complex"] * 6
    everything = json.loads(written["json"])
    assert everything["clusters"] == 1074
    assert len(everything["values"]) == 12


@pytest.mark.parametrize(
    ("line", "kind", "options"),
    [
        ("compare a.csv b.csv", "ranks without --dataset", "--protocol raw, --split testing"),
        ("evaluate a.csv", "ranks without --dataset", "--protocol raw, --split testing, --scores static"),
        ("adjust --dataset Nations mrr=0.6", "values on a data set", "--num-candidates 10, --num-tasks 3"),
    ],
)
def test_an_option_without_effect_is_an_error(run, line, kind, options):
    """Even with the value that it has by default: who writes it expects something from it."""
    for option in options.split(", "):
        code, _, error = run(f"{line} {option}")
        assert code == 2
        assert f"{option.split()[0]} has no effect on {kind}; leave it out." in error


def test_ranks_are_held_against_a_baseline(run, project):
    """The value of the baseline is the released one, whichever way it is computed."""
    folder = project / "tests" / "data" / "compare"
    tasks = ["--tasks", folder / "kinships-tasks.parquet", "--metric", "mrr", "--json"]
    ranks = folder / "complex" / "seed-1.parquet"
    of = ["--dataset", "Kinships", "--against", "best"]
    _, out, _ = run("compare", ranks, *of, *tasks)
    values = {row["model"]: row["value"] for row in json.loads(out)["values"] if row["side"] == "both"}
    _, out, _ = run("evaluate", ranks, *of, *tasks[2:])
    row = next(row for row in json.loads(out) if row["side"] == "both")
    assert values["redundancy"] == pytest.approx(row["baseline_value"], rel=1e-12)
    assert row["baseline"] == "redundancy"
    code, _, err = run("compare", ranks, *of)
    assert code == 1
    assert "--tasks" in err


def test_mistakes_of_a_comparison_are_one_line(run, tmp_path):
    for line, message in (
        ("compare --dataset Kinships=kinships", "Missing argument 'MODEL...'"),
        (
            "compare --dataset FB15k-237 mrr=0.3 mrr=0.4",
            "mrr=0.3: printed values do not show which model is better",
        ),
        (f"compare {tmp_path / 'a.csv'} {tmp_path / 'b.csv'}", "there is no such file"),
    ):
        code, _, error = run(line)
        assert code != 0
        assert message in error


HOSTILE_TABLE = "Model,Hits@10,MRR\n\x1b[31mTransE\u202e,x\x07y,0.3\n"


@pytest.mark.parametrize("command", ["read", "rescore", "check"])
def test_nothing_in_a_table_is_a_command_to_the_terminal(tmp_path, command):
    """ESC [ colours a terminal, BEL rings it, U+202E turns the writing: none of them reaches it."""
    table = tmp_path / "nations\x1b]0;x.csv"
    table.write_text(HOSTILE_TABLE, encoding="utf-8")
    result = CliRunner().invoke(commands, [command, str(table)])
    shown = result.output + str(result.exception)
    assert r"\x1b" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


# --- full ---------------------------------------------------------------------------------------------------------


def test_full_bounds_as_json_have_every_additive_metric(run):
    line = "full --num-candidates 2757 --num-tasks 20000 --sampled 50 mrr=0.7840 hits@10=0.9012 --json"
    code, output, _ = run(line)
    found = json.loads(output)
    assert code == 0
    assert list(found["full"]) == ["mrr", "mr", "hits@1", "hits@3", "hits@5", "hits@10", "ndcg", "auc"]
    assert all(bounds["low"] < bounds["high"] for bounds in found["full"].values())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("full mrr=0.8", "Missing option '--sampled'"),
        ("full --sampled 50 --num-candidates 100 --num-tasks 9 mrr=0.8 mrr=0.7", "given twice"),
        ("full --sampled 20 --dataset tgbl-coin mrr=0.8", "earlier answers"),
        ("full --sampled 50 absent.csv", "nor an existing file"),
        ("full --sampled 50 mrr", "such as mrr=0.338"),
        ("full --sampled 500 --dataset ogbl-wikikg2 --protocol sampled-500 mrr=0.7", "not a full ranking"),
        ("full --sampled 50 --dataset FB15k mrr=0.7", "give --num-candidates (14951 if"),
    ],
)
def test_full_says_what_is_missing(run, line, message):
    code, _, error = run(line)
    assert code != 0
    assert message in error
