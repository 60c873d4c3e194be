"""The first screen of the report against the command: the same sentences, refusals, and what can be copied."""

import json
import re
import shlex

import pytest
from click.testing import CliRunner

from harness.chromium import scrolls_sideways, violations
from rankadjust import adjust
from rankadjust.cli.commands import commands
from rankadjust.output.adjusted_text import counting, meaning

pytestmark = pytest.mark.browser

ASK = """async cases => {
  const answers = [];
  for (const [dataset, metric, value, evaluation] of cases) {
    const fields = question.form.elements;
    fields.dataset.value = dataset;
    fields.value.value = value;
    await question.show({ metric, evaluation });
    answers.push([document.getElementById("sentence").textContent, fields.evaluation.value, fields.metric.value]);
  }
  return answers;
}"""


def ready(page):
    page.locator("#question[data-ready]").wait_for()
    return page


@pytest.fixture(scope="module")
def shared(shared_page_of, literature_page):
    return ready(shared_page_of(literature_page))


def ask(page, *cases):
    """Return what is said of each data set, metric, value and evaluation, and what was chosen of the last two."""
    return page.evaluate(ASK, [list(case) for case in cases])


@pytest.mark.parametrize(
    ("dataset", "metric", "value", "evaluation"),
    [
        ("FB15k-237", "mrr", "0.338", "filtered,testing,both"),
        ("FB15k-237", "hits@10", "53.3%", "filtered,testing,both"),
        ("WN18RR", "mr", "3340", "filtered,testing,both"),
        ("Nations", "mrr", "0.3", "filtered,testing,tail"),
        ("Kinships", "hits@1", "0.5", "pykeen,testing,both"),
        ("GraIL-NELL995-v1", "mrr", "0.6", "sampled-49,inference_testing,both"),
        ("ogbl-wikikg2", "mrr", "0.7", "sampled-500,testing,both"),
    ],
)
def test_it_says_what_the_command_says(shared, dataset, metric, value, evaluation):
    ((said, of, shown),) = ask(shared, (dataset, metric, value, evaluation))
    assert (of, shown) == (evaluation, metric)
    protocol, split, side = evaluation.split(",")
    adjusted = vars(adjust(value, dataset=dataset, protocol=protocol, split=split, side=side, metric=metric))
    # The command prints a value as it was typed.
    adjusted |= {"text": value}
    for sentence in counting(adjusted):
        assert sentence in said
    # How far from chance in standard deviations only the command says; chance below 1 % of a value is not said.
    if adjusted["status"] == "bounded":
        assert "of the way from chance" in said
    elif metric == "mr" or adjusted["expectation"] > 0.01 * adjusted["value"]:
        assert re.split(r"[;,] (?:a|no|\d)", meaning(adjusted))[0].rstrip(".") in said
    else:
        assert "chance" not in said


def test_30_sentences_about_counting_are_those_of_the_command(shared):
    """Drawn from all evaluations of the page; each value is halfway from what counting reaches to the best."""
    drawn = shared.evaluate(
        """() => Object.entries(question.loaded).flatMap(([dataset, evaluations]) => evaluations.flatMap((one) =>
          Object.entries(one.metrics).filter(([, { counting }]) => counting !== undefined && counting < 1).map(
            ([metric, { counting }]) => [dataset, metric, ((1 + counting) / 2).toFixed(3),
              [one.protocol, one.split, one.side].join(",")])))"""
    )
    cases = drawn[:: len(drawn) // 30]
    assert len(cases) >= 30
    for (dataset, metric, value, evaluation), (said, *_) in zip(cases, ask(shared, *cases), strict=True):
        protocol, split, side = evaluation.split(",")
        adjusted = vars(
            adjust(value, dataset=dataset, protocol=protocol, split=split, side=side, metric=metric)
        )
        (sentence,) = counting(adjusted | {"text": value})
        assert sentence in said, (dataset, metric, evaluation)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("33.8", "MRR is from 0 to 1, so 33.8 cannot be its value; if it is a percentage, write 33.8%."),
        ("338", "MRR is from 0 to 1, so 338 cannot be its value."),
        ("0,338", "'0,338' is not a value; write a number such as 0.338 or 33.8%."),
    ],
)
def test_a_value_that_cannot_be_is_refused(shared, value, said):
    assert ask(shared, ("FB15k-237", "mrr", value, ""))[0][0] == said


def test_a_place_is_counted_among_the_models_of_the_board(shared):
    """FB15k-237 is led by AdaProp with 0.4173 (adaprop.csv)."""
    first, last = ask(shared, ("FB15k-237", "mrr", "0.5", ""), ("FB15k-237", "mrr", "0.01", ""))
    assert "it would have place 1." in first[0]
    models = int(last[0].split("Among ")[1].split()[0])
    assert f"it would have place {models + 1}." in last[0]
    assert "0.4173, AdaProp, 2022" in shared.locator(".legend").inner_text()


@pytest.mark.parametrize("name", ["fb15k237", "FB15K 237", " fb237 "])
def test_a_data_set_is_found_under_its_aliases(shared, name):
    assert "popularity" in ask(shared, (name, "mrr", "0.3", ""))[0][0]


def test_an_unknown_data_set_is_named_and_nothing_is_shown(shared):
    said = ask(shared, ("no <b>such</b> set", "mrr", "0.3", ""))[0][0]
    assert said == "There is no data set 'no <b>such</b> set'; the list has those that are known."
    assert shared.locator("#strip *").count() == 0


def test_the_evaluation_is_the_usual_one_in_words_and_can_be_changed(page_of, literature_page):
    page = ready(page_of(literature_page))
    page.locator("[name=dataset]").first.fill("GraIL-NELL995-v1")
    chosen = page.locator("#question [name=evaluation] option:checked")
    assert chosen.inner_text().startswith("49 negatives a side, inference test, both sides (GraIL, NodePiece")
    options = page.locator("#question [name=evaluation] option").all_inner_texts()
    assert len(options) > 10
    page.locator("#question [name=evaluation]").select_option(index=3)
    page.locator("#question [name=value]").fill("0.5")
    assert chosen.inner_text() == options[3]
    assert page.locator("#strip .you").count() == 2


def test_what_is_copied_works(page_of, literature_page):
    page = ready(page_of(literature_page, address="dataset=WN18RR&metric=hits@10&value=53.3%25"))
    sentence = page.locator("#sentence").inner_text()
    assert "Hits@10 0.533 takes" in sentence
    copied = {}
    for name in ("latex", "link", "json", "command"):
        page.locator(f".copies [name={name}]").click()
        page.locator("#copied").wait_for()
        copied[name] = page.locator("#copied").inner_text()
    assert "\\%" in copied["latex"]
    assert copied["latex"].endswith("\\cite{rankadjust}")
    assert json.loads(copied["json"])["value"] == 0.533
    again = ready(page_of(literature_page, address=copied["link"].partition("#")[2]))
    assert again.locator("#sentence").inner_text() == sentence
    done = CliRunner().invoke(commands, shlex.split(copied["command"])[1:])
    assert done.exit_code == 0, done.output
    assert "Hits@10 0.533 takes" in done.output


@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_and_is_accessible(page_of, literature_page, width):
    page = ready(page_of(literature_page, width, address="dataset=FB15k-237&value=0.338"))
    assert not scrolls_sideways(page)
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []
    # The answer is on the first screen.
    assert page.locator("#sentence").bounding_box()["y"] < 800
