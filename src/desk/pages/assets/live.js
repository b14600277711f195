// Adds violations to the table of the live page as they come. Foreign text is only ever text.
"use strict";
(() => {
  const MOST_ROWS = 200;
  const BETWEEN_WORDS = 10_000; // milliseconds; a screen reader must not be flooded
  const UNTIL_RETRY = 10_000;

  const table = document.getElementById("live");
  const none = document.getElementById("none");
  const controls = document.getElementById("controls");
  const button = document.getElementById("pause");
  const state = document.getElementById("state");
  if (!table || !window.EventSource) return;
  const rows = table.tBodies[0];
  const address = new URL(table.dataset.events, location.href);

  let source = null;
  let isPaused = false;
  let added = 0;
  let hasGap = false;
  let words = "";
  let timer = 0;

  function cell(row, name, text, style) {
    const made = row.insertCell();
    made.dataset.name = name;
    if (style) made.className = style;
    made.textContent = text;
    return made;
  }

  function add(record) {
    const row = document.createElement("tr");
    const link = document.createElement("a");
    link.href = "/violations/" + encodeURIComponent(record.id);
    link.textContent = record.time;
    cell(row, "time", "", "time").append(link);
    const action = document.createElement("span");
    action.className = "word";
    if (/^[a-z]+$/.test(record.action)) action.classList.add(record.action);
    action.textContent = record.action;
    cell(row, "action", "").append(action);
    cell(row, "crawler", record.crawler, "cut");
    cell(row, "standing", record.standing);
    cell(row, "client", record.client, "mono cut");
    cell(row, "had read", record.read);
    cell(row, "path", record.path, "mono path").title = record.path;
    cell(row, "rule", record.rule, "mono path").title = record.rule;
    row.classList.add("new");
    rows.prepend(row);
    while (rows.rows.length > MOST_ROWS) rows.deleteRow(-1);
    table.hidden = false;
    none.hidden = true;
  }

  function connection() {
    if (isPaused) return "Paused.";
    if (!source || source.readyState === EventSource.CLOSED) {
      return "Not connected: too many live views are open, or you are logged out. Trying again.";
    }
    return source.readyState === EventSource.OPEN ? "Connected." : "Connecting.";
  }

  // Says the state of the connection at once, and new rows now and then.
  function say() {
    const news = added === 0 ? "" : added === 1 ? " 1 new violation." : ` ${added} new violations.`;
    const gap = hasGap ? " Too many came at once: some are only in the list." : "";
    const text = connection() + news + gap;
    if (text !== words) state.textContent = words = text;
    added = 0;
    hasGap = false;
  }

  function sayLater() {
    if (timer) return;
    timer = setTimeout(() => { timer = 0; say(); }, BETWEEN_WORDS);
  }

  function open() {
    close();
    source = new EventSource(address);
    source.onopen = say;
    source.onmessage = (event) => {
      // A stream that is opened anew goes on here.
      address.searchParams.set("after", event.lastEventId);
      add(JSON.parse(event.data));
      added += 1;
      sayLater();
    };
    source.addEventListener("gap", () => { hasGap = true; sayLater(); });
    source.onerror = () => {
      // The browser connects again by itself, unless the answer was no stream. The end of a stream
      // after a minute is nothing to tell.
      if (source && source.readyState === EventSource.CLOSED) {
        say();
        setTimeout(() => { if (!isPaused && !document.hidden) open(); }, UNTIL_RETRY);
      }
    };
  }

  function close() {
    if (source) source.close();
    source = null;
  }

  button.addEventListener("click", () => {
    isPaused = !isPaused;
    button.textContent = isPaused ? "Resume" : "Pause";
    if (isPaused) { close(); say(); } else open();
  });
  // A page that nobody sees takes no connection.
  document.addEventListener("visibilitychange", () => {
    if (isPaused) return;
    if (document.hidden) close(); else open();
  });
  controls.hidden = false;
  open();
})();
