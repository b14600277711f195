//! A ClickHouse server of the system on a free port, one for all tests of the process.

use std::{
    fs,
    net::TcpListener,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use crate::records::clickhouse::{Client, Settings, migrate};

/// How long a server may take to start.
const START: Duration = Duration::from_secs(60);
/// The deadline of a request in tests.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// The port of the server; `None` if it is not installed, and the tests are to be skipped.
static SERVER: OnceLock<Option<Server>> = OnceLock::new();
static DATABASES: AtomicU32 = AtomicU32::new(0);

struct Server {
    port: u16,
    /// When the process of the tests ends, its standard input does, and the server is ended.
    _keeper: Option<Child>,
}

/// A client of an empty database with tables; `None` if no server is installed.
pub(crate) fn database() -> Option<Client> {
    let client = empty()?;
    migrate(&client, DEADLINE).expect("tables");
    Some(client)
}

/// A client of a database that does not exist yet; `None` if no server is installed.
pub(crate) fn empty() -> Option<Client> {
    let number = DATABASES.fetch_add(1, Ordering::Relaxed);
    named(&format!("test_{number}"))
}

/// A client of the database with this name; `None` if no server is installed.
pub(crate) fn named(database: &str) -> Option<Client> {
    let server = SERVER.get_or_init(start).as_ref()?;
    Some(Client::new(settings(server.port, database)).expect("a client"))
}

/// The settings of a client.
pub(crate) fn settings(port: u16, database: &str) -> Settings {
    Settings {
        host: "127.0.0.1".to_owned(),
        port,
        is_tls: false,
        user: "default".to_owned(),
        password: String::new(),
        database: database.to_owned(),
        ca_file: None,
    }
}

fn start() -> Option<Server> {
    // Another engine, which runs already: see .ci/long.
    if let Some(port) = std::env::var_os("BEADLE_CLICKHOUSE_PORT") {
        let port = port.to_str().and_then(|port| port.parse().ok()).expect("a port");
        return Some(Server { port, _keeper: None });
    }
    if Command::new("clickhouse-server").arg("--help").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "no clickhouse-server, and CI is set");
        let mut stderr = std::io::stderr().lock();
        let _ = std::io::Write::write_all(&mut stderr, b"skipped: no clickhouse-server\n");
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder").keep();
    let free = || TcpListener::bind("127.0.0.1:0").expect("a port");
    let sockets = [free(), free()];
    let [port, tcp] = sockets.each_ref().map(|one| one.local_addr().expect("bound").port());
    drop(sockets);
    configure(&folder, port, tcp);
    let script = "clickhouse-server --config-file=\"$0/config.xml\" >\"$0/out\" 2>&1 & server=$!; \
                  read -r _; kill -9 $server; wait $server; rm -rf \"$0\"";
    let keeper = Command::new("sh")
        .args(["-c", script])
        .arg(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    let server = Server { port, _keeper: Some(keeper) };
    let client = Client::new(settings(port, "default")).expect("a client");
    let begin = Instant::now();
    while let Err(error) = client.execute("SELECT 1", DEADLINE) {
        assert!(begin.elapsed() < START, "{error}; see {}", folder.display());
        thread::sleep(Duration::from_millis(50));
    }
    Some(server)
}

fn configure(folder: &Path, port: u16, tcp: u16) {
    let path = folder.display();
    // The zone of the server must not count, so it is an odd one.
    let config = format!(
        "<yandex><logger><level>warning</level><log>{path}/log</log>\
         <errorlog>{path}/errors</errorlog></logger>\
         <http_port>{port}</http_port><tcp_port>{tcp}</tcp_port>\
         <listen_host>127.0.0.1</listen_host><path>{path}/data/</path>\
         <tmp_path>{path}/tmp/</tmp_path><users_config>{path}/users.xml</users_config>\
         <user_files_path>{path}/files/</user_files_path>\
         <default_profile>default</default_profile><default_database>default</default_database>\
         <mark_cache_size>67108864</mark_cache_size><timezone>America/St_Johns</timezone></yandex>"
    );
    let users = "<yandex><profiles><default/></profiles><users><default><password></password>\
         <networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota>\
         </default></users><quotas><default/></quotas></yandex>";
    fs::write(folder.join("config.xml"), config).expect("written");
    fs::write(folder.join("users.xml"), users).expect("written");
}
