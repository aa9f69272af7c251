"""The plan of a build, fixed before any work: seeds and bands of slots, and the slots of each shard."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from sandmill.errors import Problem, RequestError, name_some
from sandmill.fingerprint import fingerprint
from sandmill.kinds.table import TABLE
from sandmill.models.base import Band
from sandmill.models.hints import ReadingLevel
from sandmill.models.kind import Kind, kind_of
from sandmill.models.plan import BuildPlan, ShardPlan, Slot
from sandmill.models.request import BuildRequest
from sandmill.models.seed import SeedIntake, SeedTask
from sandmill.pipeline.band_search import pair_bands
from sandmill.rng import Streams
from sandmill.seeds.cards import LITE

Share = TypeVar("Share")

PLAIN_OF_MEDIUM = 0.5
"""Share of the medium slots that plain facts go to first: their tables state one fact, the step from easy tables to
harder readings."""

_GOLDEN = (5**0.5 - 1) / 2
"""Steps of this length around a circle leave no wide gap, however many are taken."""


def plan_build(request: BuildRequest, intake: SeedIntake) -> BuildPlan:
    """Bind a request to the content of its seeds. Paths are left out, so equal content gives an equal plan."""
    asks_all = request.structures == "all"
    supported = [seed for seed in intake.supported if asks_all or seed.id in LITE]
    seeds = tuple(sorted(supported, key=lambda seed: seed.id))
    if absent := sorted(request.kinds.keys() - {_kind(seed).name for seed in seeds}):
        problem = Problem("--kinds", f"{name_some(absent)}, of which there is no seed", "kinds of the seeds given")
        raise RequestError("this build", [problem])
    identity = {"request": fingerprint(request), "seeds": [fingerprint(seed) for seed in seeds]}
    return BuildPlan(
        request=request,
        fingerprint=fingerprint(identity),
        seeds=seeds,
        unsupported=tuple(seed for seed in intake.unsupported if asks_all or seed.id in LITE),
        notes=intake.notes,
        skipped=intake.skipped,
    )


def plan_slots(plan: BuildPlan) -> tuple[Slot, ...]:
    """Give every slot its seed, its band and its place among the domains.

    Seeds take turns in shuffled blocks, within each kind if the request asks for shares of kinds. Bands fill the mix,
    are shuffled, and are swapped between slots whose structure cannot reach its band. Domains come up evenly.
    """
    streams = Streams(b"slots", plan.fingerprint)
    total, kinds = plan.request.tasks, plan.request.kinds
    bands = share_out(plan.request.mix, total)
    ordered = [band for band, count in bands.items() for _ in range(count)]
    shuffled = [ordered[i] for i in streams.generator("bands").permutation(total)]
    seeds = _in_turns(plan.seeds, total, streams)
    if kinds:
        seeds = [
            seed
            for name, count in share_out(kinds, total).items()
            for seed in _in_turns([seed for seed in plan.seeds if _kind(seed).name == name], count, streams.child(name))
        ]
        seeds = [seeds[i] for i in streams.generator("kinds").permutation(total)]
    paired = pair_bands([seed.structure for seed in seeds], shuffled)
    start = streams.generator("domains").random()
    places = [round((start + number * _GOLDEN) % 1, 9) % 1 for number in range(total)]
    # Texts state facts of columns that the files hold. Those of media are stated plainly.
    states = [kind.shows_columns and not kind.designer for kind in map(_kind, seeds)]
    read_bands = {n: band for n, band in enumerate(paired) if states[n] and band is not Band.EASY}
    levels = share_levels(plan.request.reading, read_bands, streams)
    return tuple(
        Slot(number=n, seed=seed, band=band, place=place, reading=levels.get(n, "plain"))
        for n, (seed, band, place) in enumerate(zip(seeds, paired, places, strict=True))
    )


def share_levels(
    reading: Mapping[ReadingLevel, float], bands: Mapping[int, Band], streams: Streams
) -> dict[int, ReadingLevel]:
    """Give slots their level of reading, by number: exact shares, plain ones first to a part of the medium slots."""
    counts = share_out(reading, len(bands))
    drawn = [list(bands)[place] for place in streams.generator("reading").permutation(len(bands))]
    medium = [number for number in drawn if bands[number] is Band.MEDIUM]
    first = medium[: round(PLAIN_OF_MEDIUM * len(medium))]
    # Numbers in a drawn order meet levels in theirs, so that harder levels are spread over bands.
    order = [*first, *(number for number in drawn if number not in set(first))]
    levels = [
        level for level, count in sorted(counts.items(), key=lambda item: item[0] != "plain") for _ in range(count)
    ]
    return dict(zip(order, levels, strict=True))


def share_out(shares: Mapping[Share, float], total: int) -> dict[Share, int]:
    """Split slots by largest remainder: counts add up, and each differs from its share by less than one."""
    exact = {name: share * total for name, share in shares.items()}
    counts = {name: int(value) for name, value in exact.items()}
    for name in sorted(exact, key=lambda name: counts[name] - exact[name])[: total - sum(counts.values())]:
        counts[name] += 1
    return counts


def _in_turns(seeds: Sequence[SeedTask], total: int, streams: Streams) -> list[SeedTask]:
    blocks = -(-total // len(seeds))
    orders = (streams.generator(f"seeds {n}").permutation(len(seeds)) for n in range(blocks))
    return [seeds[turn] for turn in [turn for order in orders for turn in order][:total]]


def _kind(seed: SeedTask) -> Kind:
    return kind_of(seed.structure) or TABLE


def plan_shards(
    plan: BuildPlan, slots: Sequence[Slot], *, dataset: str, shard_size: int, code: str, secret_id: str, round: int = 0
) -> tuple[ShardPlan, ...]:
    """Cut slots into shards. The key of a shard is a hash of everything that decides its content.

    `dataset` is `<root>/<dataset>`, `code` comes from `code_version`, and the round is 0, then one more for each refill
    of slots that stayed empty.
    """
    shards = []
    for start in range(0, len(slots), shard_size):
        chunk = tuple(slots[start : start + shard_size])
        numbers = [slot.number for slot in chunk]
        identity = {"plan": plan.fingerprint, "code": code, "secret": secret_id, "round": round, "slots": numbers}
        shard = ShardPlan(
            dataset=dataset,
            key=f"r{round}-s{numbers[0]:06d}-{fingerprint(identity)[:16]}",
            plan_fingerprint=plan.fingerprint,
            code=code,
            replicates=plan.request.replicates,
            round=round,
            slots=chunk,
            designer=plan.request.designer,
            held_out=plan.request.held_out,
        )
        shards.append(shard)
    return tuple(shards)
