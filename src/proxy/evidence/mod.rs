//! Evidence on who sends a request, gathered in the background and read on the request path from
//! memory alone.

#[cfg_attr(not(test), expect(dead_code, reason = "requests are not held against it yet"))]
mod names; // forward-confirmed reverse DNS
