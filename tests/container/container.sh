#!/usr/bin/env bash
# container.sh -- the image that the Dockerfile describes, made step by step in two chroots, without Docker.
#
# TAP on stdout. Needs root and debootstrap, which fetches a minimal Debian. Only `make check-container` runs it.
. "$(dirname "$0")/../support/tap.sh"
[ "$(id -u)" = 0 ] || none "only root can change its root"
command -v debootstrap >/dev/null || none "there is no debootstrap"

# line INSTRUCTION STAGE: what the Dockerfile has behind it, in its first or second stage
line()
{
    awk -v want="$1" -v stage="$2" '$1 == "FROM" {n++} $1 == want && n == stage {sub(/^[A-Z]+ /, ""); print}' "$root/Dockerfile"
}

# inside ROOT USER COMMAND: as in a container
inside()
{
    call chroot --userspec="$2" "$1" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c "$3"
}

debootstrap --variant=minbase bookworm first ${MIRROR:-} >log 2>&1 && cp -a first second
ok "a minimal Debian" || { tail -3 log; plan; exit; }
mkdir first/src && git -C "$root" archive HEAD | tar x -C first/src
inside first 0:0 "$(line RUN 1)" && [ -x first/made/bin/kernbench ]
ok "the first stage builds, and installs into /made"
mkdir -p second/opt && cp -a first/made second/opt/kernbench && inside second 0:0 "$(line RUN 2)"
ok "the second stage"
user=$(line USER 2)
inside second "$user:$user" "cd $(line WORKDIR 2) && $(line CMD 2 | tr -d '[]"')" && grep -q '^pe-local-hbm ' out && grep -q ' pass ' out
ok "its command is the demo, for a user without rights"
path="PATH=$(line ENV 2 | sed 's/^PATH=//; s/:.*//'):\$PATH"
inside second "$user:$user" "$path; cd /work && cp /opt/kernbench/share/kernbench/examples/moe.c . && kernbench cc moe.c && cube8 run ./moe.so:moe --verify" &&
    grep -q ' pass ' out
ok "a kernel of one's own is compiled and run in /work"
inside second "$user:$user" "$path; kernbench probe --machine /opt/kernbench/share/kernbench/topologies/cube8.yaml" && grep -q '^pe-local-hbm ' out
ok "a machine by its file"
inside second "$user:$user" 'touch /opt/kernbench/x' || [ $code != 0 ]
[ $code != 0 ]
ok "the user cannot change what is installed"
plan
