FROM python:3.11-slim AS build
WORKDIR /src
RUN python -m venv /opt/tiger
COPY constraints.txt pyproject.toml README.md LICENSE ./
COPY tiger tiger
COPY solvers solvers
COPY partition partition
COPY api api
RUN /opt/tiger/bin/pip install --no-cache-dir --disable-pip-version-check ".[all]" -c constraints.txt

FROM python:3.11-slim
RUN useradd --create-home --uid 10001 tiger
COPY --from=build /opt/tiger /opt/tiger
ENV PATH=/opt/tiger/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/home/tiger/.cache/numba
USER tiger
WORKDIR /home/tiger
# A volume takes over the owner of the folder that it is mounted on.
RUN tiger warm && mkdir -m 700 -p .local/share/tiger
VOLUME /home/tiger/.local/share/tiger
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["env", "no_proxy=127.0.0.1", "python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["tiger", "serve", "--host", "0.0.0.0", "--port", "8000"]
