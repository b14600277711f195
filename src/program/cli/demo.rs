//! `beadle demo`: an origin, the proxy and some crawlers on loopback.

use std::{
    io::Write,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    time::Duration,
};

use axum::{Router, http::Uri, response::Html};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::{
    base::{escape, fetch, version},
    program::{
        cli::serve::next_free,
        console::{ConfigFile, Error, Exit, Format, load, log_to_stderr},
        service::{Control, Service},
    },
};

/// The policy of the demo, with its usual addresses.
const POLICY: &str = include_str!("../../../examples/demo.yaml");
const PROXY: &str = "127.0.0.1:8080";
const ADMIN: &str = "127.0.0.1:9090";
const ORIGIN: &str = "127.0.0.1:3000";

/// Run a demo: a small origin, the proxy in front of it, and some crawlers.
///
/// Listens on loopback only, answers for any host, and prints commands to try. Writes to a
/// temporary folder. Ctrl-C ends the demo and removes the folder.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Port of the proxy; the admin listener takes the next free port. The defaults are 8080 and
    /// 9090, or free ports if these are in use.
    #[arg(long, value_name = "N")]
    port: Option<u16>,
    /// Send no crawler traffic.
    #[arg(long)]
    no_traffic: bool,
}

pub(super) fn run(args: &Args, control: Option<Control>) -> Result<Exit, Error> {
    let Control { runtime: control, mut signals, .. } = control.map_or_else(Control::start, Ok)?;
    let _lines = log_to_stderr(Format::Text, "warn");
    fetch::check_authorities().map_err(Error::Refused)?;
    let [proxy, admin, origin] = listeners(args.port)?;
    let addresses = [proxy.local_addr()?, admin.local_addr()?, origin.local_addr()?];
    let folder = Folder::create()?;
    let file = folder.0.join("demo.yaml");
    std::fs::write(&file, policy(addresses, &folder.0))?;
    let (policy, _) = load(&ConfigFile::of(&file))?;
    control.block_on(async {
        origin.set_nonblocking(true)?;
        let origin = tokio::net::TcpListener::from_std(origin)?;
        tokio::spawn(async move { axum::serve(origin, Router::new().fallback(page)).await });
        let bound = vec![proxy, admin];
        let started = Service::start(policy, &file, bound, &mut signals).await?;
        let Some(service) = started else { return Ok(Exit::Fine) };
        let mut out = std::io::stdout();
        let [proxy, admin, _] = addresses;
        writeln!(out, "Beadle {} is listening on http://{proxy}\n", version::NUMBER)?;
        if !args.no_traffic {
            crawl(proxy, &mut out).await?;
        }
        guide((proxy, admin), &file, &mut out)?;
        service.run(signals).await
    })
}

/// A page of the built-in origin; `/old/` sends its own tag, with invalid upper-case letters.
async fn page(uri: Uri) -> impl axum::response::IntoResponse {
    let path = escape::html(uri.path());
    let body = format!(
        "<!doctype html>\n<title>{path}</title>\n<h1>{path}</h1>\n\
         <p>A page of the demo's origin. <a href=\"/robots.txt\">robots.txt</a>\n"
    );
    let tag = uri.path().starts_with("/old/").then_some([("Robots-Tag", "*;NoArchive")]);
    (tag.map(axum::response::AppendHeaders), Html(body))
}

/// The listeners of the proxy, the desk and the origin: at the given port, or at the default ports; a free
/// port replaces each default that is in use. While one is open, nobody else gets its port.
fn listeners(port: Option<u16>) -> Result<[TcpListener; 3], Error> {
    let local = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let Some(port) = port.filter(|port| *port != 0) else {
        let near = |address: &str| bind_near(address.parse().unwrap_or_else(|_| local(0)));
        return Ok([near(PROXY)?, near(ADMIN)?, near(ORIGIN)?]);
    };
    let proxy = TcpListener::bind(local(port)).map_err(|error| {
        let proxy = local(port);
        Error::Refused(format!("can't listen on {proxy}: {error} (choose another --port)"))
    })?;
    Ok([proxy, next_free(port)?, TcpListener::bind(local(0))?])
}

fn policy(addresses: [SocketAddr; 3], folder: &Path) -> String {
    let usual = [PROXY, ADMIN, ORIGIN].iter().zip(addresses);
    let text =
        usual.fold(POLICY.to_owned(), |text, (usual, own)| text.replace(usual, &own.to_string()));
    text.replace("violations.db", &folder.join("violations.db").display().to_string())
}

fn bind_near(address: SocketAddr) -> Result<TcpListener, Error> {
    let free = SocketAddr::new(address.ip(), 0);
    Ok(TcpListener::bind(address).or_else(|_| TcpListener::bind(free))?)
}

/// The demo's temporary folder; removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn create() -> Result<Self, Error> {
        let path = std::env::temp_dir().join(format!("beadle-demo-{}", std::process::id()));
        std::fs::create_dir(&path).map_err(|error| {
            Error::Refused(format!("{}: {error} (set TMPDIR to a writable folder)", path.display()))
        })?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The folder is temporary, so nothing is lost if it stays.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const GOOGLEBOT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const BINGBOT: &str = "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)";
const GPTBOT: &str = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.2; \
                      +https://openai.com/gptbot";
const CCBOT: &str = "CCBot/2.0 (https://commoncrawl.org/faq/)";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";

/// The requests of the demo: visitor, User-Agent, path.
const VISITS: [(&str, &str, &str); 8] = [
    ("Googlebot", GOOGLEBOT, "/robots.txt"),
    ("Googlebot", GOOGLEBOT, "/news/"),
    ("Googlebot", GOOGLEBOT, "/admin/users"),
    ("bingbot", BINGBOT, "/admin/help"),
    ("GPTBot", GPTBOT, "/news/"),
    ("GPTBot", GPTBOT, "/press/2026"),
    ("CCBot, sly", CCBOT, "/press/../news/"),
    ("a browser", BROWSER, "/admin/users"),
];

async fn crawl(proxy: SocketAddr, out: &mut dyn Write) -> Result<(), Error> {
    writeln!(out, "Some visitors and their responses:\n")?;
    for (visitor, user_agent, path) in VISITS {
        let status = visit(proxy, user_agent, path).await.unwrap_or_else(|error| error.to_string());
        writeln!(out, "  {visitor:<12} {path:<18} {status}")?;
    }
    writeln!(out)?;
    Ok(())
}

async fn visit(proxy: SocketAddr, user_agent: &str, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(proxy).await?;
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: www.example.com\r\nUser-Agent: {user_agent}\r\n\
         Connection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut response = Vec::new();
    let mut stream = stream.take(1 << 20);
    let all = stream.read_to_end(&mut response);
    tokio::time::timeout(Duration::from_secs(5), all).await.map_err(std::io::Error::from)??;
    let text = String::from_utf8_lossy(&response);
    let status = text.lines().next().and_then(|line| line.split_once(' ')).map(|(_, rest)| rest);
    Ok(escape::text(status.unwrap_or("no response").as_bytes()))
}

fn guide(
    (proxy, admin): (SocketAddr, SocketAddr),
    file: &Path,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let program = std::env::args().next().unwrap_or_else(|| "beadle".to_owned());
    let file = file.display();
    writeln!(
        out,
        "\
Try, in another terminal:

  the published rules
    curl http://{proxy}/robots.txt

  a tag on every response below /drafts/
    curl -sI http://{proxy}/drafts/plan | grep -i robots-tag

  a logged violation: the page is served, the visit is recorded
    curl -A Googlebot/2.1 http://{proxy}/admin/users
    {program} violations --config {file}

  a block: this crawler may read /press/ only
    curl -i -A GPTBot/1.2 http://{proxy}/news/

  the reasons
    {program} explain --config {file} --user-agent GPTBot/1.2 /news/ /press/2026

  the desk, in a browser: violations, and what any request would get
    http://{admin}/
    http://{admin}/try?user_agent=GPTBot/1.2&url=/news/
    http://{admin}/live

  the counters
    curl -s http://{admin}/metrics | grep ^beadle_violations

  the published editions
    {program} robots --config {file} --history

The policy is {file}. Beadle reloads it after each change.
A crawler may use the old rules until it fetches robots.txt again, for a day at most.
Until then, requests for newly closed paths count as grace, as 'explain' shows.
Ctrl-C ends the demo."
    )?;
    Ok(out.flush()?)
}
