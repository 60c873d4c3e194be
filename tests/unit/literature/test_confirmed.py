"""Published values confirm a data set that a table does not print.

The values of RotatE are in resources/published/pykeen-configurations.csv.
"""

import pytest

from rankadjust.literature.results import read_results
from rankadjust.tables.facts import reasons_in as entries

HEADER = "| Model | MRR | Hits@10 |\n|---|---|---|\n"


def why(tmp_path, text, name="a.md"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return [entries(text).get("dataset") for text in read_results(tmp_path / name).rows["assumed"]]


def test_two_values_of_a_model_confirm_the_data_set_of_the_whole_table(tmp_path):
    found = why(tmp_path, f"# FB15k-237\n\n{HEADER}| RotatE | 0.338 | 0.533 |\n| X | 0.4 | 0.5 |\n")
    assert len(found) == 4
    assert all(text.startswith("from the text 'FB15k-237', confirmed by 2 values of ") for text in found)


@pytest.mark.parametrize(
    ("title", "row"),
    [
        ("FB15k-237", "RotatE | 0.338 | 0.534"),  # one value alone may be equal by chance
        ("FB15k-237", "X | 0.338 | 0.533"),
        ("FB15k-237", "RotatE | 0.34 | 0.53"),
        ("WN18RR", "RotatE | 0.338 | 0.533"),
    ],
)
def test_other_models_data_sets_and_digits_confirm_nothing(tmp_path, title, row):
    found = why(tmp_path, f"# {title}\n\n{HEADER}| {row} |\n")
    assert found == [f"from the text '{title}'"] * 2


def test_percent_is_compared_as_a_fraction(tmp_path):
    found = why(tmp_path, f"# FB15k-237\n\n{HEADER}| RotatE | 33.8 | 53.3 |\n")
    assert all("confirmed by 2 values" in text for text in found)
