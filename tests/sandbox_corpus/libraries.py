"""Honest scripts over tables, arrays and models, as far as they keep to one process."""

LIBRARIES = {
    "numpy": """
import numpy as np
data = np.genfromtxt("public/train.csv", delimiter=",", skip_header=1)
w, *_ = np.linalg.lstsq(data[:, 1:3], data[:, 3], rcond=None)
np.savetxt("submission.csv", np.round(w, 6))
""",
    "hash order": """
open("submission.csv", "w").write(",".join({f"column_{i}" for i in range(50)}))
""",
    "pandas": """
import pandas as pd
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
test["label"] = (test.a > train.a.mean()).astype(int)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "polars": """
import polars as pl
t = pl.read_csv("public/train.csv")
t.group_by("label").agg(pl.col("a").mean().round(6)).sort("label").write_csv("submission.csv")
""",
    "pyarrow and parquet": """
import pyarrow.csv as pc, pyarrow.parquet as pq, pyarrow.compute as c
pq.write_table(pc.read_csv("public/train.csv"), "train.parquet")
t = pq.read_table("train.parquet")
open("submission.csv", "w").write(f"{c.sum(t['a']).as_py():.6f} {t.num_rows}")
""",
    "scipy": """
import pandas as pd
from scipy import stats, optimize
t = pd.read_csv("public/train.csv")
r = stats.spearmanr(t.a, t.b).statistic
m = optimize.minimize_scalar(lambda x: ((t.a - x) ** 2).sum()).x
open("submission.csv", "w").write(f"{r:.6f} {m:.4f}")
""",
    "logistic regression": """
import pandas as pd
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
model = make_pipeline(StandardScaler(), LogisticRegression()).fit(train[["a", "b"]], train.label)
test["label"] = model.predict_proba(test[["a", "b"]])[:, 1].round(6)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "forest on all processors": """
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
model = RandomForestClassifier(30, n_jobs=-1, random_state=0).fit(train[["a", "b"]], train.label)
test["label"] = model.predict_proba(test[["a", "b"]])[:, 1].round(6)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "grid search in processes": """
import pandas as pd
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier
train = pd.read_csv("public/train.csv")
search = GridSearchCV(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, n_jobs=2, cv=3)
search.fit(train[["a", "b"]], train.label)
open("submission.csv", "w").write(f"{search.best_params_} {search.best_score_:.6f}")
""",
    "lightgbm": """
import pandas as pd, lightgbm as lgb
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
model = lgb.LGBMClassifier(n_estimators=10, verbose=-1, random_state=0).fit(train[["a", "b"]], train.label)
test["label"] = model.predict_proba(test[["a", "b"]])[:, 1].round(6)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "xgboost": """
import pandas as pd
from xgboost import XGBClassifier
train, test = pd.read_csv("public/train.csv"), pd.read_csv("public/test.csv")
model = XGBClassifier(n_estimators=10, n_jobs=2).fit(train[["a", "b"]], train.label)
test["label"] = model.predict_proba(test[["a", "b"]])[:, 1].astype(float).round(5)
test[["id", "label"]].to_csv("submission.csv", index=False)
""",
    "pillow": """
from PIL import Image
picture = Image.new("L", (8, 8), 40); picture.putpixel((1, 1), 255); picture.save("p.png")
open("submission.csv", "w").write(str(sum(Image.open("p.png").getdata())))
""",
}
