#!/bin/sh
# container.sh -- what the Dockerfile runs: the steps of its two stages, which a chroot can follow as well.
#
#   container.sh build SOURCE PLACE    installs what a build needs; builds SOURCE, installs it into PLACE
#   container.sh finish PLACE          what PLACE needs to run: a compiler for `kernbench cc`, a user, /work
set -eu

build() {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends make ca-certificates >/dev/null
    # what a tree has made elsewhere is of no use here
    make -C "$1" B=/tmp/kernbench setup >/dev/null
    make -C "$1" B=/tmp/kernbench -s -j"$(nproc)" PREFIX="$2" all install >/dev/null
    mkdir -p "$2/share/kernbench/benches"
    cp "$1"/benches/*.csv "$2/share/kernbench/benches"
    cp -r "$1/topologies" "$1/examples" "$2/share/kernbench"
    cp "$1/tools/container.sh" "$2"
    # the demo runs the cube8 of a build: here that is the installed one
    sed "s|^sim=.*|sim=$2/bin/cube8\ncd $2/share/kernbench|" "$1/tools/demo.sh" >"$2/demo"
    chmod 755 "$2/demo"
}

finish() {
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends gcc libc6-dev libyaml-0-2 libsqlite3-0 \
        libjansson4 libprotobuf-c1 libxxhash0 >/dev/null
    rm -rf /var/lib/apt/lists/*
    # the place has another name here than where it was made
    sed -i "s|/[^ ]*/bin/cube8|$1/bin/cube8|; s|^cd .*|cd $1/share/kernbench|" "$1/demo"
    sed -i "s|^prefix=.*|prefix=$1|" "$1"/lib/pkgconfig/*.pc
    useradd --create-home --shell /bin/sh kernbench
    mkdir -p /work
    chown kernbench /work
}

"$@"
