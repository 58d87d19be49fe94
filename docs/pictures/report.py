#!/usr/bin/python3
"""report.py SIMULATOR PICTURE -- the first screen of `report run gemm`, as Chromium shows it."""
import os
import shutil
import subprocess
import sys
import tempfile

program, picture = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    page = os.path.join(folder, "page.html")
    subprocess.run([program, "report", "run", "gemm", "--quiet", "-o", page], check=True)
    subprocess.run([shutil.which("chromium"), "--headless", "--disable-gpu", "--hide-scrollbars", "--window-size=1280,860",
                    *(["--no-sandbox"] if os.getuid() == 0 else []), f"--screenshot={os.path.abspath(picture)}",
                    "file://" + page], check=True, stderr=subprocess.DEVNULL)
