# Builds releases: runs the flows of a Prefect work pool, or is a worker of a Dask cluster.
# From the root of the repository:
#   docker build -f docker/build-worker.Dockerfile --build-arg EXTRAS=pipeline,dask -t sandmill-build-worker .
FROM python:3.11-slim

ARG EXTRAS=pipeline
ENV DO_NOT_TRACK=1 \
    PREFECT_SERVER_ANALYTICS_ENABLED=false \
    PREFECT_HOME=/var/lib/sandmill/.prefect \
    PYTHONPATH=/app \
    SANDMILL_AGENT_ENV=/opt/agent-env \
    SANDMILL_CLONE=/app

# LightGBM needs libgomp1.
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src/ src/
RUN pip install --no-cache-dir --compile -c constraints.txt ".[${EXTRAS}]"

# Reference solutions run in this interpreter. It is owned by root, so that no script can change it.
RUN sandmill agent-env create

COPY flows/ flows/
COPY tasks/ tasks/
COPY expectations/ expectations/
COPY prefect.yaml ./

RUN useradd --create-home --home-dir /var/lib/sandmill --uid 1000 sandmill
USER sandmill

CMD ["prefect", "worker", "start", "--pool", "sandmill", "--type", "process"]
