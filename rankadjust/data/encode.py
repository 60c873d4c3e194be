"""Encoding triples: from labels to integers that depend on nothing but the labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from rankadjust.base.errors import RankadjustError
from rankadjust.base.vocabulary import LABEL_COLUMNS, SPLITS, TIME_COLUMNS


@dataclass(frozen=True)
class Encoded:
    """Triples of integers and the labels they stand for.

    triples: one row per line of the files, split by split: split (Enum of SPLITS), head, relation, tail
        (UInt32), and time, or time_start and time_end (String, as printed) where the data set has them. Of facts with
        any number of entities one row per entity: it is the tail, position (UInt32) is its place in the fact, and head
        stands for all that is known of it: relation, position and the other entities. fact numbers the lines.
    labels: kind ('entity' or 'relation'), id (UInt32), label (String). The id of a label is its place among
        all labels of the kind, sorted by their bytes in UTF-8: '10' comes before '9', integers or not.
    """

    triples: pl.DataFrame
    labels: pl.DataFrame


def encode(splits: Mapping[str, pl.DataFrame], entities: pl.Series | None = None) -> Encoded:
    """Replace the labels of all splits by integers that depend on nothing but the labels.

    splits: one or more frames, named as in SPLITS, of String columns head, relation, tail and, in all or none, times.
    entities: the labels (String) of all entities, if the data set lists them. Entities without a triple get ids too.

    Raises RankadjustError for a triple with an entity that is not among all of them.
    """
    present = [name for name in SPLITS if name in splits]
    if "entities" in splits[present[0]].columns:
        return _encode_facts({name: splits[name] for name in present})
    columns = [name for name in (*LABEL_COLUMNS, *TIME_COLUMNS) if name in splits[present[0]].columns]
    triples = pl.concat(
        splits[name].select(pl.lit(name, pl.Enum(SPLITS)).alias("split"), *columns) for name in present
    )
    listed = [] if entities is None else [entities]
    labels, (head, tail, *_) = ids_of([triples["head"], triples["tail"], *listed])
    relations, (relation,) = ids_of([triples["relation"]])
    missing = labels.clear() if entities is None else labels.filter(~labels.is_in(entities.implode()))
    if len(missing):
        raise RankadjustError(
            f"{len(missing):,} of the {len(labels):,} entities occur in triples but not in the list of all entities, "
            f"for example {missing[0]!r}; check the columns under format.entities: entity is the field that the "
            "triples use"
        )
    encoded = triples.with_columns(head=head, relation=relation, tail=tail)
    return Encoded(encoded, _labels_table(labels, relations))


def _encode_facts(splits: Mapping[str, pl.DataFrame]) -> Encoded:
    facts = pl.concat(
        frame.with_columns(split=pl.lit(name, pl.Enum(SPLITS))) for name, frame in splits.items()
    )
    places = facts.with_columns(
        all=pl.col("entities"), position=pl.int_ranges(1, pl.col("entities").list.len() + 1)
    )
    places = places.explode("entities", "position").with_columns(pl.col("position").cast(pl.UInt32))
    entities, (tail,) = ids_of([places["entities"]])
    relations, (relation,) = ids_of([places["relation"]])
    # No label holds an end of line.
    place, everyone = pl.col("position"), pl.col("all").list
    before, after = (part.list.join("\n") for part in (everyone.head(place - 1), everyone.slice(place)))
    query = pl.concat_str("relation", before, pl.lit("\n?\n"), after, separator="\n")
    asked = places.select(query).to_series()
    triples = places.select("split", "position").with_columns(
        head=ids_of([asked])[1][0], relation=relation, tail=tail, fact=(pl.col("position") == 1).cum_sum()
    )
    return Encoded(triples, _labels_table(entities, relations))


def _labels_table(entities: pl.Series, relations: pl.Series) -> pl.DataFrame:
    return pl.concat(
        pl.DataFrame({"label": known}).select(
            kind=pl.lit(kind), id=pl.int_range(pl.len(), dtype=pl.UInt32), label="label"
        )
        for kind, known in (("entity", entities), ("relation", relations))
    )


def ids_of(columns: Sequence[pl.Series], seed: int = 0) -> tuple[pl.Series, list[pl.Series]]:
    """Return the sorted labels of some columns, and for each column the places of its labels among them.

    Hashes are compared many times faster than labels; seed: of the hashes.
    """
    hashes = [column.hash(seed) for column in columns]
    labels = pl.concat(columns).filter(pl.concat(hashes).is_first_distinct()).sort()
    known = pl.DataFrame({"hash": labels.hash(seed)}).with_row_index("id")
    ids = []
    # One column after the other: what is joined and compared takes much memory.
    for column, own in zip(columns, hashes, strict=True):
        found = own.to_frame("hash").join(known, on="hash", how="left", maintain_order="left")["id"]
        if (labels.gather(found) != column).any():
            # Two labels have one hash.
            return ids_of(columns, seed + 1)
        ids.append(found)
    return labels, ids
