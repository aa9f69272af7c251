"""How fast a piece of work goes, and how long the rest may take, in words."""

_MINUTE = 60.0


def describe_pace(done: int, total: int, seconds: float) -> str:
    """Return the rate and an estimate of the remaining time. Before the first item is done there is no estimate."""
    if done <= 0 or seconds <= 0:
        return "no estimate yet"
    rate = f"{_MINUTE * done / seconds:.1f} a minute"
    if done >= total:
        return rate
    left = seconds / done * (total - done)
    return f"{rate}, about {_duration(left)} left"


def _duration(seconds: float) -> str:
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    minutes = round(seconds / _MINUTE)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
