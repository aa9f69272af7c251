"""What the proof says while it runs, and the scripts that it plans."""

from sandmill_learn.proof.progress import ProofPlan, ProofProgress
from sandmill_learn.proof.settings import ProofSettings


class Screen:
    """Keeps lines, with a clock that a test turns."""

    def __init__(self):
        self.now, self.lines = 0.0, []
        self.progress = ProofProgress(self.lines.append, clock=lambda: self.now)

    def work(self, name, planned, scripts, seconds):
        with self.progress.unit(name, planned):
            for number in range(scripts):
                self.now += seconds // scripts + (number < seconds % scripts)
                self.progress.count()
        self.progress.say("ready")


def test_messages_have_a_share_and_an_estimate_from_the_work_of_this_process():
    screen = Screen()
    screen.progress.say("reading")
    screen.progress.begin(400)
    # This unit was finished by an earlier process: it takes no time, and says nothing of the speed.
    screen.work("a", 100, 0, 0)
    screen.work("b", 100, 90, 120)
    assert screen.lines[:2] == ["00:00  reading", "00:00   25%  ready"]
    # The first scripts of a process say too little for an estimate.
    assert screen.lines[2] == "00:20   28%  b: 10 of about 100 scripts"
    assert screen.lines[-1] == "02:00   50%, about 4 min left  ready"
    long = [line for line in screen.lines if "about 100 scripts" in line]
    assert len(long) == 6
    assert all("b: " in line for line in long)
    screen.work("c", 200, 200, 100)
    assert screen.lines[-1] == "03:40  100%  ready"


def test_the_plan_counts_every_seed_and_the_tuning_of_rejection():
    settings = ProofSettings(seeds=2, updates=8, batch_tasks=2, group=4, samples=2)
    plan = ProofPlan(settings, tested=10, validation=3)
    assert plan.scored == 30
    assert plan.grpo == 64 + 5 * 3 * 3 + 30
    trained = 3 * plan.rejection + 2 * plan.grpo
    assert plan.total == 2 * 30 + trained + 64 + 10
    more = ProofPlan(settings.model_copy(update={"arms": ("sft", "baselines")}), 10, 3)
    assert more.total == 2 * 30 + 64 + 40
