#!/usr/bin/env python3
"""peak.py -- a timeline through a pipe: how many packets it has, and the writer's peak memory in KiB.

usage: peak.py PIPE COMMAND...; COMMAND writes to PIPE, which is made
"""
import os
import re
import subprocess
import sys

import timeline


def main(pipe, *command):
    os.mkfifo(pipe)
    writer = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    data, peak = bytearray(), 0
    with open(pipe, "rb") as f:
        while chunk := f.read(65536):
            data += chunk
            with open("/proc/%d/status" % writer.pid) as status:
                found = re.search(r"VmHWM:\s*(\d+)", status.read())
            peak = int(found[1]) if found else peak
    os.remove(pipe)
    print(sum(1 for _ in timeline.fields(memoryview(data))), peak)
    return writer.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
