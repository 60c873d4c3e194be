r"""The sentences of a manuscript about chance and counting: caption, methods section, references."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import polars as pl

from rankadjust.base.errors import listed
from rankadjust.base.frames import filled
from rankadjust.base.version import HOMEPAGE, REGISTRY_DATE, VERSION
from rankadjust.base.vocabulary import EVALUATION
from rankadjust.chance.metrics import resolve
from rankadjust.counting.protocols import get_protocol
from rankadjust.manuscript.reference_rows import MAIN, in_format_of
from rankadjust.output.markup import escape_latex

REFERENCES = f"""@article{{hoyt2022unified,
  title = {{A Unified Framework for Rank-based Evaluation Metrics for Link Prediction in Knowledge Graphs}},
  author = {{Hoyt, Charles Tapley and Berrendorf, Max and Galkin, Mikhail and Tresp, Volker and Gyori, Benjamin M.}},
  journal = {{arXiv preprint arXiv:2203.07544}},
  year = {{2022}},
  url = {{https://arxiv.org/abs/2203.07544}}
}}

@misc{{rankadjust,
  title = {{rankadjust: chance-adjusted link-prediction metrics and the database of their constants}},
  author = {{{{The rankadjust authors}}}},
  year = {{{REGISTRY_DATE[:4]}}},
  note = {{Version {VERSION}}},
  howpublished = {{{HOMEPAGE}}}
}}
"""

_NATBIB = re.compile(
    r"\\cite[pt]\b|\\(?:usepackage|documentclass)(?:\[[^\]]*\])?\{[^}\n]*"
    r"\b(?:natbib|acl|acl_natbib|neurips_\d+|icml\d+|iclr\d+_conference|acmart)\b"
)
_BIBLATEX = re.compile(r"\\(?:parencite|autocite|textcite)\b|\{biblatex\}")
_MOST_NAMED = 6


def citation_command(path: Path) -> str:
    r"""Return the command that cites in parentheses: \citep, \parencite or \cite, as a source or its neighbours say."""
    near = [path, *sorted(path.parent.glob("*.tex"))] if path.suffix == ".tex" else []
    for source in filter(Path.is_file, near):
        text = source.read_text(encoding="utf-8", errors="replace")
        for command, pattern in {r"\parencite": _BIBLATEX, r"\citep": _NATBIB}.items():
            if pattern.search(text):
                return command
    return r"\cite"


def caption_note(rows: pl.DataFrame, score: str | None) -> str:
    """Return the sentences of the caption about the additions to a table, as LaTeX.

    rows: the values with chance_matters. score: the score of new columns, None for new rows.
    """
    known = rows.filter(pl.col("index").is_not_null())
    perfect = r"100 (\%)" if (known["unit"] == "percent").any() else "1"
    matters, counted = known["chance_matters"].any(), known["baseline_value"].count() > 0
    sentences = {
        f"adj.: adjusted for chance, 0 is a random ranking and {perfect} a perfect one.": score == "index"
        or (score == "recommended" and matters),
        f"gain: 0 is the best scorer that only counts training triples and {perfect} a perfect ranking.": score
        in ("gain", "recommended")
        and counted,
        "Counting: the best scorer that only counts training triples.": score is None and counted,
        "Chance: the expectation of a random ranking.": score is None and matters,
    }
    return " ".join(text for text, holds in sentences.items() if holds)


def methods(rows: pl.DataFrame, database: str | None, cite: str) -> str:
    r"""Return the sentences for the methods section, as LaTeX.

    rows: the values with chance_matters. database: the name of the database of constants, such as 'database 1,
    sha256:…'; None if it has no name. cite: the command that cites, such as \citep.
    """
    known = rows.filter(pl.col("index").is_not_null())
    named = escape_latex(f"rankadjust {VERSION}" + (f", {database}" if database else ""))
    sentences = [_evaluations(known), *_counting(known, named, cite), _chance(known, cite)]
    return " ".join(sentences) + "\n"


def reached(rows: pl.DataFrame, name: str, escape: Callable[[str], str] = escape_latex) -> str:
    """Return what counting or chance reaches: 'an MRR of 23.5 on FB15k-237 and 81.5 on Nations'.

    rows: of one metric for each data set. name: the column of the number.
    """
    varying = [part for part in ("protocol", "split", "side") if rows[part].n_unique() > 1]
    where = (
        filled("{} ({})", "dataset", pl.concat_str(varying, separator=", ")) if varying else pl.col("dataset")
    )
    rows = rows.with_columns(where=where)
    shared = rows["where"].n_unique() == 1
    parts = []
    for (metric,), of_metric in rows.group_by("metric", maintain_order=True):
        texts = [
            escape(in_format_of(part, part[name][0])) + ("" if shared else f" on {escape(str(place))}")
            for (place,), part in of_metric.group_by("where", maintain_order=True)
        ]
        parts.append(f"{_with_article(resolve(str(metric)).label)} of {listed(_first(texts))}")
    return listed(parts) + (f" on {escape(rows['where'][0])}" if shared else "")


def _first(names: Sequence[str]) -> list[str]:
    """Return the first few names and the number of the others."""
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    return [*names[:_MOST_NAMED], *more]


def of_main_metric(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the main metric of each evaluation: MRR, else Hits@10, else the first."""
    place = pl.col("metric").replace_strict(
        {name: n for n, name in enumerate(MAIN)}, default=len(MAIN), return_dtype=pl.Int64
    )
    first = (
        rows.with_columns(place=place)
        .sort("place", maintain_order=True)
        .unique(EVALUATION, keep="first", maintain_order=True)
    )
    return rows.join(
        first.select(*EVALUATION, "metric"), on=[*EVALUATION, "metric"], how="semi", maintain_order="left"
    )


def in_short(rows: pl.DataFrame, own: str) -> list[str]:
    """Return what to write about chance and counting in lines; own: a pattern of the names of the author's models."""
    known = rows.filter(pl.col("index").is_not_null())
    lines = []
    if (matters := _one_of_each(known.filter("chance_matters"))).height:
        lines.append(f"Chance reaches {reached(matters, 'expectation', str)}: print it, or the index.")
    if (counted := of_main_metric(known).drop_nulls("baseline_value")).height:
        lines.append(f"Counting reaches {reached(counted, 'baseline_value', str)}.")
    below = known.filter(pl.coalesce("gain_high", "gain") < 0, pl.col("model").is_not_null())
    is_own = pl.col("model").str.contains(own)
    for (model,), part in below.filter(is_own).group_by("model", maintain_order=True):
        values = [
            f"{resolve(metric).label} on {dataset}"
            for metric, dataset in part.select("metric", "dataset").rows()
        ]
        lines.append(f"{model} is below counting: {listed(_first(values))}; say why, or leave the claim out.")
    if (others := below.filter(~is_own)["model"].unique(maintain_order=True)).len():
        lines.append(f"Below counting in some value: {listed(_first(others.to_list()))}.")
    return lines


def _with_article(label: str) -> str:
    return f"{'an' if label.startswith(('MR', 'HM', 'IM', 'Inv', 'N')) else 'a'} {label}"


def _evaluations(known: pl.DataFrame) -> str:
    """Return how the results were evaluated: a sentence for each protocol and split."""
    sentences = []
    for (protocol, split), part in known.group_by(["protocol", "split"], maintain_order=True):
        sides = set(part["side"])
        predicted = "head and tail are" if len(sides) > 1 or "both" in sides else f"the {sides.pop()} is"
        sentences.append(
            f"Results on {_names(part, 'dataset')} are for the {_split(str(split))} split; {predicted} "
            f"predicted, and {_candidates(str(protocol))}."
        )
    return " ".join(sentences)


def _split(name: str) -> str:
    """Return a split in the words of papers: 'test', 'inference test', 'validation'."""
    return name.replace("testing", "test").replace("_", " ")


def _candidates(protocol: str) -> str:
    """Return among which candidates the true answer is ranked, and which answers are left out.

    >>> _candidates("filtered")
    'the true answer is ranked among all entities without the other known answers'
    >>> _candidates("sampled-49")
    'the true answer is ranked among 49 sampled negatives'
    """
    known = get_protocol(protocol)
    if known.negatives is not None:
        return f"the true answer is ranked among {known.negatives} sampled negatives"
    entities = "all entities" if known.entities == "release" else "all entities of the training split"
    seen = {"any": None, "observed": "training", "known": "the data set"}[known.types]
    typed = f" that {seen} has on that side of the relation" if seen else ""
    times = " at the same time" if known.time == "aware" else ""
    left_out = {
        "all": f" without the other known answers{times}",
        "cumulative": f" without the other answers known{times} from its split and those before it",
        "split": f" without the other answers known{times} from the graph and its split",
        "graph": f" without the other answers known{times} from the graph",
        "none": "; nothing is filtered",
    }
    return f"the true answer is ranked among {entities}{typed}{left_out[known.filter]}"


def _counting(known: pl.DataFrame, named: str, cite: str) -> Iterator[str]:
    counted = of_main_metric(known).filter(pl.col("baseline_value").is_not_null())
    if counted.height:
        yield (
            f"The best scorer that only counts training triples ({named}) {cite}{{rankadjust}} reaches "
            f"{reached(counted, 'baseline_value')}."
        )


def _chance(known: pl.DataFrame, cite: str) -> str:
    """Return what chance reaches where it matters, and how little it is elsewhere."""
    start = f"A random ranking {cite}{{hoyt2022unified}}"
    matters = known.filter("chance_matters")
    rest = known.filter(~pl.col("chance_matters"))
    share = rest.filter(pl.col("value") > 0).select((pl.col("expectation") / pl.col("value")).max()).item()
    little = "" if share is None else f"explains at most {_percent(share)} of any "
    if matters.is_empty():
        return f"{start} {little}value." if little else ""
    said = reached(_one_of_each(matters), "expectation")
    return f"{start} reaches {said}" + (f"; it {little}other value." if little else ".")


def _percent(share: float) -> str:
    return rf"{max(0.1, -(-share * 1000 // 1) / 10):.1f}\,\%"


def _one_of_each(matters: pl.DataFrame) -> pl.DataFrame:
    """Return the main metric of each evaluation among these rows, and mean ranks."""
    is_rank = pl.col("unit") == "rank"
    shares = matters.filter(~is_rank)
    return pl.concat([of_main_metric(shares), matters.filter(is_rank)])


def _names(rows: pl.DataFrame, column: str) -> str:
    return listed([escape_latex(str(name)) for name in rows[column].unique(maintain_order=True)])
