//! The sections of a policy beside its sites, in words.

use crate::{
    base::escape,
    desk::pages::{
        facts::{Group, fact, group, list, yes},
        time::length,
    },
    review::report::number::grouped,
    rules::policy::{
        Alert, ClickHouse, ClientIp, Database, Destination, Evidence, Log, OnDamage, Policy,
        Server, Violations, size_text,
    },
};

const NEEDS_RESTART: &str = "A change here needs a restart.";

pub(super) fn crawlers(policy: &Policy) -> Group {
    let source = match &policy.catalogue_file {
        Some(path) => escape::path(path),
        None => "built in".to_owned(),
    };
    let mut facts = vec![
        fact("known", grouped(policy.catalogue.iter().len() as u64)),
        fact("catalogue", format!("{source}, of {}", escape::shown(&policy.catalogue_version))),
    ];
    let lists = policy.following.iter().flat_map(|following| &following.lists);
    facts.extend(lists.map(|list| {
        fact("follows", format!("{}, every {}", escape::shown(&list.url), length(list.every)))
    }));
    group("Crawlers", facts)
}

pub(super) fn server(server: &Server) -> Group {
    let listen = server.listen.iter().map(|listener| match &listener.tls {
        None if listener.is_redirect => format!("{}, redirects to HTTPS", listener.address),
        None => listener.address.to_string(),
        Some(tls) => {
            let files = tls.certificates.iter().map(|files| escape::path(&files.certificate));
            let acme = tls.acme.iter().map(|acme| format!("ACME of {}", acme.directory));
            let all: Vec<String> = files.chain(acme).collect();
            format!("{}, TLS with {}", listener.address, all.join(", "))
        }
    });
    let admin = match &server.admin {
        None => "off".to_owned(),
        Some(admin) => match &admin.token_file {
            None => format!("{}, without a token", admin.address),
            Some(token) => {
                format!("{}, opened by the token in {}", admin.address, escape::path(token))
            }
        },
    };
    let decide = match &server.decide {
        None => "off".to_owned(),
        Some(decide) => match decide.refuse_status {
            None => decide.address.to_string(),
            Some(status) => format!("{}, refusals with {status}", decide.address),
        },
    };
    let timeouts = &server.timeouts;
    let times = [
        ("client_keepalive", timeouts.client_keepalive),
        ("client_read", timeouts.client_read),
        ("client_write", timeouts.client_write),
        ("origin_connect", timeouts.origin_connect),
        ("origin_read", timeouts.origin_read),
        ("origin_write", timeouts.origin_write),
        ("origin_keepalive", timeouts.origin_keepalive),
        ("origin_lookup", timeouts.origin_lookup),
        ("drain", timeouts.drain),
    ];
    let times = times.map(|(name, value)| format!("{name} {}", length(value)));
    let threads =
        server.threads.map_or_else(|| "one for each processor".to_owned(), |n| n.to_string());
    Group {
        name: "Server".to_owned(),
        note: NEEDS_RESTART,
        facts: vec![
            list("listens on", listen, ""),
            fact("admin listener", admin),
            fact("other servers ask at", decide),
            list("trusted proxies", server.trusted_proxies.iter().map(ToString::to_string), "none"),
            fact("access log", place(server.access_log.as_ref().map(|log| &log.log))),
            fact("threads", threads),
            fact("timeouts", times.join(", ")),
        ],
    }
}

fn place(log: Option<&Log>) -> String {
    match log {
        None => "none".to_owned(),
        Some(Log::Stdout) => "standard output".to_owned(),
        Some(Log::File(path)) => escape::path(path),
    }
}

pub(super) fn records(violations: &Violations) -> Group {
    let client_ip = match violations.client_ip {
        ClientIp::Full => "the whole address",
        ClientIp::Network => "the network",
        ClientIp::Hash => "a hash that changes each day",
    };
    let mut places = match &violations.database {
        None => vec![fact("database", "none")],
        Some(Database::Sqlite(path)) => vec![
            fact("database", escape::path(path)),
            fact("largest database", size_text(violations.max_size)),
        ],
        Some(Database::ClickHouse(ClickHouse { server, local, spool, spool_size, .. })) => vec![
            fact("database", server.to_string()),
            fact("local database", escape::path(local)),
            fact("spool", format!("{}, {} at most", escape::path(spool), size_text(*spool_size))),
        ],
    };
    let detail = format!(
        "{} records of one site, crawler and rule in an hour; further ones are counted",
        grouped(violations.detail)
    );
    let on_damage = match violations.on_damage {
        OnDamage::Keep => "a damaged database stays as it is",
        OnDamage::Rotate => "a damaged database is moved aside",
    };
    places.extend([
        fact("log", place(violations.log.as_ref())),
        fact("kept for", length(violations.retention)),
        fact("detail", detail),
        fact("queue", format!("{} records", grouped(violations.queue as u64))),
        fact("client address", client_ip),
        list("hidden query parameters", violations.redact_query.iter().map(escape::shown), "none"),
        fact("damage", on_damage),
    ]);
    Group { name: "Records".to_owned(), note: NEEDS_RESTART, facts: places }
}

pub(super) fn evidence(evidence: Option<&Evidence>) -> Group {
    let Some(evidence) = evidence else {
        let none = "none: claims are neither confirmed nor contradicted";
        return group("Evidence", vec![fact("collected", none)]);
    };
    let about = match &evidence.user_agents {
        None => "every crawler that publishes any".to_owned(),
        Some(some) => format!("{} crawlers", grouped(some.len() as u64)),
    };
    let copies = evidence.folder.as_ref().map(|path| escape::path(path));
    let name_servers = evidence.name_servers.iter().map(ToString::to_string);
    let facts = vec![
        fact("about", about),
        fact("published address lists", yes(evidence.ip_ranges)),
        fact("reverse DNS", yes(evidence.reverse_dns)),
        fact("signatures", yes(evidence.signatures)),
        fact("lists are fetched every", length(evidence.refresh)),
        fact("copies", copies.unwrap_or_else(|| "in memory only".to_owned())),
        list("name servers", name_servers, "those of the system"),
    ];
    group("Evidence", facts)
}

pub(super) fn alerts(alerts: &[Alert]) -> Group {
    let alert = |alert: &Alert| {
        let kinds: Vec<&str> = alert.on.iter().map(|kind| kind.as_str()).collect();
        let how = match &alert.to {
            Destination::Web { secret_file: Some(file), .. } => {
                format!("signed with {}", escape::path(file))
            }
            _ => format!("as {}", alert.format()),
        };
        format!("{}, {how}: {}", escape::shown(alert.shown().as_ref()), kinds.join(", "))
    };
    group("Alerts", vec![list("receivers", alerts.iter().map(alert), "none")])
}
