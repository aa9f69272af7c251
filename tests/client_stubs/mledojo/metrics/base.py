"""The class from which metrics derive."""


class CompetitionMetrics:
    def __init__(self, higher_is_better: bool = True):
        self.higher_is_better = higher_is_better


class InvalidSubmissionError(Exception):
    pass
