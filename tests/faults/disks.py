"""A small disk whose power can be cut.

The power of an ext4 disk is cut by the ioctl with which ext4 itself is tested (EXT4_IOC_SHUTDOWN without flushing the
journal): from one moment to the next nothing more reaches the image. It is mounted again as after a restart. It
commits names every second and bytes when it likes, within half a minute: a file that was renamed without being
flushed is empty after a cut.
"""

import fcntl
import os
import shutil
import struct
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults.runs import nothing_left

# EXT4_IOC_SHUTDOWN and EXT4_GOING_FLAGS_NOLOGFLUSH of the header fs/ext4/ext4.h of Linux.
_SHUTDOWN, _WITHOUT_FLUSHING = 0x8004587D, 2
_SIZE = 256 << 20


class Disk:
    """A small disk at a folder, mounted from an image."""

    def __init__(self, folder, image):
        self.folder, self.image = folder, image

    def on(self):
        subprocess.run(["mount", "-o", "loop,commit=1", self.image, self.folder], check=True)

    def cut(self):
        """Let nothing more reach the disk."""
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            fcntl.ioctl(handle, _SHUTDOWN, struct.pack("I", _WITHOUT_FLUSHING))
        finally:
            os.close(handle)

    def restart(self):
        """Mount what had reached the disk; of the image itself, another mount namespace may hold what was not."""
        subprocess.run(["umount", self.folder], check=True)
        left = self.image.with_name("left")
        subprocess.run(["cp", "--sparse=always", self.image, left], check=True)
        left.replace(self.image)
        self.on()

    def flush(self):
        subprocess.run(["sync", "--file-system", self.folder], check=True)


@contextmanager
def mounted(folder):
    """Yield a disk; it and its image vanish at last."""
    image, place = folder / "image", folder / "disk"
    with image.open("wb") as file:
        file.truncate(_SIZE)
    subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
    place.mkdir()
    disk = Disk(place, image)
    disk.on()
    try:
        with nothing_left(place):
            yield disk
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)
        image.unlink()


def obstacle():
    """Say why no disk can be mounted here; None where one can."""
    if os.geteuid() != 0:
        return "only root may mount a disk and cut its power"
    if not shutil.which("mkfs.ext4"):
        return "mkfs.ext4 is missing (e2fsprogs)"
    if not Path("/dev/loop-control").exists():
        return "this system mounts no image (no loop)"
    return None


needs_disk = pytest.mark.skipif(obstacle() is not None, reason=str(obstacle()))
