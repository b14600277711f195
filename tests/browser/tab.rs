//! A tab: what a person does in it, and what there is to see.

use std::path::PathBuf;

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::{
    chromium::Chromium,
    support::{conditions::skip, program::Beadle, wait_for},
};

/// The width of a phone.
pub(crate) const PHONE: u32 = 390;
/// The width of a desk's screen.
pub(crate) const WIDE: u32 = 1280;
/// The width of a sheet of A4 within its margins.
pub(crate) const PAPER: u32 = 718;

/// A browser with one tab on the pages of a program.
pub(crate) struct Tab {
    chromium: Chromium,
    /// `http://localhost:` and the port of the program.
    base: String,
}

/// A key that a person presses.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Key {
    Tab,
    Back,
    Enter,
    Space,
}

impl Tab {
    /// Opens a tab for the pages of a program; `None` if there is no browser.
    pub(crate) fn open(desk: &Beadle) -> Option<Self> {
        let mut tab = Self { chromium: Chromium::start()?, base: String::new() };
        for domain in ["Page", "Runtime", "Log", "Network", "Audits"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        tab.call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        // Event listeners of this world hear what happens to the page; the page knows nothing of it.
        let listen = "document.addEventListener('securitypolicyviolation', event => \
                      console.error(`policy: ${event.violatedDirective} ${event.blockedURI}`))";
        let script = json!({ "source": listen, "worldName": "watch" });
        tab.call("Page.addScriptToEvaluateOnNewDocument", script);
        tab.look(WIDE, false);
        tab.wait_until("document.readyState === 'complete'");
        tab.turn_to(desk);
        Some(tab)
    }

    /// Looks at another program from now on.
    pub(crate) fn turn_to(&mut self, desk: &Beadle) {
        self.base = format!("http://localhost:{}", desk.admin);
    }

    /// Sets the width of the window and the colours that the system prefers.
    pub(crate) fn look(&mut self, width: u32, is_dark: bool) {
        let size = json!({
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE,
        });
        self.call("Emulation.setDeviceMetricsOverride", size);
        self.media("screen", is_dark);
    }

    /// Shows the page as on this medium.
    pub(crate) fn media(&mut self, media: &str, is_dark: bool) {
        let value = if is_dark { "dark" } else { "light" };
        let scheme = json!([{ "name": "prefers-color-scheme", "value": value }]);
        self.call("Emulation.setEmulatedMedia", json!({ "media": media, "features": scheme }));
    }

    /// Opens a page.
    pub(crate) fn go(&mut self, path: &str) {
        let url = format!("{}{path}", self.base);
        self.loads(|tab| {
            let answer = tab.call("Page.navigate", json!({ "url": url }));
            assert!(answer["errorText"].is_null(), "{path}: {answer}");
        });
    }

    /// Does something that loads a page, and waits until it is there. What came before is no fault
    /// of the new page.
    pub(crate) fn loads(&mut self, act: impl FnOnce(&mut Self)) {
        self.chromium.events();
        act(self);
        self.chromium.wait_for("Page.loadEventFired");
    }

    /// Path and query of the page.
    pub(crate) fn path(&mut self) -> String {
        let here = self.text("location.href");
        here.strip_prefix(&self.base).unwrap_or(&here).to_owned()
    }

    /// The value of an expression.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        self.value_in(None, expression)
    }

    /// The value of an expression that is a text.
    pub(crate) fn text(&mut self, expression: &str) -> String {
        let value = self.value(expression);
        value.as_str().unwrap_or_else(|| panic!("{expression} is {value}")).to_owned()
    }

    /// The value of an expression that is a list of texts.
    pub(crate) fn texts(&mut self, expression: &str) -> Vec<String> {
        serde_json::from_value(self.value(expression)).expect("a list of texts")
    }

    fn value_in(&mut self, context: Option<&Value>, expression: &str) -> Value {
        let mut call =
            json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        if let Some(context) = context {
            call["contextId"] = context.clone();
        }
        let mut answer = self.call("Runtime.evaluate", call);
        let shown: String = expression.chars().take(200).collect();
        assert!(answer["exceptionDetails"].is_null(), "{shown}: {answer}");
        answer["result"]["value"].take()
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, key: Key) {
        let (name, code, text, modifiers) = match key {
            Key::Tab => ("Tab", 9, "", 0),
            Key::Back => ("Tab", 9, "", 8),
            Key::Enter => ("Enter", 13, "\r", 0),
            Key::Space => (" ", 32, " ", 0),
        };
        let kind = if text.is_empty() { "rawKeyDown" } else { "keyDown" };
        for (kind, text) in [(kind, text), ("keyUp", "")] {
            let event = json!({
                "type": kind, "key": name, "code": if name == " " { "Space" } else { name },
                "windowsVirtualKeyCode": code, "text": text, "modifiers": modifiers,
            });
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Types a text where the focus is.
    pub(crate) fn enter(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Presses Tab until an expression about `it`, the element with the focus, holds.
    pub(crate) fn tab_to(&mut self, what: &str, holds: &str) {
        for _ in 0..120 {
            self.press(Key::Tab);
            if self.value(&format!("(it => Boolean({holds}))(document.activeElement)")) == true {
                return;
            }
        }
        panic!("the keyboard doesn't reach {what} on {}", self.path());
    }

    /// What went wrong since the page was asked for: requests to elsewhere, messages, dialogs.
    pub(crate) fn faults(&mut self) -> Vec<String> {
        // An answer after this call comes after everything that the page did before.
        let here = self.text("location.href");
        let events = self.chromium.events();
        events.iter().filter_map(|event| self.fault(event, &here)).collect()
    }

    fn fault(&self, event: &Value, here: &str) -> Option<String> {
        let parameters = &event["params"];
        let is_own = |url: &str| {
            let rest = url.strip_prefix(&self.base);
            rest.is_some_and(|rest| rest.starts_with('/')) || url.starts_with("data:")
        };
        match event["method"].as_str()? {
            "Network.requestWillBeSent" => {
                let url = parameters["request"]["url"].as_str().unwrap_or_default();
                (!is_own(url)).then(|| format!("request to {url}"))
            }
            "Network.webSocketCreated" => Some(format!("socket to {}", parameters["url"])),
            "Network.loadingFailed" if parameters["canceled"] != true => {
                Some(format!("not loaded: {parameters}"))
            }
            "Log.entryAdded" => {
                let entry = &parameters["entry"];
                // The page itself may have a status of 400 or more.
                let is_status = entry["source"] == "network" && entry["url"] == here;
                (!is_status).then(|| format!("message: {entry}"))
            }
            "Runtime.consoleAPICalled" => Some(format!("console: {}", parameters["args"])),
            "Runtime.exceptionThrown" => Some(format!("error: {}", parameters["exceptionDetails"])),
            "Audits.issueAdded" => Some(format!("issue: {}", parameters["issue"])),
            "Page.javascriptDialogOpening" => Some(format!("dialog: {}", parameters["message"])),
            _ => None,
        }
    }

    /// The violations that axe-core finds, with three elements of each.
    /// With `is_dark`, only what depends on colours.
    pub(crate) fn axe(&mut self, axe: &Axe, is_dark: bool) -> Vec<String> {
        let frame = self.call("Page.getFrameTree", json!({}));
        let frame = &frame["frameTree"]["frame"]["id"];
        // A world of its own: the page's policy does not hold there, and the page can't see it.
        let world = json!({ "frameId": frame, "worldName": "axe" });
        let world = self.call("Page.createIsolatedWorld", world)["executionContextId"].take();
        if self.value_in(Some(&world), "typeof axe") != "object" {
            self.value_in(Some(&world), &format!("{};0", axe.0));
        }
        let found = self.value_in(Some(&world), &format!("{RUN_AXE}({is_dark})"));
        serde_json::from_value(found).expect("a list of texts")
    }

    /// A picture of the top of the page, as PNG.
    pub(crate) fn picture(&mut self, width: u32, height: u32) -> Vec<u8> {
        let clip = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
        let how = json!({ "format": "png", "clip": clip, "captureBeyondViewport": true });
        let answer = self.call("Page.captureScreenshot", how);
        decoded(&answer)
    }

    /// The page on paper, as PDF.
    pub(crate) fn printed(&mut self) -> Vec<u8> {
        let paper = json!({ "paperWidth": 8.27, "paperHeight": 11.69, "printBackground": true });
        let answer = self.call("Page.printToPDF", paper);
        decoded(&answer)
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.chromium.call(method, parameters)
    }

    /// Waits until an expression holds.
    pub(crate) fn wait_until(&mut self, expression: &str) {
        wait_for(expression, || (self.value(expression) == true).then_some(()));
    }
}

fn decoded(answer: &Value) -> Vec<u8> {
    BASE64_STANDARD.decode(answer["data"].as_str().expect("data")).expect("base64")
}

/// The script of axe-core.
pub(crate) struct Axe(String);

impl Axe {
    /// Reads it; `None` if it is not there and the test is to be skipped.
    pub(crate) fn read() -> Option<Self> {
        // cargo names a folder below the one of the build.
        let build = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("..");
        let file = build.join("browser/node_modules/axe-core/axe.min.js");
        let text = std::fs::read_to_string(&file).ok();
        if text.is_none() {
            skip(&format!("{} is missing; .ci/run gets it", file.display()));
        }
        text.map(Self)
    }
}

const RUN_AXE: &str = "(isDark => axe.run(document, {
    resultTypes: ['violations'], preload: false, iframes: false,
    ...(isDark ? { runOnly: ['color-contrast', 'link-in-text-block'] } : {}),
}).then(found => found.violations
    .flatMap(one => one.nodes.slice(0, 3).map(node =>
        `${one.id} (${one.impact}, ${one.nodes.length} times) ${node.target.join(' ')}: `
        + `${node.html.slice(0, 200)} | `
        + [...node.any, ...node.all, ...node.none].map(check => check.message).join(' | ')))))";
