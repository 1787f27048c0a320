"""Plays a stream of RTP that comes to a port, and says what GStreamer's jitter buffer counted of it.

python player.py PORT [GROUP]

It is a program of its own, which runs in a host's namespace: GStreamer by its C interface. It says `ready`
when it listens. When nothing has come for a while it prints how many packets were played, and how many lost.
"""

from __future__ import annotations

import ctypes
import json
import sys
import time

CAPS = "application/x-rtp,media=audio,clock-rate=48000,encoding-name=L16,channels=1,payload=96"
PLAYING = 4
IDLE_S = 1.5
COUNTED = ("num-pushed", "num-lost", "num-late", "num-duplicates")
"""Of `stats` of rtpjitterbuffer."""

gst = ctypes.CDLL("libgstreamer-1.0.so.0")
gobject = ctypes.CDLL("libgobject-2.0.so.0")
for found in (gst.gst_parse_launch, gst.gst_bin_get_by_name):
    found.restype = ctypes.c_void_p


def stats(buffer: ctypes.c_void_p) -> dict[str, int]:
    """What the jitter buffer has counted."""
    told = ctypes.c_void_p()
    gobject.g_object_get(buffer, b"stats", ctypes.byref(told), None)
    found = {}
    for name in COUNTED:
        value = ctypes.c_uint64()
        if not gst.gst_structure_get_uint64(told, name.encode(), ctypes.byref(value)):
            raise SystemExit(f"rtpjitterbuffer does not say {name}")
        found[name] = value.value
    gst.gst_structure_free(told)
    return found


def main(port: str, group: str = "0.0.0.0") -> None:
    """See the module."""
    gst.gst_init(None, None)
    source = f'udpsrc name=source address={group} port={port} buffer-size=4000000 caps="{CAPS}"'
    buffer = "rtpjitterbuffer name=buffer latency=1000"
    line = f"{source} ! {buffer} ! rtpL16depay ! fakesink sync=false"
    error = ctypes.c_void_p()
    pipeline = ctypes.c_void_p(gst.gst_parse_launch(line.encode(), ctypes.byref(error)))
    if not pipeline or error:
        raise SystemExit(f"GStreamer has not made of it what was asked for: {line}")
    jitter = ctypes.c_void_p(gst.gst_bin_get_by_name(pipeline, b"buffer"))
    gst.gst_element_set_state(pipeline, PLAYING)
    print("ready", flush=True)
    last, since = stats(jitter), time.monotonic()
    while not last["num-pushed"] or time.monotonic() - since < IDLE_S:
        time.sleep(0.05)
        now = stats(jitter)
        if now != last:
            last, since = now, time.monotonic()
    print(json.dumps(last), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
