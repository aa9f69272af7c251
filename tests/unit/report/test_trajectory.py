from sandmill.models.rollout import FactCredit
from sandmill.report.rollouts import trajectory
from tests.rollout_records import make_masked, make_record


def test_facts_credit_steps_and_messages_come_in_order():
    record = make_record(reward=0.3, medal="bronze")
    rollout = record.rollout.model_copy(
        update={"facts": (FactCredit(fact="formula:bmi", value=0.5),), "episode_id": "e1"}
    )
    (title, facts), *rest = trajectory(record.model_copy(update={"rollout": rollout}))
    assert title == "sm1, rollout 0: reward 0.300"
    for line in ("medal             bronze", "outcome           ok", "episode id        e1", "chosen            1"):
        assert line in facts
    texts = dict(rest)
    assert list(texts)[:4] == ["credit", "steps", "message 1, system", "message 2, assistant"]
    assert "reward/gap        0.300" in texts["credit"]
    assert "fact formula:bmi  0.500" in texts["credit"]
    assert "Valid submission. Score: 0.3" in texts["steps"]
    assert "runtime_error" in texts["steps"]
    assert texts["step 3, code"] == "1/0"
    assert "a\r\nb" in texts["step 1, standard output"]


def test_code_that_a_message_holds_is_not_repeated():
    record = make_record()
    said = record.messages[1].model_copy(update={"content": "```python\n1/0\n```"})
    titles = dict(trajectory(record.model_copy(update={"messages": (said,)})))
    assert "step 3, code" not in titles
    assert "step 1, code" in titles


def test_a_masked_rollout_has_no_credit():
    (title, facts), *rest = trajectory(make_masked(error="no answer"))
    assert title == "sm1, rollout 0: masked, no reward"
    assert "no answer" in facts
    assert "credit" not in dict(rest)
