//! A Chromium without a window, and calls of the DevTools protocol with it.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::need;

/// The deadline of every answer, ample even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// Nothing of the machine's user, nothing from outside: no name but the listener's has an address.
const FLAGS: [&str; 12] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",
    "--remote-debugging-pipe",
];

/// A running browser; dropping it ends the process.
#[derive(Debug)]
pub(crate) struct Chromium {
    child: Child,
    /// `None` once it is to end.
    calls: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// The session of the only tab.
    session: String,
    last_call: u64,
    events: VecDeque<Value>,
    /// The user's data, empty at the start.
    _folder: tempfile::TempDir,
}

impl Chromium {
    /// Starts it with one empty tab; `None` if it is not installed.
    pub(crate) fn start() -> Option<Self> {
        let program = need("chromium")?;
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        // It reads calls from descriptor 3 and writes messages to 4. Only a shell sets those without
        // unsafe code; it becomes the browser, so that the child's id is the browser's.
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null"])
            .arg(program)
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", folder.path().display()))
            .arg("about:blank")
            .env("HOME", folder.path())
            .env("TZ", "UTC")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Chromium can be started");
        let calls = child.stdin.take();
        let mut pipe = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            while pipe.read_until(0, &mut bytes).is_ok_and(|length| length > 0) {
                let message = serde_json::from_slice(bytes.strip_suffix(&[0]).unwrap_or(&bytes));
                let Ok(message) = message else { break };
                if sender.send(message).is_err() {
                    break;
                }
                bytes.clear();
            }
        });
        let mut chromium = Self {
            child,
            calls,
            messages,
            session: String::new(),
            last_call: 0,
            events: VecDeque::new(),
            _folder: folder,
        };
        let target = chromium.call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = chromium.call("Target.attachToTarget", target);
        chromium.session = attached["sessionId"].as_str().expect("a session").to_owned();
        Some(chromium)
    }

    /// Calls a method and returns its result; panics if there is none.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.try_call(method, parameters).unwrap_or_else(|error| panic!("{method}: {error}"))
    }

    /// Calls a method and returns its result, or the error that the browser gives.
    pub(crate) fn try_call(&mut self, method: &str, parameters: Value) -> Result<Value, Value> {
        let id = self.send(method, &parameters);
        let deadline = Instant::now() + PATIENCE;
        loop {
            let mut message = self.message(deadline).unwrap_or_else(|| panic!("{method}: silence"));
            if message["id"] != id {
                self.keep(message);
            } else if message["error"].is_null() {
                return Ok(message["result"].take());
            } else {
                return Err(message["error"].take());
            }
        }
    }

    /// Waits for an event; keeps it and the others for [`Self::events`].
    pub(crate) fn wait_for(&mut self, method: &str) {
        let deadline = Instant::now() + PATIENCE;
        let mut seen = 0;
        loop {
            if self.events.range(seen..).any(|event| event["method"] == method) {
                return;
            }
            seen = self.events.len();
            let Some(message) = self.message(deadline) else {
                panic!("waited in vain for {method}; there were {:?}", self.events);
            };
            self.keep(message);
        }
    }

    /// The events since the last time.
    pub(crate) fn events(&mut self) -> Vec<Value> {
        self.events.extend(self.messages.try_iter());
        self.events.drain(..).collect()
    }

    /// Sends a call; returns its number.
    fn send(&mut self, method: &str, parameters: &Value) -> u64 {
        self.last_call += 1;
        let mut call = json!({ "id": self.last_call, "method": method, "params": parameters });
        if !self.session.is_empty() {
            call["sessionId"] = self.session.as_str().into();
        }
        let mut bytes = call.to_string().into_bytes();
        bytes.push(0);
        let pipe = self.calls.as_mut().expect("it runs");
        pipe.write_all(&bytes).and_then(|()| pipe.flush()).expect("Chromium runs");
        self.last_call
    }

    /// Keeps an event. A dialog is closed, because the page stands still behind it.
    fn keep(&mut self, event: Value) {
        if event["method"] == "Page.javascriptDialogOpening" {
            self.send("Page.handleJavaScriptDialog", &json!({ "accept": false }));
        }
        self.events.push_back(event);
    }

    fn message(&self, deadline: Instant) -> Option<Value> {
        let rest = deadline.saturating_duration_since(Instant::now());
        match self.messages.recv_timeout(rest) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => panic!("Chromium has ended"),
        }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // It ends itself when the pipe closes, and takes its other processes with it.
        self.calls = None;
        let deadline = Instant::now() + Duration::from_secs(5);
        while Instant::now() < deadline {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
