"""A domain for tests, bare or with knowledge of how its columns depend on each other."""

from typing import Any

from sandmill.models.domain import Domain

_NUMBERS = (
    "length_m",
    "weight_kg",
    "price_eur",
    "age_years",
    "stock",
    "speed_m_s",
    "heat_c",
    "noise_db",
    "pieces",
    "rest",
)
_DATA: dict[str, Any] = {
    "name": "crates",
    "title": "Crates",
    "row": "one crate",
    "overview": ["Crates are weighed at the gate.", "Some of them come back."],
    "numeric": [
        *(
            {
                "name": name,
                "meaning": f"The {name} of the crate",
                "decimals": 2,
                "distribution": {"kind": "lognormal", "median": 5.0 + place, "sigma": 0.5}
                if place % 2 == 0
                else {"kind": "normal", "mean": 20.0 + place, "sd": 3.0},
            }
            for place, name in enumerate(_NUMBERS)
        ),
        {"name": "hour", "meaning": "Hour", "decimals": 0, "distribution": {"kind": "cycle", "first": 0, "period": 24}},
    ],
    "categorical": [
        {"name": "wood", "meaning": "Wood of the crate", "levels": ["oak", "pine", "beech"]},
        {"name": "gate", "meaning": "Gate that it passed", "levels": ["north", "south", "west", "east"]},
        {"name": "colour", "meaning": "Colour of the lid", "levels": ["red", "blue"]},
    ],
    "high_cardinality": [
        {"name": "city", "meaning": "City", "level_names": "city"},
        {"name": "street", "meaning": "Street", "level_names": "street"},
    ],
    "dates": [{"name": "made_on", "meaning": "Day on which it was made", "first": "2020-01-01", "days": 500}],
    "units": [{"name": "maker", "meaning": "Maker", "plural": "makers", "prefix": "M"}],
    "ratios": [["length_m", "price_eur"], ["stock", "heat_c"], ["pieces", "price_eur"]],
    "products": [["weight_kg", "age_years"], ["speed_m_s", "noise_db"]],
    "periods": [["hour", 24.0]],
    "targets": {
        "binary": [{"name": "returned", "meaning": "1 if it came back, 0 if not"}],
        "regression": [{"name": "wear", "meaning": "Wear", "location": 50.0, "scale": 8.0, "decimals": 2}],
    },
}
_KNOWS: dict[str, Any] = {
    "factors": [
        {
            "name": "size",
            "loads": {"length_m": 0.8, "weight_kg": 0.8, "price_eur": 0.6, "stock": -0.6, "wood": 0.6, "hour": 0.5},
        },
        {
            "name": "weather",
            "loads": {"heat_c": 0.8, "noise_db": -0.7, "speed_m_s": 0.7, "weight_kg": 0.5, "gate": 0.5},
        },
    ],
    "level_orders": {"wood": ["beech", "oak", "pine"], "gate": ["west", "north", "east", "south"]},
    "identities": [
        {"name": name, "meaning": f"The {how} of two", "decimals": 1, "how": how, "of": of}
        for name, how, of in (
            ("load_kg_m", "product", ["length_m", "price_eur"]),
            ("warmth", "sum", ["heat_c", "stock"]),
            ("by_normal", "quotient", ["heat_c", "weight_kg"]),
        )
    ],
    "orders": [{"lower": "length_m", "upper": "weight_kg"}],
    "exclusions": [
        {"column": "price_eur", "above": 14.0, "by": "wood", "levels": ["pine"]},
        {"column": "noise_db", "below": 20.0, "above": 34.0, "by": "gate", "levels": ["east", "west"]},
    ],
}

BARE = Domain.model_validate(_DATA)
"""Without knowledge."""


def known_domain() -> Domain:
    """The same domain with knowledge."""
    return Domain.model_validate({**_DATA, "knows": _KNOWS})
