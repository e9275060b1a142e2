"""Chromium over its debugging pipe, with the standard library alone."""

from __future__ import annotations

import itertools
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: No sandbox, since tests often run as root; nothing that would use the network by itself.
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-extensions", "--disable-default-apps", "--mute-audio"),
)


def find() -> str | None:
    """Return the path of a Chromium, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """A browser process; ``open`` gives pages."""

    def __init__(self, program: str, profile: Path) -> None:
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        # The protocol is spoken over the descriptors 3 and 4, which only a shell can assign.
        command = f'exec "$0" "$@" 3<&{theirs_in} 4>&{theirs_out}'
        options = [*FLAGS, "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
        self._process = subprocess.Popen(
            ["bash", "-c", command, program, *options],
            pass_fds=(theirs_in, theirs_out),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._in, self._out = ours_in, ours_out
        self._unread = b""
        self._numbers = itertools.count(1)
        self._answers: dict[int, dict] = {}
        self.events: list[dict] = []

    def call(self, method: str, session: str = "", timeout: float = 120, **parameters: Any) -> Any:
        """Return the result of one command of the protocol."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + timeout
        while number not in self._answers:
            self.listen(end - time.monotonic())
        answer = self._answers.pop(number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def listen(self, timeout: float) -> None:
        """Take in what the browser says within ``timeout`` seconds; raise if that is nothing."""
        ready, _, _ = select.select([self._in], [], [], max(timeout, 0))
        data = os.read(self._in, 2**20) if ready else b""
        if not data:
            raise TimeoutError("the browser does not answer")
        *messages, self._unread = (self._unread + data).split(b"\0")
        for message in map(json.loads, messages):
            if "id" in message:
                self._answers[message["id"]] = message
            else:
                self.events.append(message)

    def open(self, address: str, width: int = 1280, height: int = 900) -> Page:
        """Return a page that has loaded ``address`` in a window of this size."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        page = Page(self, attached["sessionId"])
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.resize(width, height)
        page.call("Page.navigate", url=address)
        page.wait("Page.loadEventFired")
        return page

    def close(self) -> None:
        """End the browser."""
        try:
            self.call("Browser.close", timeout=5)
            self._process.wait(5)
        except (TimeoutError, RuntimeError, OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._in)
        os.close(self._out)


class Page:
    """One page of a browser."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser, self._session = browser, session

    def call(self, method: str, **parameters: Any) -> Any:
        """Return the result of one command of the protocol."""
        return self._browser.call(method, self._session, **parameters)

    def resize(self, width: int, height: int) -> None:
        """Give the window's content this size in pixels."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def events(self, method: str) -> list[dict]:
        """Return the parameters of all events of this kind so far."""
        mine = [one for one in self._browser.events if one.get("sessionId") == self._session]
        return [one["params"] for one in mine if one["method"] == method]

    def wait(self, method: str, timeout: float = 120) -> None:
        """Return once there is an event of this kind."""
        end = time.monotonic() + timeout
        while not self.events(method):
            self._browser.listen(end - time.monotonic())

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression; promises are awaited."""
        answer = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def press(self, key: str, code: int) -> None:
        """Press and release a key."""
        text = "\r" if key == "Enter" else ""
        fields = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **fields)
        self.call("Input.dispatchKeyEvent", type="keyUp", **fields)

    def errors(self) -> list[str]:
        """Return what went to the console as an error, and uncaught exceptions."""
        logged = [one["entry"] for one in self.events("Log.entryAdded")]
        said = [
            str(one["args"][0].get("value"))
            for one in self.events("Runtime.consoleAPICalled")
            if one["type"] in ("error", "warning", "assert")
        ]
        thrown = [one["exceptionDetails"]["text"] for one in self.events("Runtime.exceptionThrown")]
        return [one["text"] for one in logged if one["level"] == "error"] + said + thrown

    def requests(self) -> list[str]:
        """Return the addresses asked for, without ``data:`` and without the page itself."""
        asked = [one["request"]["url"] for one in self.events("Network.requestWillBeSent")]
        return [url for url in asked if not url.startswith("data:")][1:]
