//! Requests through the gate, in process: no socket, and time that only the test moves.

mod answers; // robots.txt: its bytes, validators and dates
mod breaker; // a limit for refusals
mod counts; // requests by hour
mod editions; // each crawler is judged by a robots.txt that it can know
mod forms; // other forms of closed paths
mod identity; // the group that binds a client
mod limits; // the rate limits of the operator
mod origin_files; // rules of the origin, alone and merged with the policy's
mod pace; // how fast a crawler comes
mod world;

const BROWSER: &str =
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:130.0) Gecko/20100101 Firefox/130.0";
const GPTBOT: &str = "Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)";
const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
const GOOGLEBOT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const CLAUDEBOT: &str = "ClaudeBot/1.0 (+claudebot@anthropic.com)";
const WILDBOT: &str = "WildBot/1.0 (+https://wild.example/bot)";

// Addresses in three networks.
const ONE: &str = "192.0.2.1";
const TWO: &str = "198.51.100.2";
const THREE: &str = "2001:db8:3::3";
