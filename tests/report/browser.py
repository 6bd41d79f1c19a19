# SPDX-License-Identifier: MIT
"""A headless Chromium, driven by the DevTools protocol over two pipes."""
import base64
import json
import os
import shutil
import subprocess
import tempfile


def program():
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


class Browser:
    """One tab. What its page writes to the console as an error, and what it throws, collects in `errors`."""

    def __init__(self, width=1280, height=900):
        self.errors, self.requests, self.loaded = [], [], False
        self.count, self.session, self.rest = 0, None, b""
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        to_browser, self.to = os.pipe()
        self.back, from_browser = os.pipe()
        # The browser reads from descriptor 3 and writes to 4.
        options = ["--headless", "--remote-debugging-pipe", f"--user-data-dir={self.folder.name}", "--disable-gpu",
                   "--no-first-run", "--disable-dev-shm-usage", f"--window-size={width},{height}"]
        if os.geteuid() == 0:
            options.append("--no-sandbox")
        redirect = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        self.process = subprocess.Popen(["bash", "-c", redirect, program(), *options],
                                        pass_fds=(to_browser, from_browser), stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def close(self):
        self.session = None
        self.call("Browser.close")
        os.close(self.to)
        self.process.wait(300)
        os.close(self.back)
        self.folder.cleanup()

    def message(self):
        while b"\0" not in self.rest:
            part = os.read(self.back, 1 << 20)
            if not part:
                raise RuntimeError("the browser has ended")
            self.rest += part
        text, self.rest = self.rest.split(b"\0", 1)
        message = json.loads(text)
        method, values = message.get("method"), message.get("params")
        if method == "Runtime.exceptionThrown":
            self.errors.append(values["exceptionDetails"].get("exception", {}).get("description") or str(values))
        elif method == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning", "assert"):
            self.errors.append(str(values["args"]))
        elif method == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
            self.errors.append(values["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(values["request"]["url"])
        elif method == "Page.loadEventFired":
            self.loaded = True
        return message

    def call(self, method, **values):
        self.count += 1
        message = {"id": self.count, "method": method, "params": values}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.message()
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, path):
        self.requests.clear()
        self.loaded = False
        self.call("Page.navigate", url=f"file://{os.path.abspath(path)}")
        while not self.loaded:
            self.message()

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def until(self, expression):
        """Waits until it is true, but no longer than a minute."""
        self.call("Runtime.evaluate", awaitPromise=True, expression=f"""new Promise((done) => {{
            const end = performance.now() + 60000;
            const look = () => ({expression}) || performance.now() > end ? done() : setTimeout(look, 20);
            look();
        }})""")

    def media(self, scheme="light", medium=""):
        """Colour scheme; medium "print" shows the page as it prints, "" as the window or the printer has it."""
        self.call("Emulation.setEmulatedMedia", media=medium, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def press(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key,
                      windowsVirtualKeyCode={"Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "End": 35, "Home": 36}[key])

    def screenshot(self, path, clip=None):
        """Of the window, or of a rectangle of the page: (x, y, width, height)."""
        values = {}
        if clip:
            values = {"clip": dict(zip(("x", "y", "width", "height"), clip), scale=1), "captureBeyondViewport": True}
        data = self.call("Page.captureScreenshot", format="png", **values)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self):
        return base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"])
