"""recipes.py -- the commands by which make builds a tree, so that a mistake in one source costs what it must and no more.

make is asked once what it would do for everything. A mutant in a .c then compiles the objects that the file
is in, collects again the archives that these are in, and links a test when its turn comes. Behind a mutant
all of it is put back with its times, and what was linked with it is removed: for make nothing has happened.
"""

import collections
import os
import re
import shutil
import subprocess

MADE = re.compile(r" (?:-o|qcD) (build/\S+)\.new\$\$ ")


def dependencies(path):
    """Of a .d: all files that its target is made of."""
    with open(path, encoding="utf-8") as f:
        rule = f.read().replace("\\\n", " ").split("\n")[0]
    return [os.path.normpath(name) for name in rule.split(":", 1)[1].split()]


class Recipes:
    """What is made by which command, and what has a mutant in it now."""

    def __init__(self, folder, said):
        """`said`: what `make -Bn V=1` prints in this folder."""
        self.folder, self.command, self.objects = folder, {}, collections.defaultdict(list)
        self.kept, self.linked, self.folders = [], [], []
        for line in said.replace("\\\n", " ").split("\n"):
            made = MADE.search(line)
            if made:
                self.command.setdefault(made.group(1), line)
        for target in self.command:
            rule = os.path.join(folder, target[:-2] + ".d")
            if target.endswith(".o") and os.path.exists(rule):
                for name in dependencies(rule):
                    self.objects[name].append(target)

    def has(self, target):
        return target in self.command

    def run(self, target):
        return subprocess.run(["sh", "-c", self.command[target]], cwd=self.folder, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL).returncode == 0

    def keep(self, target):
        """Puts a copy aside, which restore() puts back."""
        path = os.path.join(self.folder, target)
        shutil.copy2(path, path + ".kept")
        self.kept.append(path)

    def compile(self, source):
        """Compiles a changed source, and what holds its objects: 'made', 'same' code as before, or 'failed'."""
        changed = []
        for target in self.objects[source]:
            self.keep(target)
            if not self.run(target):
                return "failed"
            path = os.path.join(self.folder, target)
            with open(path, "rb") as new, open(path + ".kept", "rb") as old:
                if new.read() != old.read():
                    changed.append(target)
        if not changed:
            return "same"
        holders = [t for t in self.command if t.endswith(".a") and any(" %s " % o in self.command[t] for o in changed)]
        for target in holders + ["build/kbgen"] * any(" %s " % o in self.command["build/kbgen"] for o in changed):
            self.keep(target)
            if not self.run(target):
                return "failed"
        return "made"

    def link(self, target):
        self.linked.append(target)
        return self.run(target)

    def machine(self, place, name):
        """Links the simulator of a machine, by the command of another program with other objects."""
        target, of = "%s/%s/%s" % (place, name, name), self.command["build/_t/talking"]
        self.command[target] = (of.replace("build/_t/talking", target)
                                .replace("build/_o/tests/support/talking.o", "%s/%s/main.o" % (place, name))
                                .replace("build/_m/cube8/libcube8.a", "%s/%s/lib%s.a" % (place, name, name)))
        return self.link(target)

    def generate(self, place, name, make):
        """Generates a machine again, by a generator with a mutant in it; compiles it if it has become another."""
        folder = os.path.join(self.folder, place, name)
        with open(os.path.join(folder, ".args"), encoding="utf-8") as f:
            args = f.read()
        done = subprocess.run(["sh", "-c", "build/kbgen " + args], cwd=self.folder, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=600)
        with open(os.path.join(folder, "defs.m4"), "rb") as f:
            if done.returncode == 0 and f.read() == done.stdout:
                return True
        if folder not in self.folders:
            shutil.rmtree(folder + ".kept", ignore_errors=True)
            shutil.copytree(folder, folder + ".kept")
            self.folders.append(folder)
        yaml = args.split()[-1].strip("'")
        return done.returncode == 0 and make("N=" + name, "TOPO=" + yaml, "PLACE=" + place, "%s/%s/lib%s.a" % (place, name, name),
                                             "%s/%s/main.o" % (place, name))

    def restore(self):
        for path in self.kept:
            os.replace(path + ".kept", path)
        for target in self.linked:
            if os.path.exists(os.path.join(self.folder, target)):
                os.remove(os.path.join(self.folder, target))
        for folder in self.folders:
            shutil.rmtree(folder)
            os.rename(folder + ".kept", folder)
        self.kept, self.linked, self.folders = [], [], []
