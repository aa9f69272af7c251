# Runs agents' code for trainers: the agent environment, and the sandbox server on port 8700.
# From the root of the repository:
#   docker build -f docker/agent-env.Dockerfile -t sandmill-agent-env .
#   docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined \
#     -v $PWD/token:/run/secrets/token:ro -v $PWD/pulled:/tasks:ro -p 8700:8700 sandmill-agent-env
# Token and pulled tasks belong to user id 1000, and nobody else can read them: chown -R 1000 token pulled
FROM python:3.11-slim

ENV SANDMILL_AGENT_ENV=/opt/agent-env

# LightGBM needs libgomp1.
RUN apt-get update \
    && apt-get install -y --no-install-recommends libgomp1 \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src/ src/
RUN pip install --no-cache-dir --compile -c constraints.txt ".[serve,s3]"
RUN sandmill agent-env create

RUN useradd --create-home --home-dir /var/lib/sandmill --uid 1000 sandmill
USER sandmill

EXPOSE 8700
CMD ["sandmill", "serve", "--host", "0.0.0.0", "--port", "8700", "--token-file", "/run/secrets/token", "/tasks"]
