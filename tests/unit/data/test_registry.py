"""The registry: the shipped one, files of the user's own, names, and what is refused with file and line."""

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from rankadjust.base.errors import RankadjustError
from rankadjust.base.io import shipped
from rankadjust.base.vocabulary import SPLITS
from rankadjust.data.registry import Format, load_registry, require_readable, resolve_dataset, triples_of
from rankadjust.data.sources import File, Http, Local, Package, Zenodo

THREE = "files: {training: a.txt, validation: b.txt, testing: c.txt}"


@pytest.fixture(scope="module")
def registry():
    return load_registry()


def written(folder, text, name="mine.yaml"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# The shipped registry


def test_an_edit_of_the_shipped_registry_is_seen_by_the_next_call(tmp_path, monkeypatch):
    text = "a:\n  sources: [{kind: local, " + THREE + "}]\n"
    path = written(tmp_path, text)
    monkeypatch.setattr("rankadjust.data.registry.shipped", lambda _: path)
    assert list(load_registry()) == ["a"]
    path.write_text(text.replace("a:", "b:", 1), encoding="utf-8")
    assert list(load_registry()) == ["b"]


def test_splits_are_those_of_the_schema():
    schema = yaml.safe_load(shipped("workflow/schemas/datasets.schema.yaml").read_text(encoding="utf-8"))
    assert tuple(schema["$defs"]["split"]["enum"]) == SPLITS


def test_verified_sets_have_checksums_sizes_counts_and_a_licence(registry):
    verified = [dataset for dataset in registry.values() if dataset.verified]
    assert len(verified) == 95
    for dataset in verified:
        assert all(file.sha256 and file.bytes for files in dataset.sources for file in files), dataset.name
        assert dataset.unreadable is None
        assert set(dataset.expected["triples"]) == set(dataset.splits)
        graph = "training" if "training" in dataset.splits else "inference"
        assert {"entities", f"entities_in_{graph}", f"relations_in_{graph}"} <= set(dataset.expected)
        assert dataset.licence
        assert dataset.repository


def test_addresses_are_pinned_to_a_commit_where_they_are_verified(registry):
    urls = [
        file.source.url
        for dataset in registry.values()
        if dataset.verified
        for files in dataset.sources
        for file in files
        if isinstance(file.source, Http)
    ]
    assert len(urls) > 100
    assert [url for url in urls if not re.search(r"/[0-9a-f]{40}/", url)] == []


def test_what_a_model_is_given_of_each_set(registry):
    assert registry["UMLS"].known == ("training",)
    assert registry["family"].known == ("training", "facts")
    assert registry["ILPC2022-small"].known == ("training", "inference")
    assert registry["GraIL-NELL995-v1"].splits == tuple(
        split for split in SPLITS if split not in ("facts", "inference_testing_2", "inference_testing_3")
    )
    assert registry["NELL-Ext"].splits == tuple(
        split for split in SPLITS if split not in ("testing", "facts", "inference_validation")
    )
    assert registry["NELL-995"].format == Format("whitespace", ("head", "tail", "relation"), 1)
    assert registry["yago11k"].format.kept == ("head", "relation", "tail", "time_start", "time_end")


# Names


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Nations", "Nations"),
        (" nations ", "Nations"),
        ("fb15K-237", "FB15k-237"),
        ("FB15k237", "FB15k-237"),
        ("fb237", "FB15k-237"),
        ("WN18-RR", "WN18RR"),
        ("Kinship", "Kinships"),
        ("Aristo-v4", "AristoV4"),
        ("Countries", "Countries-S1"),
        ("FB15k-237-ind-v1", "GraIL-FB15k237-v1"),
        ("WN18RR-ind-v4", "GraIL-WN18RR-v4"),
        ("NELL-995-ind-v2", "GraIL-NELL995-v2"),
        ("InductiveNELL(version='v3')", "GraIL-NELL995-v3"),
        ("YAGO (temporal)", "YAGO-temporal"),
        ("BioKG", "BioKG"),
    ],
)
def test_names_and_aliases_in_any_case(registry, name, found):
    assert resolve_dataset(name, registry).name == found


def test_an_unknown_name_is_refused_with_what_is_close(registry):
    with pytest.raises(RankadjustError, match=r"^unknown data set 'Nation'; did you mean Nations"):
        resolve_dataset("Nation", registry)
    with pytest.raises(
        RankadjustError, match=r"^unknown data set 'xyzzy'; .rankadjust datasets. lists all, and"
    ):
        resolve_dataset("xyzzy", registry)


def test_what_cannot_be_read_says_so(registry):
    require_readable(registry["Nations"])
    with pytest.raises(
        RankadjustError, match=r"^ogbl-biokg cannot be read as it is published: its splits are PyTorch"
    ):
        require_readable(resolve_dataset("OGBBioKG", registry))


@pytest.mark.shared
def test_all_of_pykeens_data_sets_are_there(registry, shared):
    with (shared / "data" / "pykeen_datasets.csv").open(encoding="utf-8") as file:
        names = [(row["class"], row["name"], row["entities"]) for row in csv.DictReader(file)]
    assert len(names) > 40
    for class_name, name, entities in names:
        # Countries and the GraIL sets are known by other names too; docdata has no counts of ILPC 2022.
        found = resolve_dataset(class_name, registry)
        if found.role == "transductive":
            assert resolve_dataset(name, registry) == found
            expected = found.expected
            assert int(entities) in (expected.get("entities"), expected.get("entities_in_training"))


# Data sets of one's own


def test_six_lines_are_enough(tmp_path):
    path = written(
        tmp_path,
        """\
my-graph:
  sources:
    - kind: local
      files: {training: data/train.tsv, validation: data/valid.tsv, testing: ../test.tsv.gz}
""",
    )
    mine = load_registry(path)["my-graph"]
    assert mine.sources == (
        (
            File(Local(tmp_path / "data" / "train.tsv"), {"training": None}),
            File(Local(tmp_path / "data" / "valid.tsv"), {"validation": None}),
            File(Local(tmp_path.parent / "test.tsv.gz"), {"testing": None}),
        ),
    )
    assert (mine.role, mine.known, mine.verified, mine.format) == (
        "transductive",
        ("training",),
        False,
        Format(),
    )
    assert mine.origin == path
    assert "Nations" in load_registry(path)


def test_the_example_beside_the_users_files_works(project, tmp_path):
    readme = (project / "config" / "datasets.d" / "README.md").read_text(encoding="utf-8")
    # The later examples are more lines of the first entry.
    examples = re.findall(r"```yaml\n(.*?)```", readme, flags=re.DOTALL)
    assert len(examples) > 1
    registry = load_registry(written(tmp_path, "".join(examples)))
    assert set(registry) - set(load_registry()) == {"my-graph", "with-a-list"}
    assert registry["with-a-list"].entities == Format(columns=("ignore", "entity"), header_lines=1)
    assert registry["my-graph"].expected["entities"] == 104


def test_a_list_of_entities_is_one_more_file(tmp_path):
    path = written(
        tmp_path,
        "a:\n  sources: [{kind: local, files: {training: x, entities: e}}]\n"
        "  format: {delimiter: space, header_lines: 9}\n"
        "b:\n  sources: [{kind: http, url: https://h/x.zip, members: {training: x, entities: d/e}}]\n"
        "  format: {delimiter: space, entities: {columns: [ignore, entity], header_lines: 1}}\n"
        "c:\n  sources: [{kind: local, files: {training: x}}]\n"
        "d:\n  role: inductive\n  sources: [{kind: local, files: {inference: x, inference_testing: z}}]\n"
        "  expected: {entities: 3, differs: a later release}\n",
    )
    registry = load_registry(path)
    assert [registry[name].splits for name in "abc"] == [("training",)] * 3
    assert registry["a"].entities == Format(columns=("entity",))
    assert registry["b"].entities == Format(columns=("ignore", "entity"), header_lines=1)
    assert registry["b"].sources[0][0].members == {"training": "x", "entities": "d/e"}
    assert registry["c"].entities is None
    # An inductive set needs no graph to train on.
    assert (registry["d"].splits, registry["d"].known) == (("inference", "inference_testing"), ("inference",))
    assert (registry["d"].expected, registry["d"].differs) == ({"entities": 3}, "a later release")


def test_the_kinds_of_sources(tmp_path):
    digest = "a" * 64
    path = written(
        tmp_path,
        f"""\
all-kinds:
  sources:
    - {{kind: package, package: p, version: "1.0", file: p.whl, sha256: {digest}, bytes: 7, members: {{training: a/b}}}}
    - {{kind: http, url: "https://example.org/a.zip", members: {{training: a/b}}}}
    - {{kind: http, files: {{training: {{url: "https://example.org/a.gz", bytes: 5}}}}}}
    - {{kind: zenodo, record: 12, file: a.tar.gz, members: {{training: a}}}}
    - {{kind: zenodo, record: 12, files: {{training: {{file: a.txt, sha256: {digest}}}}}}}
""",
    )
    assert load_registry(path)["all-kinds"].sources == (
        (File(Package("p", "1.0", "p.whl"), {"training": "a/b"}, digest, 7),),
        (File(Http("https://example.org/a.zip"), {"training": "a/b"}),),
        (File(Http("https://example.org/a.gz"), {"training": None}, None, 5),),
        (File(Zenodo("12", "a.tar.gz"), {"training": "a"}),),
        (File(Zenodo("12", "a.txt"), {"training": None}, digest),),
    )


REFUSED = {
    "a key of the entry": ("a:\n  alias: [b]\n  sources: [LOCAL]\n", "2: unknown key 'a.alias'; did you mean aliases?"),
    "a split": (
        "a:\n  sources:\n    - kind: local\n      files: {train: x}\n",
        "4: a.sources.0.files is 'train'; did you mean training?",
    ),
    "a kind": ("a:\n  sources:\n    - {kind: htp, url: x}\n", "3: a.sources.0.kind is 'htp'; did you mean http?"),
    "no members": (
        'a:\n  sources:\n    - kind: http\n      url: "https://x/y"\n', "3: a.sources.0 lacks the key 'members'",
    ),
    "a short checksum": (
        'a:\n  sources:\n    - {kind: http, files: {training: {url: "https://x/y", sha256: abc}}}\n',
        "3: a.sources.0.files.training.sha256: 'abc' does not match '^[0-9a-f]{64}$'",
    ),
    "a column": (
        "a:\n  sources: [LOCAL]\n  format:\n    columns: [head, relation, tial]\n",
        "4: a.format.columns.2 is 'tial'; did you mean tail?",
    ),
    **{
        columns: (
            f"a:\n  sources: [LOCAL]\n  format:\n    columns: [{columns}]\n",
            "4: a: format.columns needs head, relation and tail once, and at most time, or time_start and time_end",
        )
        for columns in ("head, relation, tail, tail", "head, relation, ignore", "head, relation, tail, time_end")
    },
    "a rest that is not at the end": (
        "a:\n  sources: [LOCAL]\n  format:\n    columns: [rest, head, relation, tail]\n",
        "4: a: rest stands for all further fields; write it last in format.columns",
    ),
    "a time without the role": (
        "a:\n  role: transductive\n  sources: [LOCAL]\n  format: {columns: [head, relation, tail, time]}\n",
        "2: a: role is transductive, but by its splits and format.columns it is temporal; change one of them",
    ),
    "a role without a second graph": (
        "a:\n  sources: [LOCAL]\n  role: inductive\n",
        "3: a: role is inductive, but by its splits and format.columns it is transductive; change one of them",
    ),
    "no training split": (
        "a:\n  sources:\n    - {kind: local, files: {testing: x}}\n",
        "3: a: sources.0 has no split 'training'; name its file or member",
    ),
    "sources with other splits": (
        "a:\n  sources:\n    - LOCAL\n    - {kind: local, files: {training: x}}\n",
        "4: a: sources.1 has training, sources.0 has training, validation, testing; give every source the same files",
    ),
    "a list of entities without entities": (
        "a:\n  sources:\n    - {kind: local, files: {training: x, entities: e}}\n"
        "  format: {entities: {columns: [ignore]}}\n",
        "4: a: format.entities.columns needs entity once",
    ),
    "bounds without the number of entities": (
        "a:\n  sources: [LOCAL]\n  expected: {relations: 3}\n"
        "  without_training: {validation: FILE, testing: FILE, ranges: FILE}\n",
        "3: a.expected lacks the key 'entities'",
    ),
    "an address without a path": (
        "a:\n  sources:\n    - {kind: http, url: 'https://h/', members: {training: a}}\n",
        "3: a.sources.0.url: 'https://h/' does not match '^https?://[^/\\\\s\\\\[\\\\]]+/[^/\\\\s]'",
    ),
    "a known split that is not there": (
        "a:\n  sources: [LOCAL]\n  known: [training, facts]\n", "3: a: known names 'facts', which no source has",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_a_mistake_is_named_with_file_and_line(tmp_path, text, message):
    path = written(
        tmp_path,
        text.replace("LOCAL", "{kind: local, " + THREE + "}").replace("FILE", "{url: 'https://h/x'}"),
    )
    with pytest.raises(RankadjustError) as info:
        load_registry(path)
    assert str(info.value) == f"{path}:{message}"


# A hostile one


SOURCES = {
    "an absolute wheel": "{kind: package, package: x, version: '1', file: /victim.whl, members: {training: a}}",
    "a requirement": "{kind: package, package: 'x @ file:///v', version: '1', file: v.whl, members: {training: a}}",
    "a range": "{kind: package, package: x, version: '1.*', file: v.whl, members: {training: a}}",
    "a member": "{kind: package, package: x, version: '1', file: v.whl, members: {training: ../a}}",
    "a drive": "{kind: http, url: 'https://h/a.zip', members: {training: 'C:\\a'}}",
    "an archive of a record": "{kind: zenodo, record: 1, file: ../a.zip, members: {training: a}}",
    "a file of a record": '{kind: zenodo, record: 1, files: {training: {file: "a\\0b"}}}',
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_a_registry_is_refused_with_its_line(tmp_path, source):
    path = tmp_path / "mine.yaml"
    path.write_text(f"a:\n  sources:\n    - {source}\n")
    with pytest.raises(RankadjustError, match=r"mine\.yaml:3: a\.sources\.0\.[^\n]*(give|letters)[^\n]*$"):
        load_registry(path)


@pytest.mark.parametrize("name", ["..", "../../../X", "a/b", "123", "'a\\b'", '"a\\0"', "-a", "'{a}'"])
def test_a_name_in_a_registry_is_plain(tmp_path, name):
    path = tmp_path / "mine.yaml"
    path.write_text(f"{name}:\n  sources:\n    - {{kind: local, files: {{training: a}}}}\n")
    with pytest.raises(RankadjustError, match=r"mine\.yaml(:1)?: name of a data set: ") as caught:
        load_registry(path)
    assert "\n" not in str(caught.value)
    if name == "123":
        assert str(caught.value) == f"{path}:1: name of a data set: 123 is not text; write it in quotes"


# Names that are taken


@pytest.mark.parametrize(
    ("entry", "word"),
    [
        ("umls:\n  sources: [LOCAL]\n", "umls"),
        ("a:\n  aliases: [x, FB237]\n  sources: [LOCAL]\n", "FB237"),
        ("a:\n  ambiguous_aliases: [kinship]\n  sources: [LOCAL]\n", "kinship"),
    ],
)
def test_a_name_that_is_taken_is_refused_with_both_files(tmp_path, entry, word):
    path = written(tmp_path, "first:\n  sources: [LOCAL]\n".replace("LOCAL", "{kind: local, " + THREE + "}"))
    other = written(tmp_path, entry.replace("LOCAL", "{kind: local, " + THREE + "}"), "other.yaml")
    with pytest.raises(RankadjustError) as info:
        load_registry(path, other)
    assert str(info.value).startswith(f"{other}:1: '{word}' is a name or alias of ")
    assert re.search(r"config/datasets\.yaml:\d+\); rename one of them$", str(info.value))


def test_an_empty_file_adds_nothing(tmp_path, registry):
    assert list(load_registry(written(tmp_path, "# nothing yet\n"))) == list(registry)


def test_a_name_may_be_shared_where_both_say_so(tmp_path, registry):
    text = "mine:\n  ambiguous_aliases: [ICEWS14]\n  sources: [{kind: local, " + THREE + "}]\n"
    with pytest.raises(RankadjustError, match=r"write ICEWS14-forecasting or ICEWS14-interpolation or mine$"):
        resolve_dataset("ICEWS14", load_registry(written(tmp_path, text)))


def test_paths_start_at_the_file_that_names_them(tmp_path):
    folder = tmp_path / "deep"
    folder.mkdir()
    path = written(
        folder, "a:\n  sources: [{kind: local, files: {training: /data/x, testing: ~/y, validation: z}}]\n"
    )
    [files] = load_registry(path)["a"].sources
    assert [file.source.path for file in files] == [Path("/data/x"), Path.home() / "y", folder / "z"]


# Sizes


def test_the_registry_says_how_many_triples_a_data_set_has(registry):
    # The counts in config/datasets.yaml: 272,115 + 17,535 + 20,466, and of Wikidata5M's distinct ones.
    assert triples_of(registry["FB15k-237"]) == 310_116
    assert triples_of(registry["Wikidata5M"]) == 20_624_239
    assert triples_of(registry["Hetionet"]) > 2_000_000


def test_without_counts_the_size_of_the_files_says_it(registry, tmp_path):
    assert triples_of(replace(registry["FB15k-237"], expected={})) == 25_000_000
    files = "{training: train.txt, validation: valid.txt, testing: test.txt.gz}"
    path = written(tmp_path, f"Own:\n  sources: [{{kind: local, files: {files}}}]\n")
    (tmp_path / "train.txt").write_bytes(bytes(1200))
    (tmp_path / "valid.txt").write_bytes(bytes(120))
    own = load_registry(path)["Own"]
    assert triples_of(own) == 25_000_000
    (tmp_path / "test.txt.gz").write_bytes(bytes(60))
    # 1,380 bytes, and at least six a triple.
    assert triples_of(own) == 230
