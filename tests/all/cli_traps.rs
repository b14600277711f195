//! Mistakes that look right: each message names the mistake, its place and the repair.
//!
//! `tests/data/traps` has the policies and the whole output; `BEADLE_UPDATE=1` writes the output.

use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
};

use rusqlite::Connection;

use crate::support::program::PROGRAM;

const TRAPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traps");

/// A command line, its output and its exit code. Texts that differ from run to run have names.
fn run(
    folder: &Path,
    args: &str,
    variable: Option<(&str, &str)>,
    named: &[(&str, &str)],
) -> String {
    let mut command = Command::new(PROGRAM);
    command.args(args.split(' ')).current_dir(folder).env_remove("BEADLE_CONFIG");
    command.env_remove("NOTIFY_SOCKET").stdin(Stdio::null()).envs(variable);
    let output = command.output().expect("the program can be started");
    let variable = variable.map(|(name, value)| format!("{name}={value} ")).unwrap_or_default();
    let (out, err) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let exit = output.status.code().expect("an exit code");
    let text = format!("$ {variable}beadle {args}\n{out}{err}exit {exit}\n\n");
    named.iter().fold(text, |text, (value, name)| text.replace(value, name))
}

#[test]
fn every_trap_is_named_as_the_golden_file_says() {
    let traps = Path::new(TRAPS);
    let mut names: Vec<String> = fs::read_dir(traps)
        .expect("the folder is part of the project")
        .map(|entry| entry.expect("readable").file_name().into_string().expect("UTF-8"))
        .filter(|name| name.ends_with(".yaml"))
        .collect();
    names.sort();
    let mut found: String =
        names.iter().map(|name| run(traps, &format!("check {name}"), None, &[])).collect();

    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().display().to_string();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let named = [(at.as_str(), "$DIR"), (port.as_str(), "$PORT")];
    let policy = |server: &str, database: &str| {
        let text = format!(
            "server: {{ {server} }}\nviolations: {{ database: {database} }}\nsites:\n  - hosts: \
             [www.example.com]\n    origin: http://127.0.0.1:3000\n    robots_txt: {{ groups: [{{ \
             user_agents: ['*'], disallow: [/private/] }}] }}\n"
        );
        fs::write(folder.path().join("beadle.yaml"), text).expect("it can be written");
    };
    // The disk was full at the first start, before the tables were created.
    policy("listen: [127.0.0.1:8080]", "full.db");
    let connection = Connection::open(folder.path().join("full.db")).expect("a file");
    connection.execute_batch("PRAGMA journal_mode = wal").expect("it runs");
    drop(connection);
    found += &run(folder.path(), "violations --config beadle.yaml", None, &named);
    // Another program has the port of the admin listener.
    policy(&format!("listen: [127.0.0.1:0], admin: 127.0.0.1:{port}"), "beadle.db");
    found += &run(folder.path(), "serve --config beadle.yaml", None, &named);
    // A typing error in the folder of the database.
    policy("listen: [127.0.0.1:0], admin: off", &format!("{at}/lib/baedle/beadle.db"));
    found += &run(folder.path(), "serve --config beadle.yaml", None, &named);
    let authorities = Some(("SSL_CERT_FILE", "none.pem"));
    found += &run(folder.path(), "serve --config beadle.yaml", authorities, &named);

    let golden = traps.join("expected.txt");
    if std::env::var_os("BEADLE_UPDATE").is_some() {
        fs::write(&golden, &found).expect("the golden file can be written");
    }
    let expected = fs::read_to_string(&golden).unwrap_or_default();
    assert!(expected == found, "BEADLE_UPDATE=1 writes it anew:\n{found}");
}
