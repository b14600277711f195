# docker build -t beadle --build-arg BEADLE_COMMIT="$(git rev-parse HEAD)" .
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
# Shown by 'beadle --version'.
ARG BEADLE_COMMIT
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/build/target \
    cargo build --profile dist --locked --bin beadle \
    && install -D target/dist/beadle /out/beadle
COPY .ci/package.d/image-root ./
COPY LICENSE /image/usr/share/doc/beadle/LICENSE
RUN ./image-root /out/beadle /image /state

# The program and what it is linked to: no shell, no package manager. .ci/package builds this stage
# from the folders that the one above would make.
FROM scratch
COPY --from=build /image /
COPY --from=build --chown=10001:10001 /state /var/lib

USER 10001:10001
# Name files here in the policy (violations: { database: /var/lib/beadle/violations.db }). Policies of
# earlier versions, whose relative names started here, find their old files.
WORKDIR /var/lib/beadle
VOLUME /var/lib/beadle
ENV BEADLE_CONFIG=/etc/beadle/beadle.yaml
EXPOSE 8080
STOPSIGNAL SIGTERM
ENTRYPOINT ["/usr/bin/beadle"]
CMD ["serve"]
