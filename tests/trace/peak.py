#!/usr/bin/env python3
"""peak.py -- a timeline through a pipe: how many packets it has, and the most memory of its own that the writer had,
in KiB.

Pages of the program and of its libraries are not counted: how many of those are in memory is the system's choice.

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
                found = re.search(r"RssAnon:\s*(\d+)", status.read())
            peak = max(peak, int(found[1]) if found else 0)
    os.remove(pipe)
    print(sum(1 for _ in timeline.fields(memoryview(data))), peak)
    return writer.wait()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
