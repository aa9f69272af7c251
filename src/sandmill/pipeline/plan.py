"""The plan of a build, fixed before any work: seeds and bands of slots, and the slots of each shard."""

from collections.abc import Sequence

from sandmill.fingerprint import fingerprint
from sandmill.models.base import Band
from sandmill.models.plan import BuildPlan, ShardPlan, Slot
from sandmill.models.request import BuildRequest
from sandmill.models.seed import SeedIntake
from sandmill.pipeline.band_search import pair_bands
from sandmill.rng import Streams


def plan_build(request: BuildRequest, intake: SeedIntake) -> BuildPlan:
    """Bind a request to the content of its seeds. Paths are left out, so equal content gives an equal plan."""
    seeds = tuple(sorted(intake.supported, key=lambda seed: seed.id))
    identity = {"request": fingerprint(request), "seeds": [fingerprint(seed) for seed in seeds]}
    return BuildPlan(
        request=request,
        fingerprint=fingerprint(identity),
        seeds=seeds,
        unsupported=intake.unsupported,
        notes=intake.notes,
        skipped=intake.skipped,
    )


def plan_slots(plan: BuildPlan) -> tuple[Slot, ...]:
    """Give every slot its seed and band.

    Seeds take turns in shuffled blocks. Bands fill the mix, are shuffled, and are swapped between slots whose structure
    cannot reach its band.
    """
    streams = Streams(b"slots", plan.fingerprint)
    total = plan.request.tasks
    bands = band_counts(plan.request.mix, total)
    ordered = [band for band, count in bands.items() for _ in range(count)]
    shuffled = [ordered[i] for i in streams.generator("bands").permutation(total)]
    blocks = -(-total // len(plan.seeds))
    orders = (streams.generator(f"seeds {n}").permutation(len(plan.seeds)) for n in range(blocks))
    turns = [turn for order in orders for turn in order]
    seeds = [plan.seeds[turn] for turn in turns[:total]]
    paired = pair_bands([seed.structure for seed in seeds], shuffled)
    return tuple(Slot(number=n, seed=seed, band=band) for n, (seed, band) in enumerate(zip(seeds, paired, strict=True)))


def band_counts(mix: dict[Band, float], total: int) -> dict[Band, int]:
    """Split slots between bands by largest remainder: counts add up, and each differs from the mix by less than one."""
    exact = {band: share * total for band, share in mix.items()}
    counts = {band: int(value) for band, value in exact.items()}
    by_remainder = sorted(exact, key=lambda band: (counts[band] - exact[band], list(Band).index(band)))
    for band in by_remainder[: total - sum(counts.values())]:
        counts[band] += 1
    return counts


def plan_shards(
    plan: BuildPlan, slots: Sequence[Slot], *, dataset: str, shard_size: int, code: str, secret_id: str, round: int = 0
) -> tuple[ShardPlan, ...]:
    """Cut slots into shards. The key of a shard is a hash of everything that decides its content.

    Args:
        plan: the build.
        slots: slots still to be filled.
        dataset: `<root>/<dataset>`.
        shard_size: slots a shard.
        code: from `code_version`.
        secret_id: public name of the release secret.
        round: 0, then one more for each refill of slots that stayed empty.
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
            replicates=plan.request.replicates,
            round=round,
            slots=chunk,
            designer=plan.request.designer,
        )
        shards.append(shard)
    return tuple(shards)
