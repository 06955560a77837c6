# One image for the server, the worker and the built-in bots: `meijin` with any arguments.
FROM python:3.12-slim AS build

WORKDIR /src
RUN python -m venv /opt/meijin
ENV PATH=/opt/meijin/bin:$PATH
COPY requirements.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements.lock
COPY . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.12-slim

# libfribidi: names in Arabic and the like stand in pictures as they are written.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends libfribidi0 \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --system --gid 10001 meijin \
    && useradd --system --uid 10001 --gid meijin --home-dir /data meijin \
    && install --directory --owner=meijin --group=meijin --mode=0700 /data /cache
COPY --from=build /opt/meijin /opt/meijin

ENV PATH=/opt/meijin/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    XDG_CACHE_HOME=/cache \
    MEIJIN_DATA=/data \
    MEIJIN_LISTEN=0.0.0.0:7464 \
    MEIJIN_WEB=0.0.0.0:7465

WORKDIR /data
USER meijin
EXPOSE 7464 7465
STOPSIGNAL SIGTERM

ENTRYPOINT ["meijin"]
CMD ["serve"]
