import numpy as np

from sandmill.report.similarity import NEIGHBOURS, _nearest, map_tasks

SHOPS = [f"# Shops\nPredict sales of bread and butter in bakery {word}." for word in ("north", "south", "east", "west")]
STARS = [
    f"# Stars\nPredict brightness of distant suns seen from {word}." for word in ("north", "south", "east", "west")
]


def test_similar_tasks_are_near_each_other():
    found = map_tasks([*SHOPS, *STARS], [{"metric": "mae"}] * 8)
    for number, near in enumerate(found.nearest):
        assert len(near) == NEIGHBOURS
        assert number not in near
        assert {place // 4 for place in near[:3]} == {number // 4}
    assert np.ptp(found.x[:4]) < np.ptp(found.x)


def test_facts_count_where_prompts_are_equal():
    metrics = ["mae", "mae", "auc", "auc", "mae", "auc"]
    found = map_tasks(["Predict."] * 6, [{"metric": name} for name in metrics])
    assert {metrics[number] for number in found.nearest[0][:2]} == {"mae"}


def test_maps_of_few_tasks_and_of_the_same_tasks_hold():
    for number in (1, 2, 3):
        found = map_tasks(SHOPS[:number], [{}] * number)
        assert len(found.x) == len(found.y) == number
        assert [len(near) for near in found.nearest] == [number - 1] * number
    assert map_tasks([*SHOPS, *STARS], [{}] * 8) == map_tasks([*SHOPS, *STARS], [{}] * 8)


def test_of_equal_tasks_the_first_are_nearest():
    equal, other = SHOPS[0], STARS[0]
    found = map_tasks([equal, other] * 20, [{}] * 40)
    same = list(range(0, 40, 2))
    assert found.nearest[0] == tuple(same[1 : NEIGHBOURS + 1])
    assert found.nearest[38] == tuple(same[:NEIGHBOURS])
    assert found.nearest[4] == (0, 2, 6, 8, 10)


def test_nearest_tasks_are_those_of_a_search_through_all():
    spread = np.random.default_rng(5).integers(0, 9, size=(200, 3)).astype(float)
    for number, near in enumerate(_nearest(spread)):
        away = np.linalg.norm(spread - spread[number], axis=1).round(3)
        away[number] = np.inf
        assert away[list(near)].tolist() == np.sort(away)[:NEIGHBOURS].tolist()
        assert number not in near
