# docker build -t beadle .
# docker run -d --name beadle -p 80:8080 -v ./policy:/etc/beadle:ro -v beadle:/var/lib/beadle beadle
#
# ./policy holds beadle.yaml. Mount the folder, not the file: an editor that writes a new file in
# place of the old one would otherwise not be seen, and the policy not be reloaded.

FROM rust:1.95-slim-bookworm AS build
WORKDIR /build
# What the program is made of; tests and documents don't make the image anew. (cargo wants to see
# the benchmarks that Cargo.toml names, but does not build them.)
COPY Cargo.toml Cargo.lock ./
COPY .cargo .cargo
COPY src src
COPY config config
COPY examples examples
COPY benches benches
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/build/target \
    cargo build --release --locked --bin beadle \
    && install -D --strip target/release/beadle /out/beadle

FROM debian:bookworm-slim
# Certificates of the public authorities, for origins that are reached by https.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin beadle \
    && install -d -o beadle -g beadle -m 750 /var/lib/beadle \
    && install -d /etc/beadle
COPY --from=build /out/beadle /usr/local/bin/beadle
COPY LICENSE /usr/share/doc/beadle/LICENSE

USER 10001:10001
# Name files here in the policy (violations: { database: /var/lib/beadle/violations.db }). Policies of
# earlier versions, whose relative names started here, find their old files.
WORKDIR /var/lib/beadle
VOLUME /var/lib/beadle
ENV BEADLE_CONFIG=/etc/beadle/beadle.yaml
EXPOSE 8080
STOPSIGNAL SIGTERM
# Asks the admin listener where it stands by default, 127.0.0.1:9090. A policy that moves it, or
# switches it off, needs another check (or --no-healthcheck).
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
    CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/9090 && printf 'GET /readyz HTTP/1.0\\r\\n\\r\\n' >&3 && read -r -t 2 status <&3 && [[ $status == *' 200 '* ]]"]
ENTRYPOINT ["beadle"]
CMD ["serve"]
