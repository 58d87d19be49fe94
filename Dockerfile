# The simulator in a container: `docker build -t kernbench .`, then `docker run --rm kernbench` shows the demo,
# and `docker run --rm -v "$PWD:/work" kernbench kernbench probe --machine mine.yaml` takes a machine of yours.
FROM debian:12-slim AS build
COPY . /src
RUN sh /src/tools/container.sh build /src /made

FROM debian:12-slim
COPY --from=build /made /opt/kernbench
RUN sh /opt/kernbench/container.sh finish /opt/kernbench
USER kernbench
WORKDIR /work
ENV PATH=/opt/kernbench/bin:$PATH
CMD ["/opt/kernbench/demo"]
