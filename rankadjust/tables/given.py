"""Check facts from the command line, which a sidecar could state about all tables of the file."""

from collections.abc import Mapping

from rankadjust.base.errors import RankadjustError, did_you_mean
from rankadjust.base.vocabulary import PRINTED_SPLITS, SIDES
from rankadjust.base.words import our_word, shipped_mapping
from rankadjust.counting.protocols import get_protocol
from rankadjust.tables.sidecar import is_pattern
from rankadjust.tables.tokens import Names, find_dataset


def given_facts(given: Mapping[str, str | None], names: Names) -> dict[str, str]:
    """Return the given facts (name -> value, None if not given) in our words; names: the known data sets.

    Raises RankadjustError for an unknown data set, split, side or protocol.
    """
    facts = {name: text for name, text in given.items() if text is not None}
    for name, known in (("split", PRINTED_SPLITS), ("side", SIDES)):
        if name in facts:
            facts[name] = our_word(name, facts[name]) or facts[name]
            if facts[name] not in known:
                words = [*known, *shipped_mapping()["words"][name]]
                hint = did_you_mean(facts[name], words) or f"; allowed are {', '.join(known)}"
                raise RankadjustError(f"--{name}: unknown {name} '{facts[name]}'{hint}")
    if "task" in facts:
        facts["task"] = our_word("task", facts["task"]) or facts["task"]
    if "protocol" in facts:
        facts["protocol"] = get_protocol(our_word("protocol", facts["protocol"]) or facts["protocol"]).name
    if "dataset" in facts and not is_pattern(facts["dataset"]):
        dataset = find_dataset(facts["dataset"], names)
        if dataset is None:
            hint = (
                did_you_mean(facts["dataset"], list(names.values())) or "; 'rankadjust datasets' lists them"
            )
            raise RankadjustError(f"--dataset: unknown data set '{facts['dataset']}'{hint}")
        facts["dataset"] = dataset
    return facts
