"""The calculator of the report against the library: the same numbers, the same words, the same refusals."""

import random
import shlex
import subprocess
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import polars as pl
import pytest

from harness.chromium import scrolls_sideways, violations
from rankadjust.base.errors import RankadjustError
from rankadjust.base.printed import read_number
from rankadjust.base.vocabulary import PRINTED_SPLITS
from rankadjust.chance.metrics import resolve
from rankadjust.database.arithmetic import has_bounds
from rankadjust.database.constants import Constants
from rankadjust.database.histograms import Histograms
from rankadjust.database.store import load_candidates, load_database, with_released
from rankadjust.evaluation.one_value import adjust
from rankadjust.output.adjusted_text import adjusted_values
from rankadjust.output.terminal import number

pytestmark = pytest.mark.browser
# What the command adds to a reason: the calculator never draws.
WHY_NOT_DRAWN = ", and no p is drawn (only for at most 2,500 tasks with a value near chance)"

DATA = Path(__file__).parents[1] / "data"
MRR = "inverse_harmonic_mean_rank"
NUMBERS = [
    *("value", "value_low", "value_high", "expectation", "expectation_low", "expectation_high", "ratio"),
    *("index", "index_low", "index_high", "z", "z_low", "z_high", "z_random_scorer"),
]
# What a reader does for each case, and what stands there afterwards.
CALCULATE = """cases => cases.map(wanted => {
  const form = document.getElementById("calculator-form");
  for (const name of ["dataset", "protocol", "split", "side", "metric", "scores", "value"]) {
    const field = form.elements.namedItem(name);
    field.value = wanted[name];
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }
  const text = id => document.getElementById(id).innerText;
  const result = document.getElementById("calculator-result");
  const rows = result.hidden ? [] : [...result.querySelectorAll("tr")];
  const cells = rows.map(row => [...row.cells].map(cell => cell.textContent));
  return {
    chosen: calculatorForm.state(),
    adjusted: calculatorForm.adjusted,
    title: result.hidden ? null : result.querySelector("caption").textContent,
    cells,
    notes: [...document.querySelectorAll("#calculator-notes p")].map(note => note.textContent),
    sentence: document.getElementById("calculator-sentence").textContent,
    command: document.querySelector("#calculator-command code").textContent,
  };
})"""


@pytest.fixture(scope="module")
def database(small_database):
    """Return the constants that the page has: those of the run, and of the release what the run lacks."""
    together = with_released(load_database(small_database), load_database())
    return together.filter(pl.col("split").is_in(PRINTED_SPLITS), pl.col("split") != "training")


@pytest.fixture(scope="module")
def histograms(small_database):
    return Histograms([load_candidates(small_database.with_name("candidates.parquet")), load_candidates()])


def ready(page):
    page.wait_for_function("!document.getElementById('calculator-fields').disabled")
    return page


@pytest.fixture(scope="module")
def calculator(shared_page_of, page_without_tables):
    """Return a page with the calculator that all tests share which only ask its functions."""
    return ready(shared_page_of(page_without_tables))


@pytest.fixture
def open_calculator(page_of, page_without_tables):
    def opened(width=1600, scheme="light", address="view=calculator"):
        return ready(page_of(page_without_tables, width, scheme, address=address))

    return opened


def sampled(database, seed):
    """Return 200 rows of the database, each kind of row among them."""
    kinds = {
        # Bounds only; constants unknown; every ranking has the same value; data with times; anything.
        "bounded": (has_bounds(), 15),
        "unknown": (pl.col("expectation").is_null() & ~has_bounds(), 5),
        "constant": (pl.col("variance") == 0, 15),
        "times": (pl.col("variance_random_scorer") != pl.col("variance_static_scorer"), 30),
        "main": (pl.col("metric").is_in([MRR, "arithmetic_mean_rank", "hits_at_10"]), 60),
        "any": (pl.lit(True), 75),
    }
    return [
        row
        for kind, count in kinds.values()
        for row in database.filter(kind).sample(count, seed=seed).iter_rows(named=True)
    ]


def written(draw, row):
    """Return a value of a row's metric as somebody might print it: possible and impossible ones."""
    metric = resolve(row["metric"])
    chance = row["expectation"] if row["expectation"] is not None else row["expectation_low"] or 0.1
    if metric.upper <= 1:
        share = draw.choice(
            [draw.uniform(0, metric.upper), draw.uniform(0, 2 * chance), metric.upper, draw.random() / 50]
        )
        text = f"{share:.{draw.randint(1, 6)}f}"
        forms = [
            text,
            text,
            text + "0" * draw.randint(1, 3),
            text.replace(".", ","),
            text.lstrip("0") or "0",
            f"{100 * share:.{draw.randint(0, 3)}f}%",
            f"{100 * share:.1f} %",
            f"{100 * share:.1f}",
            f"{text} ± 0.002",
            f"−{text}",
            f"{share:.2e}",
        ]
        return draw.choice(forms)
    rank = draw.choice(
        [draw.uniform(1, 2 * chance), draw.uniform(0.5, 4 * chance), 1.0, 10 ** draw.uniform(0, 8)]
    )
    return draw.choice(
        [f"{rank:.0f}", f"{rank:.1f}", f"{rank:.2f}", f"{rank:,.0f}", f"{rank:,.1f}", f"{rank:.0f}%"]
    )


@pytest.mark.parametrize("seed", [1])
def test_200_random_values_are_adjusted_as_the_library_does(calculator, database, histograms, seed):
    draw = random.Random(seed)
    cases = []
    for row in sampled(database, seed):
        value = written(draw, row)
        if draw.random() < 0.03:
            value = draw.choice(["abc", "0.3.4", "nan", "1e400", "12 34", "0,33,8", "'0.3'", "0.338 0.339"])
        scores = draw.choice(["", "per_time", "static"])
        keys = ("dataset", "protocol", "split", "side", "metric")
        cases.append({key: row[key] for key in keys} | {"scores": scores, "value": value})
    shown = calculator.evaluate(CALCULATE, cases)
    outcomes = Counter()
    for case, found in zip(cases, shown, strict=True):
        assert found["chosen"] == case
        expected = answer(case, database, histograms)
        if isinstance(expected, str):
            assert (found["sentence"], found["cells"], found["notes"]) == (expected, [], []), case
            outcomes["refused"] += 1
            continue
        adjusted = found["adjusted"]
        assert {name: adjusted[name] for name in NUMBERS} == {
            name: getattr(expected, name) for name in NUMBERS
        }
        assert (adjusted["status"], adjusted["scores_used"]) == (expected.status, expected.scores_used)
        # The calculator has no baselines, and draws no random scorer (docs/evaluate.md).
        left_out = ("p_random_scorer", "draws_reaching", "baseline", "baseline_value", "gain")
        row = asdict(expected) | dict.fromkeys(left_out) | {"text": case["value"].strip()}
        lines = adjusted_values([row], everything=True).splitlines()
        lines = [line.replace(WHY_NOT_DRAWN, "") for line in lines]
        height = 5 + (expected.ratio is not None)
        table = [f"{name:22}{value:>10}  {ends}".rstrip() for name, value, ends in found["cells"][:height]]
        shown_lines = [found["title"], *table, *found["notes"], found["sentence"]]
        assert shown_lines == lines, case
        # Below stands the z of the other null model, where the two differ.
        assert len(found["cells"]) == height + (adjusted["z_other_scorer"] is not None)
        outcomes[expected.status] += 1
    # The sample has to hold something of everything.
    assert 20 < outcomes["refused"] < 120
    assert outcomes["bounded"] >= 5


def answer(case, database, histograms):
    """Return what the library says of a case: an Adjusted, or the message of its refusal."""
    arguments = case | {"scores": case["scores"] or None}
    try:
        return adjust(arguments.pop("value"), **arguments, database=Constants(database, histograms))
    except RankadjustError as error:
        return str(error)


NAMES = [
    "fb15k237", "wn18rr", "FB15K 237", "WDsinger", "WordNet-18 (RR)", " nations ",
    "FB15k-273", "WN18R", "ConceptNet", "icews14", "CoDEx",
    "Kinship", "no such data set", "", "NELL-995-h100", "<b>x</b>",
]  # fmt: skip


def test_data_sets_are_understood_as_the_command_does(calculator, database, histograms):
    case = {
        "protocol": "filtered",
        "split": "testing",
        "side": "both",
        "metric": MRR,
        "scores": "",
        "value": "0.338",
    }
    shown = calculator.evaluate(CALCULATE, [case | {"dataset": name} for name in NAMES])
    told = []
    for name, found in zip(NAMES, shown, strict=True):
        try:
            expected = adjust(
                "0.338", dataset=name, metric="mrr", database=Constants(database, histograms)
            ).dataset
        except RankadjustError as error:
            expected = str(error)
        told.append(found["adjusted"]["dataset"] if found["adjusted"] else found["sentence"])
        unknown = "unknown data set" in expected
        # Beside the field is the list of all names.
        listed = f"{expected.partition('; ')[0]}; the field lists those that the page has"
        assert told[-1] == (listed if unknown else expected)
    assert told[:2] == ["FB15k-237", "WN18RR"]
    assert told[6] == "unknown data set 'FB15k-273'; the field lists those that the page has"


def test_numbers_are_written_as_python_writes_them(calculator):
    draw = random.Random(4)
    # Every kind of exponent, ties that go to the even digit, and values that round up to one digit more.
    values = [draw.choice([-1, 1]) * 10 ** draw.uniform(-12, 9) for _ in range(1000)]
    values += [(2 * draw.randint(0, 5000) + 1) / 2 ** draw.randint(1, 9) for _ in range(1000)]
    values += [0.0, 0.5, 1.5, 2.5, 9999.5, 99995.0, 9.9995, 0.00099995, 123456789.0, -0.04, 5e-324]
    found = calculator.evaluate(
        """values => values.map(value => [
          python.general(value, 4), python.general(value, 6), python.fixed(value, 0), python.fixed(value, 1),
          calculator.number(value), calculator.number(value, 5), calculator.number(value, 2)])""",
        values,
    )
    assert found == [
        [f"{v:.4g}", f"{v:.6g}", f"{v:.0f}", f"{v:.1f}", number(v), number(v, 5), number(v, 2)]
        for v in values
    ]


def test_numbers_are_read_as_the_library_reads_them(calculator):
    draw = random.Random(5)
    pieces = (
        list("0123456789") * 3 + list(".,.,%-+−＋eE 's’±_()\u00a0\u2009\t𝟑٣３") + ["0.", "000", ",000", "%"]
    )
    texts = ["".join(draw.choices(pieces, k=draw.randint(1, 9))) for _ in range(3000)]
    texts += [
        "1,234",
        "0,338",
        "12,345.6",
        "12 345",
        "1'234.5",
        ".797",
        "1e-3",
        "33.8 %",
        "0.338 ± 0.002",
        "5.",
        "-.5e2",
    ]
    found = calculator.evaluate(
        """texts => texts.map(text => {
          const number = printed.read(text);
          if (number === null) return null;
          const { text: digits, other, percent } = number;
          return [digits, other, percent, ...printed.interval(digits, percent)];
        })""",
        texts,
    )
    expected = []
    for text in texts:
        read = read_number(text)
        expected.append(
            None
            if read is None
            else [read.text, read.other, read.percent, *read.interval(percent=read.percent)]
        )
    assert found == expected
    assert sum(one is not None for one in expected) > 300


def test_what_is_typed_stands_in_the_address_and_can_be_opened_again(open_calculator):
    page = open_calculator()
    page.get_by_label("Data set", exact=True).fill("wn18rr")
    page.get_by_label("Split", exact=True).select_option("validation")
    page.get_by_label("Metric", exact=True).select_option(label="Hits@10")
    page.get_by_label("Value as printed", exact=True).fill("53.3%")
    sentence = page.locator("#calculator-sentence").inner_text()
    assert sentence.startswith("Hits@10 0.533 is 53.3 % of the way from chance")
    page.wait_for_function("location.hash.includes('53.3')")
    again = open_calculator(address=page.url.partition("#")[2])
    again.wait_for_function("document.getElementById('calculator-sentence').textContent !== ''")
    assert again.locator("#calculator-sentence").inner_text() == sentence
    assert (
        again.locator("#calculator-result caption")
        .inner_text()
        .startswith("WN18RR, filtered, validation, side both")
    )


@pytest.mark.parametrize(
    "address",
    [
        "dataset=FB15k-237&value=0.338",
        "dataset=WN18RR&split=validation&side=head&metric=hits_at_10&value=53.3%25",
        f"dataset=ICEWS18&metric={MRR}&value=0,338&scores=static",
        "dataset=FB15k-237&metric=arithmetic_mean_rank&value=1 234.5",
    ],
)
def test_the_printed_command_can_be_typed_by_whoever_has_the_page(open_calculator, tmp_path, address):
    page = open_calculator(address=f"view=calculator&{address}")
    page.wait_for_function("document.getElementById('calculator-sentence').textContent !== ''")
    program, *words = shlex.split(page.locator("#calculator-command code").inner_text())
    assert program == "rankadjust"
    done = subprocess.run(
        [sys.executable, "-m", "rankadjust", *words], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert page.locator("#calculator-sentence").inner_text() in done.stdout


@pytest.mark.parametrize("value", ["0.338", "1.5"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_calculator_is_accessible_on_a_phone(open_calculator, scheme, value):
    page = open_calculator(360, scheme, f"view=calculator&dataset=ICEWS18&value={value}")
    assert violations(page, "#calculator") == []
    assert not scrolls_sideways(page)


def test_data_sets_of_the_run_come_first(page_of, small_page, small_database):
    page = page_of(small_page, address="view=calculator&dataset=Nations&value=0.43")
    page.wait_for_function("document.getElementById('calculator-sentence').textContent !== ''")
    own = sorted(load_database(small_database)["dataset"].unique())
    offered = page.evaluate(
        "[...document.getElementById('calculator-datasets').options].map(one => one.value)"
    )
    assert offered[: len(own)] == own
    assert len(offered) > 80
    assert page.locator("#calculator-command code").inner_text().endswith("--results results 0.43")
