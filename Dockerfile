# Headgate in a container. Simulations need no rights and run as an ordinary user:
#
#   docker build --tag headgate .
#   docker run --rm --volume "$PWD:/work" headgate run protect
#
# Real packets need root in the container, CAP_NET_ADMIN and CAP_SYS_ADMIN for network namespaces, and the TUN device.
# CAP_NET_RAW lets commands such as ping open raw sockets, CAP_SYS_NICE gives the forwarding thread its priority:
#
#   docker run --rm --user root --cap-drop ALL --cap-add NET_ADMIN --cap-add SYS_ADMIN --cap-add NET_RAW --cap-add SYS_NICE \
#     --device /dev/net/tun headgate link --rate 10Mbit/s -- ping -c 3 100.64.0.2

# Debian's node is too old for the lab.
FROM node:22-bookworm-slim AS node

# A compiler, Python, node and make: enough for every target of the Makefile. The devcontainer stops here.
FROM rust:1.95-slim-bookworm AS tools
COPY --from=node /usr/local /usr/local
RUN apt-get update \
    && apt-get install --yes --no-install-recommends git iproute2 iputils-ping make python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/* \
    && rustup target add wasm32-unknown-unknown

FROM tools AS build
WORKDIR /source
COPY . .
RUN make build/pins.txt && make wheels LINUX="$(uname -m)-unknown-linux-gnu"

FROM python:3.13-slim-bookworm
RUN apt-get update \
    && apt-get install --yes --no-install-recommends iproute2 iputils-ping \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home headgate
RUN --mount=type=bind,from=build,source=/source,target=/source \
    pip install --no-cache-dir --constraint /source/build/pins.txt /source/dist/*.whl
USER headgate
WORKDIR /work
ENTRYPOINT ["headgate"]
CMD ["--help"]
