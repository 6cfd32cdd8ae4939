#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""unpack-kernel.py BZIMAGE OUTPUT: the ELF kernel that a bzImage carries, xz or zstd."""
import lzma
import subprocess
import sys


def unpack(image):
    xz, zstd = image.find(b'\xfd7zXZ\x00'), image.find(b'\x28\xb5\x2f\xfd')
    if xz >= 0 and (zstd < 0 or xz < zstd):
        return lzma.LZMADecompressor().decompress(image[xz:])
    if zstd >= 0:
        # What follows the frame is not zstd: the tool complains of it after the kernel is out.
        return subprocess.run(['zstd', '-dcq'], input=image[zstd:], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout
    return b''


def main():
    with open(sys.argv[1], 'rb') as file:
        kernel = unpack(file.read())
    if kernel[:4] != b'\x7fELF':
        sys.exit(f'{sys.argv[1]} holds no xz or zstd kernel')
    with open(sys.argv[2], 'wb') as file:
        file.write(kernel)


if __name__ == '__main__':
    main()
