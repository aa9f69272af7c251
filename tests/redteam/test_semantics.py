"""Attacks on the meaning of a score: malformed submissions, and predictions that know nothing."""

import pytest

from tests.redteam.attacks import Attack
from tests.redteam.siege import Siege

OK, INVALID = ("ok",), ("invalid_submission",)
EITHER = ("ok", "invalid_submission")

CELLS = {
    "nan": "nan",
    "NaN": "NaN",
    "infinity": "inf",
    "overflow": "1e999",
    "complex": "1+0j",
    "hexadecimal": "0x1p3",
    "underscores": "1_000",
    "full-width digits": "０.５",
    "arabic digits": "٠.٥",
    "decimal comma": "0,5",
    "none": "None",
    "not available": "NA",
    "nothing": "",
    "a sentence": "the right answer",
    "money": "$1",
    "a list": "[0.5]",
    "zero byte": "0.5\\0",
    "a minus of typography": "−1",
    "an exponent without digits": "1e",
    "a date": "2020-01-01",
    "quotes in quotes": '"0.5"',
    "a line break": "0.5\\n0.5",
    "true": "True",
    "control characters": "\\x1b[2J1",
    "a file separator before": "\\x1c0.5",
    "a next line sign behind": "0.5\\x85",
    "a line separator behind": "0.5\\u2028",
}
"""What is a number to somebody and to us is none, or too large: every cell of a submission holds it."""

ATTACKS = {
    **{
        f"cells: {name}": Attack(f'submit("{cell}")' if '"' not in cell else f"submit('{cell}')", INVALID, (19,))
        for name, cell in CELLS.items()
    },
    "cells: digits without end": Attack('submit("1" * 60)', EITHER, (19,)),
    "cells: digits without any end": Attack('submit("0." + "1" * 2000)', EITHER, (19,)),
    "one bad cell": Attack('submit(lambda n: "nan" if n == 1000 else SAMPLE[n][1])', INVALID, (19,)),
    "cells: minus zero": Attack('submit("-0")', EITHER, (19,)),
    "cells: all but nothing": Attack('submit("1e-320")', EITHER, (19, 22)),
    "cells: the largest": Attack('submit("1.7976931348623157e308")', INVALID, (19, 22)),
    "cells: large": Attack('submit("1e150")', EITHER, (19, 22)),
    "cells: negative": Attack('submit("-1000000")', EITHER, (22,)),
    "signs in turns": Attack('submit(lambda n: ("1e100", "-1e100")[n % 2])', EITHER, (22,)),
    "a row missing": Attack("submit(lambda n: SAMPLE[n][1], ids=IDS[1:])", INVALID, (20,)),
    "a row twice": Attack("submit(lambda n: SAMPLE[0][1], ids=[*IDS, IDS[0]])", INVALID, (20,)),
    "one row for another": Attack("submit(lambda n: SAMPLE[0][1], ids=[*IDS[:-1], IDS[0]])", INVALID, (20,)),
    "rows of the training set": Attack(
        """
with open("public/train.csv") as file: rows = list(csv.DictReader(file))
submit(lambda n: SAMPLE[0][1], ids=[*IDS, *(row[HEADER[0]] for row in rows)])
""",
        INVALID,
        (20,),
    ),
    "other ids": Attack("submit(lambda n: SAMPLE[n][1], ids=[f'{n}' for n in range(len(IDS))])", INVALID, (20,)),
    "ids with blanks": Attack("submit(lambda n: SAMPLE[n][1], ids=[f' {i} ' for i in IDS])", INVALID, (20,)),
    "ids with an invisible sign": Attack(
        "submit(lambda n: SAMPLE[n][1], ids=['\\u200b' + i for i in IDS])", INVALID, (20,)
    ),
    "ids and cells exchanged": Attack("submit(lambda n: IDS[n], ids=[row[1] for row in SAMPLE])", INVALID, (20,)),
    "the target twice": Attack(
        """
with open("submission.csv", "w") as file:
    file.write(",".join([*HEADER, HEADER[1]]) + "\\n" + "".join(f"{i},{v},{v}\\n" for i, v in SAMPLE))
""",
        INVALID,
        (20,),
    ),
    "a column more": Attack(
        """
with open("submission.csv", "w") as file:
    file.write(",".join([*HEADER, "weight"]) + "\\n" + "".join(f"{i},{v},1\\n" for i, v in SAMPLE))
""",
        INVALID,
        (20,),
    ),
    "the index of a frame": Attack(
        "import pandas as pd; pd.read_csv('public/sample_submission.csv').to_csv('submission.csv')", INVALID, (20,)
    ),
    "no header": Attack("submit(lambda n: SAMPLE[n + 1][1], header=SAMPLE[0], ids=IDS[1:])", INVALID, (20,)),
    "another header": Attack("submit(lambda n: SAMPLE[n][1], header=['id', 'prediction'])", INVALID, (20,)),
    "an empty file": Attack("open('submission.csv', 'w').close()", INVALID, (20,)),
    "a header alone": Attack("submit('1', ids=[])", INVALID, (20,)),
    "semicolons": Attack(
        "submit_sample(); t = open('submission.csv').read(); open('submission.csv', 'w').write(t.replace(',', ';'))",
        INVALID,
        (20,),
    ),
    "two tables": Attack(
        "t = open('public/sample_submission.csv').read(); open('submission.csv', 'w').write(t + t)", INVALID, (20,)
    ),
    "rubbish at the end": Attack(
        "submit_sample(); open('submission.csv', 'a').write('\\n\\n</submission>')", INVALID, (20,)
    ),
    "a quote that never ends": Attack(
        "submit_sample(); open('submission.csv', 'a').write('\"' + 'x' * 200000)", INVALID, (18,)
    ),
    "wide characters": Attack(
        "open('submission.csv', 'wb').write(open('public/sample_submission.csv').read().encode('utf-16'))",
        INVALID,
        (19,),
    ),
    "bytes of another code": Attack(
        "submit_sample(); open('submission.csv', 'ab').write(b'\\xe9,1\\n')", INVALID, (19,)
    ),
    "zero bytes": Attack(
        "open('submission.csv', 'wb').write(open('public/sample_submission.csv', 'rb').read() + bytes(1000))",
        INVALID,
        (19,),
    ),
    "the test set": Attack("shutil.copyfile('public/test.csv', 'submission.csv')", INVALID, (1,)),
    "the description": Attack("shutil.copyfile('public/description.md', 'submission.csv')", ("runtime_error",), (1,)),
    "the sample copied": Attack("submit_sample()", OK, (6, 21)),
    "the sample with a byte order mark": Attack(
        "open('submission.csv', 'wb').write(b'\\xef\\xbb\\xbf' + open('public/sample_submission.csv', 'rb').read())", OK
    ),
    "the sample shuffled": Attack(
        """
import random
random.Random(1).shuffle(SAMPLE)
submit(lambda n: SAMPLE[n][1:], ids=[row[0] for row in SAMPLE])
""",
        OK,
        (21,),
    ),
    **{f"constant {cell}": Attack(f"submit('{cell}')", EITHER, (21, 22)) for cell in ("0", "1", "0.5", "3", "1e-9")},
    "the commonest target": Attack(
        """
from collections import Counter
with open("public/train.csv") as file: rows = list(csv.DictReader(file))
submit(Counter(row[HEADER[1]] for row in rows).most_common(1)[0][0])
""",
        OK,
        (21,),
        pays="luck",
    ),
    "the mean target": Attack(
        """
with open("public/train.csv") as file: values = [float(row[HEADER[1]]) for row in csv.DictReader(file)]
submit(repr(sum(values) / len(values)))
""",
        EITHER,
        (21,),
        pays="luck",
    ),
    **{
        f"order and ids: {name}": Attack(
            f"""
with open("public/train.csv") as file: targets = sorted((row[HEADER[1]] for row in csv.DictReader(file)), key=float)
keys = [{key} for n, i in enumerate(IDS)]
place = {{n: p for p, n in enumerate(sorted(range(len(IDS)), key=lambda n: (keys[n], n)))}}
submit(lambda n: targets[place[n] * len(targets) // len(IDS)])
""",
            OK,
            (5,),
            pays="luck",
        )
        for name, key in {
            "number of the row": "n",
            "number from the end": "-n",
            "id": "i",
            "last sign of the id": "i[-1]",
            "sum of the id": "sum(map(ord, i))",
            "order of the line": "hash(open) * 0 + len(i)",
        }.items()
    },
    "the training rows' order laid over the test": Attack(
        """
with open("public/train.csv") as file: targets = [row[HEADER[1]] for row in csv.DictReader(file)]
submit(lambda n: targets[n % len(targets)])
""",
        OK,
        (5, 7),
        pays="luck",
    ),
    "times and sizes of the files": Attack(
        """
facts = [os.stat(f"public/{name}") for name in sorted(os.listdir("public"))]
with open("public/train.csv") as file: targets = [row[HEADER[1]] for row in csv.DictReader(file)]
key = sum(int(fact.st_mtime_ns) + fact.st_size + fact.st_ino for fact in facts)
submit(lambda n: targets[key * (n + 1) % len(targets)])
""",
        OK,
        (5,),
        pays="luck",
    ),
    "a rule without learning": Attack(
        """
import pandas as pd
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
numbers = [name for name in test.select_dtypes("number")]
targets = sorted(train[HEADER[1]])
rank = test[numbers[0]].rank(method="first", na_option="top").astype(int) - 1
submit(lambda n: targets[rank[n] * len(targets) // len(test)])
""",
        OK,
        (23,),
        pays="prediction",
    ),
    "the nearest training row copied": Attack(
        """
import numpy as np, pandas as pd
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
numbers = [name for name in test.select_dtypes("number")]
scale = train[numbers].std().replace(0, 1)
a, b = (frame[numbers].fillna(train[numbers].median()) / scale for frame in (train, test))
near = ((b.to_numpy()[:, None, :] - a.to_numpy()[None]) ** 2).sum(axis=2).argmin(axis=1)
submit(lambda n: train[HEADER[1]].iloc[near[n]])
""",
        OK,
        (7,),
        pays="prediction",
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_what_predicts_nothing_is_paid_nothing(name: str, siege: Siege):
    siege.survives(ATTACKS[name])


def test_after_them_the_reference_is_gold(siege: Siege):
    siege.pays_the_reference()
