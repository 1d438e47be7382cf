# docker build -t cloudgate . && docker run -p 3000:3000 cloudgate
FROM debian:12-slim AS build
WORKDIR /app
COPY scripts/packages scripts/install-packages scripts/
RUN scripts/install-packages build && rm -rf /var/lib/apt/lists/*
COPY . .
RUN make -j"$(nproc)" && ./cloudgate build

FROM debian:12-slim
WORKDIR /app
COPY scripts/packages scripts/install-packages scripts/
RUN scripts/install-packages runtime && rm -rf /var/lib/apt/lists/* scripts \
    && useradd --uid 10001 --user-group --no-create-home --home-dir /var/lib/cloudgate --shell /usr/sbin/nologin cloudgate \
    && install -d -m 0700 -o cloudgate -g cloudgate /var/lib/cloudgate
# Owned by root: the server reads these and can't change them.
COPY --from=build /app/cloudgate /app/apiconfig.yaml ./
COPY --from=build /app/public public
COPY --from=build /app/functions functions

# The image is the release: what lies in it does not change while it runs.
ENV STATE_DIR=/var/lib/cloudgate AUTO_RELOAD=0 GUESTBOOK=/var/lib/cloudgate/guestbook.db
USER cloudgate
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s CMD ["/app/cloudgate", "health"]
# The supervisor is made to be PID 1: it reaps its children, and TERM drains and stops it.
STOPSIGNAL SIGTERM
CMD ["/app/cloudgate"]
