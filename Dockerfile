# The image of action.yml. The tags say what the digests are; Dependabot moves
# both together.

FROM golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d AS build
ARG VERSION=dev
ENV CGO_ENABLED=0 GOTOOLCHAIN=local
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /pawl ./cmd/pawl

FROM debian:bookworm-slim@sha256:88200866dfff7ea7f5cbcb6ec7c8a701889efe6fe859fe64d6990e4b07ea4171
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates git \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /pawl /pawl
# There is no USER line: the runner mounts the workspace with its own owner and
# expects root. That git would distrust such a workspace (safe.directory) is
# settled by pawl for each git process it starts, not here for all of them.
ENTRYPOINT ["/pawl", "action"]
