"""A headless Chromium, driven over a pipe by its DevTools protocol: nothing but the standard library."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def find():
    """The path of a Chromium, or None."""
    wanted = os.environ.get("SMELT_CHROMIUM")
    return wanted or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="smelt-page-")
        to_browser, self.write_to = os.pipe()
        self.read_from, from_browser = os.pipe()

        def wire():  # the browser reads commands from 3 and answers on 4
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        flags = [
            "--headless",
            "--remote-debugging-pipe",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--allow-file-access-from-files",
            "--font-render-hinting=none",
            "--force-color-profile=srgb",
            f"--user-data-dir={self.profile.name}",
        ]
        self.process = subprocess.Popen(
            [find(), *flags], preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.events = b"", 0, []
        self.session = None
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.send(domain + ".enable")

    def close(self):
        try:
            self.session = None
            self.send("Browser.close")
            self.process.wait(10)
        except (OSError, subprocess.TimeoutExpired, RuntimeError):
            self.process.kill()
            self.process.wait()
        self.profile.cleanup()

    def receive(self, limit_s):
        end = time.monotonic() + limit_s
        while b"\0" not in self.buffer:
            if not select.select([self.read_from], [], [], max(0, end - time.monotonic()))[0]:
                raise RuntimeError("the browser does not answer")
            more = os.read(self.read_from, 1 << 16)
            if not more:
                raise RuntimeError("the browser has ended")
            self.buffer += more
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def send(self, method, limit_s=60, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive(limit_s)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path, dark=False, width=1280, height=720, fragment=""):
        self.events = []
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.send(
            "Emulation.setEmulatedMedia",
            features=[
                {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                {"name": "prefers-reduced-motion", "value": "reduce"},
            ],
        )
        self.send("Page.navigate", url="about:blank")
        address = path if path.startswith("http") else "file://" + os.path.abspath(path)
        self.send("Page.navigate", url=address + fragment)
        self.wait("document.documentElement?.hasAttribute('data-ready') ?? false")

    def evaluate(self, expression):
        result = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", expression))
        return result["result"].get("value")

    def wait(self, condition, limit_s=30):
        """Until it is true; a page that is being left has no answer."""

        def holds():
            try:
                return self.evaluate(condition)
            except RuntimeError as error:
                if "navigated" in str(error) or "context" in str(error):
                    return False
                raise

        end = time.monotonic() + limit_s
        while not holds():
            if time.monotonic() > end:
                raise RuntimeError(f"never came true: {condition}\n{self.problems()}")
            time.sleep(0.02)

    def click(self, selector):
        """A real click, in the middle of the first element."""
        box = self.evaluate(f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect();
            return [r.x + r.width / 2, r.y + r.height / 2]; }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.send("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def hover(self, selector):
        box = self.evaluate(f"""(() => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect();
            return [r.x + Math.min(20, r.width / 2), r.y + r.height / 2]; }})()""")
        self.send("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])

    def key(self, key, text="", code=0):
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            self.send("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code, **extra)

    def problems(self):
        """What the page complained of: exceptions, and what its policy refused."""
        self.evaluate("0")
        found = []
        for event in self.events:
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(event["params"]["exceptionDetails"].get("exception", {}).get("description", "exception"))
            if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(event["params"]["entry"]["text"])
        return found

    def screenshot(self, path, selector=None, whole=False):
        params = {"format": "png"}
        if selector or whole:
            box = self.evaluate(
                """(() => { const e = document.querySelector(%s); const r = e.getBoundingClientRect();
                return {x: r.x + scrollX, y: r.y + scrollY, width: r.width, height: r.height, scale: 1}; })()"""
                % json.dumps(selector or "html")
            )
            params.update(clip=box, captureBeyondViewport=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.send("Page.captureScreenshot", **params)["data"]))
