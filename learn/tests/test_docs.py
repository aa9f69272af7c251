"""The commands of this distribution that the documentation names can be parsed."""

import pytest

from sandmill.cli.arguments import parse_models
from sandmill_learn.evaluation import EvaluationRequest
from sandmill_learn.training import TrainRequest, TrainSettings
from tests.docs_commands import all_commands

MODELS = {
    "sandmill_learn.flows.train_policy": (TrainRequest, TrainSettings),
    "sandmill_learn.flows.evaluate_policy": (EvaluationRequest,),
}
COMMANDS = [words for command in all_commands() if (words := command.words)[1:2] == ["-m"] and words[2] in MODELS]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_arguments_of_a_command_parse(words):
    parse_models(words[3:], words[2], "", "", *MODELS[words[2]])


def test_the_documentation_names_both_flows():
    assert {words[2] for words in COMMANDS} == set(MODELS)
