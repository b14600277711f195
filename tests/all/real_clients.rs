//! Programs that people use with a site: git, and at full size litmus, Go, httpx and hey. An origin that
//! speaks HTTP/2 itself.

use std::{
    fs,
    io::Write as _,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use crate::support::{
    client::{Client, Request},
    conditions::{need, origins_folder, want},
    frames::{Connection, END_STREAM, headers, request},
    free_port,
    origin::{After, Exchange, Origin},
    program::Setup,
    wait_for,
};

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn output(command: &mut Command) -> Output {
    let output = command.stdin(Stdio::null()).output().expect("the program starts");
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&text));
    output
}

/// Answers by git's own program, as a web server does (CGI, RFC 3875).
fn answer_by_git(exchange: &mut Exchange<'_>, git: &Path, root: &Path) -> After {
    exchange.read_body();
    let target = String::from_utf8_lossy(&exchange.request.target).into_owned();
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let field = |name: &str| exchange.request.header(name).unwrap_or_default().to_owned();
    let mut child = Command::new(git)
        .arg("http-backend")
        .env("GIT_PROJECT_ROOT", root)
        .env("GIT_HTTP_EXPORT_ALL", "1")
        .env("REMOTE_USER", "somebody")
        .env("PATH_INFO", path)
        .env("QUERY_STRING", query)
        .env("REQUEST_METHOD", &exchange.request.method)
        .env("CONTENT_TYPE", field("content-type"))
        .env("CONTENT_LENGTH", exchange.request.body.len().to_string())
        .env("GIT_PROTOCOL", field("git-protocol"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("git starts");
    let mut input = child.stdin.take().expect("a pipe");
    let body = exchange.request.body.clone();
    let writer = std::thread::spawn(move || drop(input.write_all(&body)));
    let found = child.wait_with_output().expect("git ends").stdout;
    writer.join().expect("it ends");
    let end = found.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8_lossy(&found[..end]).into_owned();
    let (status, fields): (Vec<_>, Vec<_>) =
        head.split("\r\n").partition(|line| line.starts_with("Status: "));
    let status = status.first().map_or("200 OK", |line| &line["Status: ".len()..]);
    exchange.answer(status, &fields, &found[end + 4..]);
    After::Keep
}

#[test]
fn git_clones_and_pushes() {
    let Some(git) = need("git") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    output(Command::new(&git).args(["init", "-q", "--bare"]).arg(at("site.git")));
    let (program, root) = (git.clone(), folder.path().to_owned());
    let origin = Origin::playing(move |exchange| answer_by_git(exchange, &program, &root));
    let (setup, port) = Setup::site(origin.port, "").tls_listener();
    let _beadle = setup.start();
    let run = |folder: &Path, arguments: &[&str]| {
        output(
            Command::new(&git)
                .current_dir(folder)
                .args(["-c", "http.version=HTTP/2", "-c", "http.sslVerify=false"])
                // A larger body than this has no length, and ends in an empty DATA frame.
                .args(["-c", "http.postBuffer=70000"])
                .args(["-c", &format!("http.curloptResolve=site.example:{port}:127.0.0.1")])
                .args(["-c", "user.name=somebody", "-c", "user.email=somebody@site.example"])
                .args(arguments),
        )
    };
    let url = format!("https://site.example:{port}/site.git");
    run(folder.path(), &["clone", "-q", &url, "work"]);
    for number in 0..3_u64 {
        let noise: Vec<u8> = (0..200_000_u64)
            .map(|at| (at.wrapping_mul(6_364_136_223_846_793_005 + number) >> 33).to_be_bytes()[7])
            .collect();
        fs::write(at("work").join(format!("page{number}")), noise).expect("the folder is ours");
        run(&at("work"), &["add", "."]);
        run(&at("work"), &["commit", "-q", "-m", "a page"]);
        run(&at("work"), &["push", "-q", "origin", "HEAD:main"]);
    }
    run(folder.path(), &["clone", "-q", "-b", "main", &url, "again"]);
    let page = |folder: &str| fs::read(at(folder).join("page2")).expect("a page");
    assert!(page("again") == page("work"));
}

/// A server with WebDAV behind Beadle with TLS.
fn apache(folder: &Path, port: u16) -> Option<Process> {
    let program = want("apache2")?;
    let at = folder.display();
    let modules: String = ["mpm_event", "authz_core", "dav", "dav_fs"]
        .iter()
        .map(|name| format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n"))
        .collect();
    fs::create_dir(folder.join("root")).expect("the folder is ours");
    let text = format!(
        "ServerRoot {at}\nPidFile {at}/pid\nErrorLog {at}/log\nListen 127.0.0.1:{port}\n\
         ServerName site.example\n{modules}DocumentRoot {at}/root\nDavLockDB {at}/locks\n\
         <Directory {at}/root>\nDav On\nRequire all granted\n</Directory>\nUser nobody\nGroup nogroup\n"
    );
    let all = fs::Permissions::from_mode(0o777);
    for folder in [folder.to_owned(), folder.join("root")] {
        fs::set_permissions(folder, all.clone()).expect("the folder is ours");
    }
    fs::write(folder.join("apache.conf"), text).expect("the folder is ours");
    let child = Command::new(program)
        .args(["-X", "-f"])
        .arg(folder.join("apache.conf"))
        .spawn()
        .expect("apache starts");
    Some(Process(child))
}

#[test]
fn rfc4918_a_file_is_copied_and_moved_behind_tls() {
    let (origin_port, folder) = (free_port(), tempfile::tempdir().expect("a folder"));
    let Some(_apache) = apache(folder.path(), origin_port) else { return };
    wait_for("apache", || Client::try_connect(origin_port).ok());
    let (setup, port) = Setup::site(origin_port, "").tls_listener();
    let _beadle = setup.start();
    let mut client = Client::connect_tls(port);
    let put = Request::new("PUT", "/a").body("a page");
    assert_eq!(put.send_over(&mut client).status, 201);
    for (method, from, to) in [("COPY", "a", "b"), ("MOVE", "b", "c")] {
        let head = format!(
            "{method} /{from} HTTP/1.1\r\nHost: site.example:{port}\r\n\
             Destination: https://site.example:{port}/{to}\r\n\r\n"
        );
        client.write(head.as_bytes());
        assert_eq!(client.response(method).expect("an answer").status, 201, "{method}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("root/c")).expect("it moved"), "a page");
}

#[test]
fn an_origin_of_http_2_gets_requests_and_its_trailers_reach_the_client() {
    let Some(nghttpd) = need("nghttpd") else { return };
    let (origin_port, folder) = (free_port(), tempfile::tempdir().expect("a folder"));
    fs::write(folder.path().join("page"), "a page").expect("the folder is ours");
    let child = Command::new(nghttpd)
        .args(["--no-tls", "--address=127.0.0.1", "--trailer=grpc-status: 0", "-d"])
        .arg(folder.path())
        .arg(origin_port.to_string())
        .stdout(Stdio::null())
        .spawn()
        .expect("nghttpd starts");
    let _process = Process(child);
    wait_for("nghttpd", || Client::try_connect(origin_port).ok());
    let (setup, port) = Setup::site(origin_port, "").tls_listener();
    let url = format!("origin: http://127.0.0.1:{origin_port}");
    let h2 = format!("origin: {{ url: \"http://127.0.0.1:{origin_port}\", protocol: h2 }}");
    let beadle = setup.replaced(&url, &h2).start();
    let mut connection = Connection::connect(port);
    connection.write(&headers(1, END_STREAM, &request("GET", "/page")));
    let answer = connection.answer(1);
    assert_eq!((answer.status, &answer.body[..]), (Some(200), &b"a page"[..]));
    assert!(answer.has_trailers);
    // A client of HTTP/1.1 gets the page, too.
    assert_eq!(beadle.get("/page", "Mozilla/5.0").text(), "a page");
}

#[test]
fn litmus_finds_no_fault_with_webdav_behind_a_proxy() {
    let Some(litmus) = want("litmus") else { return };
    let (origin_port, folder) = (free_port(), tempfile::tempdir().expect("a folder"));
    let Some(_apache) = apache(folder.path(), origin_port) else { return };
    wait_for("apache", || Client::try_connect(origin_port).ok());
    let beadle = Setup::site(origin_port, "").replaced("site.example", "localhost").start();
    let url = format!("http://localhost:{}/", beadle.port);
    let output = Command::new(litmus).current_dir(folder.path()).args(["-k", &url]).output();
    let text = String::from_utf8_lossy(&output.expect("litmus starts").stdout).into_owned();
    let summaries: Vec<&str> = text.lines().filter(|line| line.contains("100.0%")).collect();
    assert_eq!(summaries.len(), 5, "basic, copymove, props, locks, http:\n{text}");
}

/// Sends a body without a length over HTTP/2, and says what the answer was.
const GO: &str = r#"
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
)

func main() {
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:"+os.Args[1])
	}
	client := &http.Client{Transport: &http.Transport{
		ForceAttemptHTTP2: true,
		DialContext:       dial,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
	}}
	for _, size := range []int{0, 1, 70000, 3000000} {
		body := io.MultiReader(strings.NewReader(strings.Repeat("x", size)))
		request, _ := http.NewRequest("POST", "https://site.example/up", body)
		response, err := client.Do(request)
		if err != nil {
			panic(err)
		}
		text, _ := io.ReadAll(response.Body)
		fmt.Println(response.Proto, response.StatusCode, string(text))
	}
}
"#;

/// The same with httpx.
const HTTPX: &str = r#"
import socket, sys
import httpx
real = socket.getaddrinfo
socket.getaddrinfo = lambda host, port, *more, **named: real("127.0.0.1", int(sys.argv[1]), *more, **named)
with httpx.Client(http2=True, verify=False, timeout=20) as client:
    for size in [0, 1, 70000, 3000000]:
        parts = (b"x" * min(1000, size - at) for at in range(0, size, 1000))
        answer = client.post("https://site.example/up", content=parts)
        print(answer.http_version + ".0" if answer.http_version == "HTTP/2" else answer.http_version,
              answer.status_code, answer.text)
"#;

#[test]
fn clients_of_other_languages_send_bodies_without_a_length() {
    let origin = Origin::playing(|exchange| {
        exchange.read_body();
        let length = exchange.request.body.len().to_string();
        exchange.answer("200 OK", &[], length.as_bytes());
        After::Keep
    });
    let (setup, port) = Setup::site(origin.port, "").tls_listener();
    let _beadle = setup.start();
    let (folder, port) = (tempfile::tempdir().expect("a folder"), port.to_string());
    let sizes = [0, 1, 70_000, 3_000_000].map(|size| format!("HTTP/2.0 200 {size}\n")).concat();
    let file = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::write(&file, text).expect("the folder is ours");
        file
    };
    if let Some(go) = want("go") {
        let mut run = Command::new(go);
        run.args(["run".as_ref(), file("main.go", GO).as_os_str(), port.as_ref()]);
        run.env("GOCACHE", folder.path().join("cache")).env("GO111MODULE", "off");
        assert_eq!(String::from_utf8_lossy(&output(&mut run).stdout), sizes, "Go");
    }
    // httpx is in the environment of the origins.
    if want("httpx").is_some()
        && let Some(python) = origins_folder().map(|folder| folder.join("venv/bin/python"))
    {
        let run = output(Command::new(python).arg(file("post.py", HTTPX)).arg(&port));
        assert_eq!(String::from_utf8_lossy(&run.stdout), sizes, "httpx");
    }
    if let Some(hey) = want("hey") {
        let url = format!("https://127.0.0.1:{port}/page");
        let arguments = ["-n", "400", "-c", "8", "-h2", "-host", "site.example", &url];
        let run = output(Command::new(hey).args(arguments));
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        assert!(text.contains("[200]\t400 responses"), "hey: {text}");
    }
}
