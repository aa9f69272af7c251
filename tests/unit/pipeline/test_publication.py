"""The last message of a run: the same words in the Prefect UI and on the command line."""

from sandmill.pipeline.publishing import Publication


def _publication(**changed):
    facts = {"dataset": "micro", "version": "0001-1a2b3c4d", "place": "releases/micro", "tasks": 12}
    return Publication(**{**facts, "is_new": True, "missed_mix": (), **changed})


def test_a_new_version_is_named():
    assert _publication().message == "Published releases/micro@0001-1a2b3c4d with 12 tasks."


def test_equal_content_is_nothing_new():
    message = _publication(is_new=False, tasks=1).message
    assert message == "Nothing new: equal content is published already, releases/micro@0001-1a2b3c4d with 1 task."


def test_a_missed_mix_follows_in_words():
    assert _publication(missed_mix=("hard: asked 5, got 3.",)).message.splitlines()[1:] == [
        "Mix missed. hard: asked 5, got 3."
    ]
