"""Which triples are counted together: groups of relations, and parts of a relation where one is too large.

Triples of different relations never share a query or an answer. So relations are counted group by group, some groups
at a time in threads, and the counts added up: whatever the number of triples, little memory is needed besides theirs.
What depends on all triples, the entities and relations that occur, is found out first (`survey`).

Where the triples themselves do not fit into memory (`counted_within`), they are gone through several times, and each
time as many groups are loaded as fit. A relation that is larger than a group is counted in two rounds. In the first,
ranges of heads divide it: all triples of a query (head, relation, ?) are in one range, which gives the candidates of
the tail side. In the second, ranges of tails divide it, which give the candidates of the head side. To pair the two
sides of a triple, both numbers are needed at once: the first round stores its numbers on disk, sorted like the rows of
the second.
"""

import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TypeVar

import numpy as np
import polars as pl

from rankadjust.base.arrays import IntArray
from rankadjust.base.errors import RankadjustError
from rankadjust.base.faults import unwritable
from rankadjust.base.progress import progress, reporting
from rankadjust.counting.codes import ORDER
from rankadjust.counting.memory import COUNTED, ENTITY, LOADED
from rankadjust.counting.packing import WORD, Flags, Integers
from rankadjust.counting.protocols import Protocol, Time
from rankadjust.counting.rows import (
    INFERENCE_GRAPH,
    OTHER,
    SIDES,
    TRAINING_GRAPH,
    Counts,
    Graph,
    Occurring,
    Rows,
    Side,
    counts_of_both,
    counts_of_rows,
    counts_of_side,
    is_one_of,
    rows_of,
    selected,
    tasks_of,
)

T = TypeVar("T")

# Triples as columns of integers, in blocks, anew with every call.
Blocks = Callable[[], Iterable[Mapping[str, Integers]]]

# Triples that are counted together: so many that calls do not matter, and so few that they stay in a cache.
GROUP = 2**21
# Where all triples are at hand, each group looks at all relations once, so that their number is limited.
_GROUPS = 32
# Parts of a relation are ranges of ids; the ids are divided into so many pieces, from which ranges are made.
_PIECES = 2**16


@dataclass(frozen=True)
class Survey:
    """What a graph holds.

    triples: how many each relation has, of those that are to be counted.
    """

    graph: Graph
    occurring: Occurring
    triples: Integers


@dataclass(frozen=True)
class Surveyed:
    """The contents of a data set: its splits and columns, and the two graphs, one of them usually empty."""

    splits: tuple[str, ...]
    columns: tuple[str, ...]
    graphs: Mapping[Graph, Survey]


def survey(blocks: Blocks, isolated: int) -> Surveyed:
    """Go through the triples once and return their contents; isolated: entities that occur in no triple."""
    graphs = (TRAINING_GRAPH, INFERENCE_GRAPH)
    base, others = ({graph: np.zeros(0, bool) for graph in graphs} for _ in range(2))
    triples = {graph: np.zeros(0, np.int64) for graph in graphs}
    base_relations = np.zeros(0, bool)
    of_split = np.zeros(len(ORDER), np.int64)
    columns: tuple[str, ...] = ()
    for codes in _watched(blocks()):
        columns = tuple(codes)
        of_split += np.bincount(codes["split"], minlength=len(ORDER))
        known = is_one_of(codes["split"], ("facts", "training", "inference"))
        base_relations = _marked(base_relations, selected(codes["relation"], known))
        for graph in graphs:
            own = _of_graph(codes, graph)
            in_base = is_one_of(own["split"], graph.base)
            for side in SIDES:
                base[graph] = _marked(base[graph], selected(own[side], in_base))
                others[graph] = _marked(others[graph], selected(own[side], ~in_base))
            more = np.bincount(own["relation"])
            triples[graph] = _grown(triples[graph], more.size)
            triples[graph][: more.size] += more
    surveys = {}
    for graph in graphs:
        entities = _grown(others.pop(graph), base[graph].size)
        in_base = _grown(base.pop(graph), entities.size)
        entities |= in_base
        # Ids above all ids of the triples; nothing looks them up.
        release = np.concatenate([entities, np.ones(isolated, bool)]) if isolated else entities
        relations = _grown(base_relations, triples[graph].size)
        surveys[graph] = Survey(graph, Occurring(release, in_base, relations), triples[graph])
    splits = tuple(name for name, number in zip(ORDER, of_split, strict=True) if number)
    return Surveyed(splits, columns, surveys)


def _watched(blocks: Iterable[Mapping[str, Integers]]) -> Iterator[Mapping[str, Integers]]:
    """Yield blocks, and report how many triples have passed."""
    with progress("looking through", None, "triples") as report:
        for codes in blocks:
            yield codes
            report(codes["split"].size)


def share(triples: Integers, part: int, parts: int) -> Integers:
    """Return the triples of each relation with 0 for those that another part of the data set counts.

    The larger relations are dealt out first, each to the part that has the fewest triples by then.
    """
    sizes = np.zeros(parts, np.int64)
    own = np.zeros_like(triples)
    for relation in np.argsort(-triples, kind="stable"):
        place = int(sizes.argmin())
        sizes[place] += triples[relation]
        if place == part:
            own[relation] = triples[relation]
    return own


def counted_at_once(
    blocks: Blocks, surveyed: Survey, protocols: Sequence[Protocol]
) -> Iterator[list[Counts]]:
    """Yield what was counted of each group of relations, under each protocol; all blocks are at hand."""
    count = partial(_counts_of_group, surveyed=surveyed, protocols=protocols)
    with progress("counting", int(surveyed.triples.sum()), "triples") as report:
        yield from in_groups(blocks, surveyed, count, GROUP, surveyed.triples.size, report)


def in_groups(
    blocks: Blocks,
    surveyed: Survey,
    work: Callable[[dict[str, Integers], Flags], T],
    size: int,
    most: int,
    report: Callable[[int], object],
) -> Iterator[T]:
    """Yield what `work` makes of each group of relations; all blocks are at hand.

    work: gets the triples of a group and a mask over relations that says which are its own. size: about how many
    triples a group has; of many, more. most: how many relations it may have. report: gets the number of triples that
    are done.
    """
    triples = surveyed.triples
    groups = _groups(triples, max(size, int(triples.sum()) // _GROUPS), most)

    def done(relations: Flags) -> T:
        parts: list[dict[str, Integers]] = []
        for codes in blocks():
            own = _of_graph(codes, surveyed.graph)
            places = slice(None) if relations.all() else np.flatnonzero(relations[own["relation"]])
            parts.append({name: column[places] for name, column in own.items()})
        return work(_joined(parts), relations)

    # numpy lets go of Python while it works, so that threads work side by side.
    with ThreadPoolExecutor(pl.thread_pool_size()) as threads:
        yield from reporting(
            threads.map(done, groups), [int(triples[group].sum()) for group in groups], report
        )


def counted_within(
    memory: float, blocks: Blocks, surveyed: Survey, protocols: Sequence[Protocol]
) -> Iterator[list[Counts]]:
    """Yield what was counted of each group of relations, and of each part of a large one, under each protocol.

    memory: bytes that may be taken besides a block. Raises RankadjustError where the triples of one query, or of
    entities with neighbouring ids, take more.
    """
    threads = pl.thread_pool_size()
    left = memory - ENTITY * surveyed.occurring.entities.size
    if left <= 0:
        raise RankadjustError(
            f"{surveyed.occurring.entities.size:,} entities take {(memory - left) / 1e9:.1f} GB, and only "
            f"{memory / 1e9:.1f} GB are allowed; allow more memory"
        )
    # Half of it for triples that are loaded and wait, half for those that are being counted.
    fitting = max(1, int(left / 2 / threads / COUNTED))
    loaded = max(1, int(left / 2 / LOADED))
    large = surveyed.triples > fitting
    groups = _groups(
        np.where(large, 0, surveyed.triples), min(GROUP, fitting), _relations_of_a_word(surveyed)
    )
    with (
        ThreadPoolExecutor(threads) as executor,
        progress("counting", int(surveyed.triples.sum()), "triples") as report,
    ):
        yield from _loaded_and_counted(groups, blocks, surveyed, protocols, loaded, executor, report)
        if large.any():
            parts = _Parts.of(
                np.flatnonzero(large), blocks, surveyed, protocols, fitting, int(left / COUNTED)
            )
            yield from _counted_in_parts(parts, blocks, surveyed, protocols, loaded, executor, report)


def _of_graph(codes: Mapping[str, Integers], graph: Graph) -> Mapping[str, Integers]:
    """Return the triples of a graph's splits."""
    members = is_one_of(codes["split"], {*graph.base, *graph.evaluated})
    if members.all():
        return codes
    places = np.flatnonzero(members)
    return {name: column[places] for name, column in codes.items()}


def _marked(mask: Flags, ids: Integers) -> Flags:
    """Mark ids, in place where the mask is long enough."""
    if ids.size:
        mask = _grown(mask, int(ids.max()) + 1)
        mask[ids] = True
    return mask


def _grown(array: Integers, size: int) -> Integers:
    """Return the array with zeros up to the size."""
    return array if array.size >= size else np.concatenate([array, np.zeros(size - array.size, array.dtype)])


def _joined(parts: list[dict[str, Integers]]) -> dict[str, Integers]:
    if len(parts) == 1:
        return parts[0]
    return {name: np.concatenate([part.pop(name) for part in parts]) for name in list(parts[0])}


# Groups of relations


def _relations_of_a_word(surveyed: Survey) -> int:
    """Return how many relations a group may have so that a triple still fits one word, which is sorted fastest."""
    entity = max(surveyed.occurring.entities.size, 2).bit_length()
    left = WORD - 2 * entity - len(ORDER).bit_length()
    # With few bits left, as where there are times too, small groups would not help.
    return 2**left if 6 <= left < WORD // 2 else max(surveyed.triples.size, 1)


def _groups(triples: Integers, size: int, most: int) -> list[Flags]:
    """Return masks over relations: groups of them with about `size` triples, and of at most about `most` relations.

    triples: how many each relation has; those that have none are in no group.
    """
    # Put the triples of all relations in a row: a relation goes where the middle of its triples falls.
    group = (np.cumsum(triples) - triples // 2) // size
    present = triples > 0
    number = group * (triples.size + 1) + (np.cumsum(present) - 1) // most
    return [(number == group_number) & present for group_number in np.unique(number[present])]


def _counts_of_group(
    codes: Mapping[str, Integers], relations: Flags, surveyed: Survey, protocols: Sequence[Protocol]
) -> list[Counts]:
    """Count the triples of some relations, under each protocol."""
    own, occurring = within_group(codes, relations, surveyed)
    rows = cache(lambda time: rows_of(own, surveyed.graph, occurring, time))
    return [
        counts_of_rows(rows(protocol.time), surveyed.graph, occurring, protocol) for protocol in protocols
    ]


def within_group(
    codes: Mapping[str, Integers], relations: Flags, surveyed: Survey
) -> tuple[dict[str, Integers], Occurring]:
    """Return the triples of some relations, and their entities; relations are numbered anew, which takes fewer bits."""
    number = (np.cumsum(relations) - 1).astype(np.uint32)
    own = {**codes, "relation": number[codes["relation"]]}
    occurring = replace(
        surveyed.occurring, base_relations=surveyed.occurring.base_relations[: relations.size][relations]
    )
    return own, occurring


# Triples that are loaded, as many as fit, and handed out


def _loads(sizes: Sequence[int], most: int) -> Iterator[range]:
    """Yield runs of places whose sizes add up to no more than `most`; what is larger is a run of its own."""
    first, filled = 0, 0
    for place, size in enumerate(sizes):
        if place > first and filled + size > most:
            yield range(first, place)
            first, filled = place, 0
        filled += size
    if sizes:
        yield range(first, len(sizes))


def _handed_out(
    blocks: Blocks, graph: Graph, number_of: Callable[[Mapping[str, Integers]], Integers], receivers: int
) -> list[list[dict[str, Integers]]]:
    """Go through the triples once and return what each receiver gets, in pieces.

    number_of: returns for every triple the number of its receiver, and `receivers` where nobody gets it.
    """
    pieces: list[list[dict[str, Integers]]] = [[] for _ in range(receivers)]
    for codes in blocks():
        own = _of_graph(codes, graph)
        # numpy sorts numbers of 16 bits without comparing them.
        number = number_of(own).astype(np.uint16)
        given = np.flatnonzero(number < receivers)
        order = given[np.argsort(number[given], kind="stable")]
        ends = np.cumsum(np.bincount(number[given], minlength=receivers))
        columns = {name: column[order] for name, column in own.items()}
        for receiver in np.unique(number[given]):
            rows = slice(ends[receiver - 1] if receiver else 0, ends[receiver])
            pieces[receiver].append({name: column[rows] for name, column in columns.items()})
    return pieces


def _loaded_and_counted(
    groups: Sequence[Flags],
    blocks: Blocks,
    surveyed: Survey,
    protocols: Sequence[Protocol],
    loaded: int,
    executor: Executor,
    report: Callable[[int], object],
) -> Iterator[list[Counts]]:
    """Yield what was counted of each group of relations; `loaded` triples may be in memory."""
    sizes = [int(surveyed.triples[group].sum()) for group in groups]
    for load in _loads(sizes, loaded):
        receiver = np.full(surveyed.triples.size, len(load), np.uint16)
        for place, number in enumerate(load):
            receiver[groups[number]] = place
        pieces = _handed_out(blocks, surveyed.graph, partial(_of_relation, receiver), len(load))
        count = partial(_counts_of_pieces, surveyed=surveyed, protocols=protocols)
        counted = executor.map(count, pieces, [groups[number] for number in load])
        yield from reporting(counted, [sizes[number] for number in load], report)


def _of_relation(receiver: Integers, codes: Mapping[str, Integers]) -> Integers:
    number: Integers = receiver[codes["relation"]]
    return number


def _counts_of_pieces(
    pieces: list[dict[str, Integers]], relations: Flags, surveyed: Survey, protocols: Sequence[Protocol]
) -> list[Counts]:
    return _counts_of_group(_taken(pieces), relations, surveyed, protocols)


def _taken(pieces: list[dict[str, Integers]]) -> dict[str, Integers]:
    """Return the pieces as one, and let go of them."""
    codes = _joined(pieces)
    pieces.clear()
    return codes


# Relations that are too large to be counted as a whole


@dataclass(frozen=True)
class _Parts:
    """Large relations, each cut into ranges of entities, once for each side.

    relations: their ids. place: for every relation its place among them, and their number for the others.
    shift: an entity belongs to the piece `id >> shift`.
    part_of: for the tasks of a side, and every large relation: the part that has the triples whose
        other entity belongs to a piece; -1 below the last part. Parts of a relation are numbered in the order of ids.
    sizes: for the tasks of a side, the triples of each part. relation_of: the place of its relation.
    size: what a part has at most, unless it is a single piece.
    types: the answers that the base has on each side of each relation, where a protocol asks for them.
    """

    relations: IntArray
    place: Integers
    shift: int
    part_of: Mapping[Side, Integers]
    sizes: Mapping[Side, list[int]]
    relation_of: Mapping[Side, list[int]]
    size: int
    types: Sequence[Mapping[Side, Flags]] | None

    @classmethod
    def of(
        cls,
        relations: IntArray,
        blocks: Blocks,
        surveyed: Survey,
        protocols: Sequence[Protocol],
        size: int,
        most: int,
    ) -> "_Parts":
        """Cut relations into parts of at most `size` triples, or of one piece that has at most `most`."""
        entities = surveyed.occurring.entities.size
        shift = max(0, max(entities - 1, 1).bit_length() - _PIECES.bit_length() + 1)
        place = np.full(surveyed.triples.size, relations.size)
        place[relations] = np.arange(relations.size)
        width = (entities - 1 >> shift) + 1
        triples = {side: np.zeros((relations.size, width), np.int64) for side in SIDES}
        observed = any(protocol.types == "observed" for protocol in protocols)
        types = [{side: np.zeros(entities, bool) for side in SIDES} for _ in relations] if observed else None
        for codes in blocks():
            own = _of_graph(codes, surveyed.graph)
            of_row = place[own["relation"]]
            rows = np.flatnonzero(of_row < relations.size)
            in_base = is_one_of(own["split"][rows], surveyed.graph.base)
            for side in SIDES:
                ids = own[OTHER[side]][rows]
                cell = of_row[rows] * width + (ids >> shift)
                triples[side] += np.bincount(cell, minlength=relations.size * width).reshape(-1, width)
                for large, flags in enumerate(types or ()):
                    flags[OTHER[side]][ids[in_base & (of_row[rows] == large)]] = True
        part_of: dict[Side, Integers] = {}
        sizes: dict[Side, list[int]] = {}
        relation_of: dict[Side, list[int]] = {}
        for side in SIDES:
            part_of[side] = np.full((relations.size + 1, width), -1)
            sizes[side], relation_of[side] = [], []
            for large, row in enumerate(triples[side]):
                _require_room(row, most, int(relations[large]), OTHER[side], shift)
                part_of[side][large] = _ranges(row, size) + len(sizes[side])
                own_sizes = np.bincount(part_of[side][large] - len(sizes[side]), row).astype(np.int64)
                sizes[side] += own_sizes.tolist()
                relation_of[side] += [large] * own_sizes.size
        return cls(relations, place, shift, part_of, sizes, relation_of, size, types)

    def waiting(self, side: Side, loaded: int) -> list[int]:
        """Return the sizes of the parts, as if those that nothing else may be beside filled the memory."""
        return [size if size <= self.size else loaded for size in self.sizes[side]]

    def receiver(self, side: Side, load: range, codes: Mapping[str, Integers]) -> Integers:
        """Return for every triple the place in the load of its part, and the length of the load for the others."""
        number: Integers = self.part_of[side][self.place[codes["relation"]], codes[OTHER[side]] >> self.shift]
        number -= load.start
        number[(number < 0) | (number >= len(load))] = len(load)
        return number

    def rows(
        self, side: Side, part: int, codes: Mapping[str, Integers], surveyed: Survey
    ) -> Callable[[Time], Rows]:
        """Return how the rows of a part are made for protocols that heed times, and for others."""
        relation_of_part = self.relation_of[side][part]
        relation = int(self.relations[relation_of_part])
        own = {**codes, "relation": np.zeros_like(codes["relation"])}
        occurring = replace(
            surveyed.occurring, base_relations=surveyed.occurring.base_relations[relation : relation + 1]
        )
        types = self.types[relation_of_part] if self.types else None
        return cache(lambda time: rows_of(own, surveyed.graph, occurring, time, types))


def _ranges(triples: Integers, size: int) -> Integers:
    """Return for every piece the number of its range: so many neighbours that they have at most `size` triples."""
    number = np.zeros(triples.size, np.int64)
    current, filled = 0, 0
    for place, more in enumerate(triples.tolist()):
        if more and filled and filled + more > size:
            current, filled = current + 1, 0
        filled += more
        number[place] = current
    return number


def _require_room(triples: Integers, most: int, relation: int, key: Side, shift: int) -> None:
    """Raise where the triples of a piece, which can be cut no further, take more memory than there is."""
    piece = int(triples.argmax())
    if triples[piece] > most:
        first, last = piece << shift, ((piece + 1) << shift) - 1
        entities = f"the {key} {first}" if first == last else f"a {key} from {first} to {last}"
        raise RankadjustError(
            f"relation {relation} has {triples[piece]:,} triples with {entities}; counting them takes up to "
            f"{triples[piece] * COUNTED / 1e9:.1f} GB, and {most * COUNTED / 1e9:.1f} GB are left; give more memory"
        )


def _counted_in_parts(
    parts: _Parts,
    blocks: Blocks,
    surveyed: Survey,
    protocols: Sequence[Protocol],
    loaded: int,
    executor: Executor,
    report: Callable[[int], object],
) -> Iterator[list[Counts]]:
    """Yield what was counted of each part of the large relations; `loaded` triples may be in memory."""
    with _scratch() as folder:
        for load in _loads(parts.waiting("tail", loaded), loaded):
            pieces = _handed_out(blocks, surveyed.graph, partial(parts.receiver, "tail", load), len(load))
            count = partial(_tails_of_part, parts=parts, surveyed=surveyed, protocols=protocols)
            # Either round is half of the work.
            halves = [parts.sizes["tail"][part] // 2 for part in load]
            for counts, candidates in reporting(executor.map(count, load, pieces), halves, report):
                # In the order of the parts: the rows will have the same order.
                _put_aside(candidates, folder)
                yield counts
        for load in _loads(parts.waiting("head", loaded), loaded):
            pieces = _handed_out(blocks, surveyed.graph, partial(parts.receiver, "head", load), len(load))
            heads = partial(
                _heads_of_part, parts=parts, surveyed=surveyed, protocols=protocols, folder=folder
            )
            halves = [parts.sizes["head"][part] // 2 for part in load]
            yield from reporting(executor.map(heads, load, pieces), halves, report)


@contextmanager
def _scratch() -> Iterator[Path]:
    """Yield a folder for temporary files; who tidies up after a job that was killed knows it by its name."""
    try:
        scratch = tempfile.TemporaryDirectory(prefix=f"rankadjust-{os.getpid()}-")
    except OSError as error:
        raise RankadjustError(
            f"no folder for temporary files can be written ({error.strerror}); "
            "make one writable, or name another by TMPDIR"
        ) from None
    with scratch as name:
        yield Path(name)


def _tails_of_part(
    part: int,
    pieces: list[dict[str, Integers]],
    parts: _Parts,
    surveyed: Survey,
    protocols: Sequence[Protocol],
) -> tuple[list[Counts], list[dict[str, Integers]]]:
    """Return the counts of tails, and per protocol the candidates of the rows of each part of the second round."""
    rows = parts.rows("tail", part, _taken(pieces), surveyed)
    part_of = parts.part_of["head"][parts.relation_of["tail"][part]]
    counts, aside = [], []
    for number, protocol in enumerate(protocols):
        own = rows(protocol.time)
        tasks = tasks_of(own, "tail", surveyed.occurring, protocol)
        counts.append(counts_of_side(own, surveyed.graph, tasks, "tail", protocol))
        later = part_of[own.tail >> parts.shift]
        order = np.argsort((later - part_of[0]).astype(np.uint16), kind="stable")
        candidates = tasks.candidates[order].astype(np.uint32)
        starts = np.flatnonzero(np.diff(later[order], prepend=-1))
        names = [f"{number}-{part_after}" for part_after in later[order[starts]]]
        aside.append(dict(zip(names, np.split(candidates, starts[1:]), strict=True)))
    return counts, aside


def _put_aside(candidates: Iterable[Mapping[str, Integers]], folder: Path) -> None:
    for of_protocol in candidates:
        for name, numbers in of_protocol.items():
            try:
                with (folder / name).open("ab") as file:
                    file.write(numbers.tobytes())
            except OSError as error:
                raise RankadjustError(
                    f"{unwritable(folder.parent, error)}; TMPDIR names another folder for temporary files"
                ) from None


def _heads_of_part(
    part: int,
    pieces: list[dict[str, Integers]],
    parts: _Parts,
    surveyed: Survey,
    protocols: Sequence[Protocol],
    folder: Path,
) -> list[Counts]:
    """Return the counts of heads, and of both sides."""
    rows = parts.rows("head", part, _taken(pieces), surveyed)
    counts = []
    for number, protocol in enumerate(protocols):
        own = rows(protocol.time)
        tasks = tasks_of(own, "head", surveyed.occurring, protocol)
        path = folder / f"{number}-{part}"
        both: dict[Side, Integers] = {"head": tasks.candidates, "tail": np.fromfile(path, np.uint32)}
        path.unlink()
        counts.append(
            counts_of_side(own, surveyed.graph, tasks, "head", protocol)
            | counts_of_both(own, surveyed.graph, both, protocol)
        )
    return counts
