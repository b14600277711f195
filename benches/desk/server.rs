//! The program on the generated database, and its answers.

use std::{
    fs,
    io::{Read, Write},
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::{Result, model::SITES};

const PATIENCE: Duration = Duration::from_secs(120);

/// The serving program; it ends with this value.
pub(crate) struct Server {
    child: Child,
    pub(crate) policy: PathBuf,
    admin: u16,
}

/// An answer of a page.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: String,
    pub(crate) time: Duration,
}

impl Server {
    pub(crate) fn start(folder: &Path, database: &Path) -> Result<Self> {
        let (public, admin) = (free_port()?, free_port()?);
        let policy = folder.join("beadle.yaml");
        fs::write(&policy, policy_text(database, public, admin, true))?;
        // The limit of size came after the limit of age.
        let known = beadle().arg("check").arg("--config").arg(&policy).output()?;
        if !known.status.success() {
            fs::write(&policy, policy_text(database, public, admin, false))?;
        }
        let log = fs::File::create(folder.join("beadle.log"))?;
        let child = beadle()
            .arg("serve")
            .arg("--config")
            .arg(&policy)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let mut server = Self { child, policy, admin };
        let start = Instant::now();
        while server.get("/readyz").map_or(true, |answer| answer.status != 200) {
            if start.elapsed() > PATIENCE || server.child.try_wait()?.is_some() {
                return Err(fs::read_to_string(folder.join("beadle.log"))?.into());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        println!("ready after {:.2} s", start.elapsed().as_secs_f64());
        Ok(server)
    }

    pub(crate) fn get(&self, path: &str) -> Result<Answer> {
        let start = Instant::now();
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.admin))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        let time = start.elapsed();
        let text = String::from_utf8_lossy(&bytes);
        let (head, body) = text.split_once("\r\n\r\n").ok_or("no answer")?;
        let status =
            head.split(' ').nth(1).and_then(|word| word.parse().ok()).ok_or("no status")?;
        Ok(Answer { status, body: body.to_owned(), time })
    }

    /// The time that the program has used processors, by Linux. It tells what a request takes on an idle
    /// machine.
    pub(crate) fn cpu_time(&self) -> Duration {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.child.id())).into_iter().flatten();
        let texts = tasks
            .flatten()
            .filter_map(|task| fs::read_to_string(task.path().join("schedstat")).ok());
        let times = texts.filter_map(|text| text.split(' ').next()?.parse::<u64>().ok());
        Duration::from_nanos(times.sum())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The standard library can only send SIGKILL.
        let id = self.child.id().to_string();
        let _ = Command::new("sh").args(["-c", "kill -TERM \"$0\"", &id]).status();
        let _ = self.child.wait();
    }
}

/// The program that is measured.
pub(crate) fn beadle() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_beadle"));
    command.env_remove("BEADLE_LOG").env_remove("BEADLE_CONFIG");
    command
}

fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

fn policy_text(database: &Path, public: u16, admin: u16, has_size: bool) -> String {
    let size = if has_size { "  max_size: 1000GiB\n" } else { "" };
    let sites: String = SITES
        .iter()
        .enumerate()
        .map(|(number, site)| {
            format!(
                "  - hosts: [{site}]\n    default: {}\n    origin: http://127.0.0.1:9\n    \
                 robots_txt: {{ groups: [{{ user_agents: ['*'], disallow: [/private/] }}] }}\n",
                number == 0
            )
        })
        .collect();
    format!(
        "server: {{ listen: ['127.0.0.1:{public}'], admin: '127.0.0.1:{admin}' }}\n\
         violations:\n  database: {}\n  retention: 3650d\n{size}sites:\n{sites}",
        database.display()
    )
}
