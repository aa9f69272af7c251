"""The small proof: policies learn on a release and are scored on real tables.

Run: python -m sandmill_learn.proof --help.
"""

import sys
from collections.abc import Mapping

from sandmill.cli.arguments import run_program
from sandmill.cli.screen import open_console
from sandmill.errors import count
from sandmill_learn.proof.settings import ProofSettings

PROGRAMME = "python -m sandmill_learn.proof"
EXAMPLES = f"""{PROGRAMME} --release releases/learn --to proof
{PROGRAMME} --seeds 5 --arms rejection gap sparse sandmle-paper partial-credit-grpo baselines
{PROGRAMME} --release releases/small --smoke --to /tmp/smoke"""
DESCRIPTION = "Train policies on a release, score them and the baselines on real tables, and print the table."


def prove(settings: ProofSettings) -> None:
    """Run all units, then print and write the report."""
    from sandmill_learn.proof.arms import Proof
    from sandmill_learn.proof.data import open_data
    from sandmill_learn.proof.progress import ProofProgress
    from sandmill_learn.proof.report import ProofReport

    console = open_console()
    progress = ProofProgress(lambda line: console.print(line, highlight=False))
    say = progress.say
    settings = settings.effective
    data = open_data(settings, say, progress.count)
    designs, tables = len(data.training.families), len(data.final.families)
    say(f"{count(designs, 'training design')}, {count(tables, 'final table')}, {settings.executions} executions an arm")
    proof, seeds = Proof(settings, data, progress), range(settings.seeds)
    progress.begin(proof.plan.total)
    units = [proof.start(seed) for seed in seeds]
    spent: Mapping[str, int] = {}
    for arm in settings.baseline_arms:
        unit, spent = proof.baselines(arm)
        units.append(unit)
    if "rejection" in settings.arms:
        units += proof.rejection(seeds)
    units += [proof.grpo(f"grpo-{reward}", seed, reward=reward) for reward in settings.rewards for seed in seeds]
    report = ProofReport(units, spent)
    report.write(settings.to)
    for table in report.tables():
        console.print_table(table)
    say(f"Written to {settings.to}")


def main() -> int:
    """Run the proof from the command line. Complete units survive an interruption."""
    return run_program(prove, PROGRAMME, DESCRIPTION, EXAMPLES, ProofSettings)


if __name__ == "__main__":
    sys.exit(main())
