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
# Clusters run it as another user, of group 0, which therefore may do what this user may.
RUN useradd --create-home --uid 10001 --gid 0 tiger
COPY --from=build /opt/tiger /opt/tiger
ENV PATH=/opt/tiger/bin:$PATH \
    HOME=/home/tiger \
    PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/opt/tiger/kernels \
    NUMBA_CPU_NAME=generic
# The kernels are for any processor of this kind, so that none is compiled where the image runs.
# A volume takes over the owner and the mode of the folder that it is mounted on.
RUN tiger warm && mkdir -p /home/tiger/.local/share && mkdir -m 770 /home/tiger/.local/share/tiger && \
    chown -R 10001:0 /home/tiger && chmod -R g=u /home/tiger && chmod a+rx /home/tiger
USER 10001:0
WORKDIR /home/tiger
VOLUME /home/tiger/.local/share/tiger
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
    CMD ["env", "no_proxy=127.0.0.1", "python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
CMD ["tiger", "serve", "--host", "0.0.0.0", "--port", "8000"]
