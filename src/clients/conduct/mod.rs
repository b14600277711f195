//! The conduct of clients: their fetches of robots.txt, their pace and their violations.
//!
//! A decision goes in. A [`Weighed`] decision comes out ([`Conduct::weigh`]): throttled if the
//! request comes too soon, passed if the site's breaker is open. The [`Ledger`] knows the editions
//! of robots.txt that a client may use. Every function takes the time as an argument, and no
//! function waits.
//!
//! May use: enforce, policy, crawlers, robots, metrics, escape. Must not know: violations,
//! evidence, tokio, any clock.

mod admission; // room for people at the origin
mod breaker; // the stop of refusals at a site
mod capacity; // room in tables whose keys clients choose
mod collector; // what the other nodes have to hear of, and contact with them
mod key; // what counts together: networks, keys and limits
mod ladder; // the rung of each crawler
mod ledger; // fetches of robots.txt
mod limiter; // the request rate of each crawler
mod observations; // what a node tells the others
mod places; // the places of a request at the origin
mod redirects; // free requests after redirects
mod seats; // what is there at one time
mod site; // ladder and breaker of one site
mod weight; // the weight of a decision, and what nodes tell each other
mod wire; // values between nodes, as JSON

pub use self::{
    admission::{Admission, Full, Load, Party, PutOff, Queued, Stay},
    key::{Key, Limit, Network},
    ledger::{Fetches, Ledger, Reader, Reading, Readings},
    limiter::{Limited, Turn},
    observations::{
        BreakerCount, LadderCount, LadderKey, Observations, Opening, PaceCount, RefusedCount,
        RungStep,
    },
    places::{Places, Waiting},
    redirects::Hop,
    seats::{Seat, Seats},
    site::{Sighting, SiteConduct},
    weight::{Conduct, Early, SiteByName, Weighed, label},
    wire::{lenient, time},
};
