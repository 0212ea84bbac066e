"""Our child process that holds a llama.cpp server (role ``model-host``).

It reads one JSON line with its parameters from standard input, loads the model, prints one JSON line with the
address when it answers, and ends when standard input is closed. It never outlives the process that started it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import urllib.request
from typing import Any, TextIO

HOST = "127.0.0.1"


def build_params(settings: dict[str, Any]) -> Any:
    """The server's parameters.

    Args:
        settings: ``model`` (path), ``api_key``, ``context_tokens``, ``threads`` (0 for the library's choice),
            ``port`` (0 for any), ``cache_ram_mib``, ``alias``.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["model"]
    params.model_alias = {settings.get("alias") or "model"}
    params.hostnames = [HOST]
    params.port = settings.get("port", 0)
    params.api_keys = [settings["api_key"]]
    params.n_ctx = settings["context_tokens"]
    params.n_parallel = 1
    params.use_jinja = True
    params.ctx_shift = False
    params.cache_ram_mib = settings.get("cache_ram_mib", 256)
    params.n_ctx_checkpoints = 4
    params.endpoint_props = False  # only switches *changing* them on
    params.endpoint_slots = True
    params.ui = False
    threads = settings.get("threads", 0)
    if threads > 0:
        params.cpuparams.n_threads = threads
        params.cpuparams_batch.n_threads = threads
    return params


def wait_healthy(url: str, api_key: str) -> None:
    """Wait until ``/health`` says yes; the parent limits how long.

    Args:
        url: address of the server.
        api_key: its key.
    """
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(f"{url}/health", headers={"Authorization": f"Bearer {api_key}"})
    while True:
        try:
            with opener.open(request, timeout=5) as response:
                if response.status == 200:
                    return
        except OSError as error:
            sys.stderr.write(f"not healthy yet: {error}\n")
        time.sleep(0.05)


def end_with(stdin: TextIO) -> None:
    """End this process as soon as `stdin` is closed, whatever else it is doing (loading a model, say)."""
    stdin.read()
    os._exit(0)


def main() -> int:
    """Run until standard input closes; exit status 1 where the server could not start (the log says why)."""
    protocol = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever the library prints goes to the log
    settings = json.loads(sys.stdin.readline())
    threading.Thread(target=end_with, args=(sys.stdin,), daemon=True).start()
    if settings.get("nice") and hasattr(os, "nice"):
        os.nice(int(settings["nice"]))
    import xllamacpp

    try:
        server = xllamacpp.Server(build_params(settings))
    except (RuntimeError, ValueError, OSError) as error:
        sys.stderr.write(f"the server could not start: {error}\n")
        sys.stderr.flush()
        os._exit(1)
    url = server.listening_address
    wait_healthy(url, settings["api_key"])
    protocol.write(json.dumps({"url": url, "pid": os.getpid()}) + "\n")
    protocol.flush()
    threading.Event().wait()  # the watcher thread ends the process
    return 0


if __name__ == "__main__":
    sys.exit(main())
