"""Put public bug reports and files to the product: what is right, and whether it is said, or refused in one clear line.

Usage: python -m benchmarks.cases CASES (some minutes of one core)

CASES is a folder with a folder for each case: its input, and case.md, which says what is right and why. The table below
has, for each case, the commands that a person would type there, and what must and must not be in their output. A case
is right if all holds; the line that is printed last counts them.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
READ = "rankadjust read {} --all"
# Scripts of the cases that ask the library; those that read a file of triples name the modules of today.
TRIPLES = """
from rankadjust.data.read import read_triples
from rankadjust.data.registry import Format
for delimiter, columns in {formats}:
    try:
        print(read_triples("{path}", Format(delimiter=delimiter, columns=columns)).rows())
    except Exception as error:
        print("refused:", error)
"""

LISTED = """
from rankadjust import EvaluationSet
train = [("c1", "CtD", "d1"), ("c2", "CtD", "d2"), ("c3", "up", "g")]
lists = {"CtD": {"head": ["c1", "c2", "c3"], "tail": ["d1", "d2"]}}
print(EvaluationSet.from_triples(train, None, [("c1", "CtD", "d2")], candidates=lists).histogram.rows())
"""


class Check(NamedTuple):
    """A command (or a script, if it begins with a line break), and patterns of what it must and must not print."""

    command: str
    says: Sequence[str]
    not_says: Sequence[str] = ()


def _run_of(target: str, datasets: str, until: str) -> str:
    return (
        f"snakemake {target} --until {until} --keep-going --cores 1 --snakefile {ROOT / 'Snakefile'} "
        f"--directory 'a run' --config registry={{here}}/reg.yaml datasets={datasets} offline=true"
    )


CASES: dict[str, list[Check]] = {
    "01-conve-left-right": [
        Check(READ.format("conve.log"), [r"MRR +0.414 .*tail", "assumed: side as left is the tail in ConvE"]),
        Check(READ.format("compgcn.json"), [r"MRR +0.451 .*tail", "assumed: side as left is the tail in CompGCN"]),
    ],
    "02-query-structures": [
        Check(READ.format("queries.md"), ["0 of 10 numbers read", "complex query answering"]),
        Check(READ.format("train.log"), ["0 of 8 numbers read", "complex query answering"]),
    ],
    "03-heading-prefix": [
        Check(READ.format("fb15k-237n.md"), [r"KG-X +FB15k-237N", "none of the registry"], [r"FB15k +MRR"]),
        Check(READ.format("nell.md"), [r"KG-X +NELL-995-h75", "none of the registry"]),
        Check(READ.format("results_WN18RR-ind.csv"), [r"KG-X +WN18RR-ind", "none of the registry"]),
        Check(READ.format("column.md"), ["FB15k-237N", "NELL-995-h75"]),
    ],
    "05-minus-infinity": [
        Check("rankadjust evaluate scores.npz --metric mrr", ["^error: .*-inf .*which a mask filters out"]),
        Check("rankadjust evaluate masked.npz --metric mrr --all", ["0.6806", "-0.565"]),
    ],
    "06-whitespace-cut": [
        Check(
            TRIPLES.format(path=path, formats=f"[({delimiter!r}, {columns!r})]"),
            [rf"refused: {path}:2: 5 fields between .* names 4"],
        )
        for path, delimiter, columns in (
            ("train.nt", "whitespace", ("head", "relation", "tail", "ignore")),
            ("front.txt", "whitespace", ("ignore", "head", "relation", "tail")),
            ("two.txt", "||", ("head", "relation", "tail", "ignore")),
        )
    ],
    "07-nan-label": [
        Check("python try.py", ["frame refused: .*no head", "values refused: ", "lists refused: ", "has no tail"]),
    ],
    "09-head-tail-mean": [
        Check("rankadjust check table.md --dataset FB15k-237", ["impossible", "at most 0.3115"]),
    ],
    "12-logger-prefix": [
        Check(READ.format(name), [f"{value}" for value in values])
        for name, values in (
            ("run.log", ("0.332136", "0.466610", "0.616538", "158.555632", "0.426363")),
            ("short.log", ("0.332136", "158.555632", "0.426363")),
        )
    ],
    "13-valid-test-line": [
        Check(READ.format("one.log"), [r"MRR +0.4120 .*validation", r"MRR +0.4080 .*testing", r"0.5891 .*testing"]),
        Check(READ.format("two.log"), [r"MRR +0.4133 .*validation", r"MRR +0.4080 .*testing"], [r"MRR +-1"]),
    ],
    "15-final-metrics-log": [
        Check(
            READ.format("final.log"),
            [r"9 of 9 numbers", r"TransE +NELL23K +MRR +0.2911 .*testing, tail", r"0.2211"],
            [r"traditional +NELL23K"],
        )
    ],
    "18-relation-categories-log": [
        Check(
            "rankadjust read kge.log --dataset FB15k-237 --split validation --all",
            ["244.51 .*raw", "0.30736 .*filtered-cumulative", "0.34925 .*filtered$", "4 .*prediction by relation"],
        )
    ],
    "19-common-negatives": [Check("rankadjust evaluate ddi.npz --metric hits@3 --all", ["0.6 .* 0.5 ", "one list"])],
    "20-ties-edgebank": [
        Check("rankadjust evaluate edgebank.npz --metric mrr --all", ["0.875", "0.5583", "0.4583", "0.5208"]),
        Check("rankadjust evaluate constant.npz --metric mrr --all", ["0.1736"]),
    ],
    "22-two-columns-of-ranks": [
        Check("rankadjust evaluate wide.csv --num-candidates 1000 --metric mrr", ["MRR +0.1399"]),
        Check(
            "rankadjust evaluate ranks.npy --num-candidates 1000 --metric mrr --columns rank_head,rank_tail",
            ["0.08973"],
        ),
        Check("python try.py", [r"shape \(2, 2\); name its columns"]),
    ],
    "24-semicolon-ranks": [
        Check("rankadjust evaluate a.csv --num-candidates 20 --metric mrr --all", ["0.8333", "0.4815", "0.6574"]),
        Check("rankadjust evaluate a-miss.csv --num-candidates 20 --beyond 12", ["MRR"]),
        Check("rankadjust evaluate b.csv --num-candidates 10 --metric mrr", ["0.6964"]),
        Check("rankadjust evaluate c.csv --num-candidates 10 --metric mrr", ["0.6964"]),
    ],
    "25-answers-not-found": [
        *(
            Check(f"rankadjust evaluate {name} --num-candidates 1000 --beyond 50 --metric mrr", ["0.4632", "0.4586"])
            for name in ("inf.csv", "minus.csv")
        ),
        Check("rankadjust evaluate inf.csv --num-candidates 1000", ["^error: inf.csv: row 4.*--beyond k"]),
        Check("rankadjust evaluate bounds.csv --num-candidates 1000 --metric mrr --all", ["0.4632", "0.4586"]),
    ],
    "26-prediction-files": [
        Check("rankadjust evaluate anyburl.txt --num-candidates 4", ["^error: anyburl.txt: .*--known train.txt"]),
        Check("rankadjust evaluate explainaboard.json --num-candidates 4", ["^error: explainaboard.json: not a"]),
    ],
    "27-own-candidate-lists": [
        Check("python try.py", ["filtered .*'head', 5, 1", "typed .*'head', 1, 1"]),
        Check(LISTED, [r"'head', 2, 1\), \('testing', 'tail', 1, 1"]),
    ],
    "29-hyper-relational": [
        Check("rankadjust adjust --dataset WD50K mrr=0.349", ["^error: unknown data set 'WD50K'"]),
        Check("rankadjust adjust --dataset JF17K mrr=0.574", ["^error: unknown data set 'JF17K'"]),
        Check(
            TRIPLES.format(path="train.txt", formats="[('comma', ('head', 'relation', 'tail'))]"),
            ["refused: train.txt:1: 5 fields between 'comma' where format.columns names 3"],
        ),
    ],
    "30-impossible-on-unknown-set": [
        Check("rankadjust check table.md", ["impossible: .*MRR is at least 0.079"]),
        Check("rankadjust check mrr=0.06 hits@1=0.06 hits@10=0.30", ["impossible: .*MRR is at least 0.079"]),
        Check("rankadjust check --dataset WikiPeople mrr=0.06 hits@1=0.06", ["^error: unknown data set 'WikiPeople'"]),
    ],
    "31-swapped-between-sets": [
        Check("rankadjust check table.md --model RotatE", ["MRR 0.949 contradict", "MRR 0.337 contradict"]),
    ],
    "33-openke-lists": [
        Check(
            _run_of("database", "openke-ok,openke-bad,openke-default", "encode"),
            ["openke-ok: 5 entities .1 in no triple.", "for example '38534'", "declare format.header_lines: 1"],
            ["the list of entities has 4"],
        )
    ],
    "34-expected-mrr": [Check("python try.py", ["0.00068154", "0.26449"])],
    "36-sampled-against-full": [
        Check(
            "rankadjust adjust --dataset GraIL-NELL995-v1 --protocol sampled-49 hits@10=0.595", ["0.49", "negatives"]
        ),
    ],
    "37-two-numbers-in-brackets": [
        *(
            Check(READ.format(name), [r"MRR +0.3552", r"Hits@1 +0.2614"])
            for name in ("ascii.md", "list.txt", "plain.md", "thread.md")
        ),
        Check("rankadjust read list.txt --json", [r"in brackets: 0.3810", r"0.5367"]),
    ],
    "38-model-card": [
        Check(READ.format(name), [r"rotate-x +FB15k-237 +MRR +0.338", "0.533"]) for name in ("card.md", "index.yaml")
    ],
    "40-pyg-log": [
        Check(READ.format("pyg.log"), [r"0.2310 .*validation", r"0.2301 .*testing", "assumed: .*side both, protocol"]),
    ],
    "42-inverse-doubling": [Check("python try.py", [r"\[0.61111111\d+\] \[0.61111111\d+\]", "'tail', 3, 4"])],
    "43-forgotten-validation": [Check("python try.py", [r"'head', 2, 1.*\[0.6806\]", r"'head', 3, 2.*\[0.6111\]"])],
    "45-macro-average": [Check("rankadjust evaluate ranks.csv --metric mrr", ["^error: .*column group is not read"])],
    "47-eval-script-output": [
        Check(READ.format("out.txt"), [r"predfile1.txt +WN18RR +MRR +0.502", r"predfile2.txt +WN18RR +Hits@10 +0.572"]),
    ],
    "48-mislabelled-raw": [Check(READ.format("run.log"), ["0 of 4 numbers read", "nothing says in what"])],
    "49-path-with-space": [
        Check(_run_of("database", "spaced", "count"), ["spaced: 3 entities, 1 relations, 3 / 1 / 1 triples"])
    ],
    "50-killed-run": [Check("rankadjust --version", [r"\d+\.\d+"])],
    "tables": [
        Check(READ.format("l1_blank_header.md"), ["4 of 6 numbers read", "2 in column 3, .*no header"]),
        Check(READ.format("l2_prior_best.md"), ["2 of 4 numbers read", "'TransE 0.294'"]),
        Check(READ.format("s1_two_metrics_in_header.md"), ["6 of 8 numbers read"], [r"MRR +4.3"]),
        Check("rankadjust rescore s1b_ok_wrong.md", [r"FB15k-237 +Hits@10 +44.1"], [r"MRR +4.3 ", r"MRR +42.8 "]),
        Check("rankadjust rescore s2_header_note.md", ["assumed: protocol"]),
        Check(READ.format("s3_rows.md"), ["2 of 19 numbers read"], [r"Improv\. +WN18RR"]),
        Check("rankadjust rescore s4_caption.md", ["assumed: protocol"]),
    ],
}  # fmt: skip


def failures(case: str, folder: Path) -> Iterator[str]:
    """Yield what is wrong with the output of the commands of a case, run in a copy of its folder."""
    with tempfile.TemporaryDirectory() as scratch:
        here = Path(scratch) / "a case"
        shutil.copytree(folder / case, here)
        for check in CASES[case]:
            output = _output(check.command, here)
            yield from (
                f"{check.command}: no {said!r} in\n{output}" for said in check.says if not _in(said, output)
            )
            yield from (
                f"{check.command}: {said!r} in\n{output}" for said in check.not_says if _in(said, output)
            )


def _in(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.MULTILINE) is not None


def _output(command: str, here: Path) -> str:
    """Return what a command prints on standard output and standard error, without colours."""
    if command.startswith("\n"):
        words = [sys.executable, "-c", command]
    else:
        program, *others = command.format(here=f"'{here}'").split(" ", 1)
        modules = {"python": "", "rankadjust": "-m rankadjust", "snakemake": "-m snakemake"}
        words = ["sh", "-c", " ".join([f"'{sys.executable}'", modules[program], *others])]
    done = subprocess.run(words, cwd=here, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def main() -> None:
    """Print a line for each case that is wrong, and how many are right."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=Path)
    parser.add_argument("--only", help="the beginning of the names of the cases to try")
    options = parser.parse_args()
    names = sorted(path.name for path in options.cases.iterdir() if path.is_dir())
    names = [name for name in names if name.startswith(options.only or "")]
    wrong = 0
    for name in names:
        found = (
            list(failures(name, options.cases.resolve())) if name in CASES else ["nobody says what is right"]
        )
        wrong += bool(found)
        print(f"{name}: {'; '.join(found) or 'right, or refused in one line'}", flush=True)
    print(f"{len(names) - wrong} of {len(names)} right, or refused in one line")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
