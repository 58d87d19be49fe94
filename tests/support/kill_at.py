#!/usr/bin/env python3
"""kill_at.py -- runs a command, and kills it, and all that it has started, at one moment.

usage: kill_at.py US COMMAND...; ends with 0 if it was killed after US microseconds, 1 if it had ended
       kill_at.py - COMMAND...; prints how many microseconds it takes, and ends as it does

What it prints goes to the file "said". A shell would take longer to start `sleep` than most runs last.
"""
import os
import signal
import subprocess
import sys
import time


def main(us, *command):
    with open("said", "wb") as said:
        began = time.monotonic()
        run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True)
        if us == "-":
            code = run.wait()
            print(int(1e6 * (time.monotonic() - began)))
            return code
        time.sleep(int(us) / 1e6)
        os.killpg(run.pid, signal.SIGKILL)
        return run.wait() != -signal.SIGKILL


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
