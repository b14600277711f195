//! An origin over HTTP/1.1 that reads each body whole, or not at all.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

use super::{Result, harness::process::Address};

/// The octets of a slow download, one each tenth of a second.
const SLOW: usize = 300;

/// Starts the origin. It ends with the benchmark.
pub(super) fn start() -> Result<Address> {
    let address = Address::free()?;
    let listener = TcpListener::bind(address.socket())?;
    thread::spawn(move || {
        for stream in listener.incoming().map_while(io::Result::ok) {
            // A client that goes away ends its connection, and nothing else.
            thread::spawn(move || drop(serve(stream)));
        }
    });
    Ok(address)
}

fn serve(stream: TcpStream) -> io::Result<()> {
    let mut answers = stream.try_clone()?;
    let mut requests = BufReader::with_capacity(1 << 16, stream);
    loop {
        let (mut path, mut length, mut line) = (String::new(), 0, String::new());
        while requests.read_line(&mut line)? > 2 {
            match line.split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse().unwrap_or(0);
                }
                _ if path.is_empty() => {
                    path = line.split(' ').nth(1).unwrap_or_default().to_owned();
                }
                _ => {}
            }
            line.clear();
        }
        match path.as_str() {
            "" => return Ok(()),
            "/stall" => thread::sleep(Duration::from_secs(60)),
            "/slow" => {
                write!(answers, "HTTP/1.1 200 OK\r\nContent-Length: {SLOW}\r\n\r\n")?;
                for _ in 0..SLOW {
                    answers.write_all(b"x")?;
                    thread::sleep(Duration::from_millis(100));
                }
            }
            _ => {
                io::copy(&mut requests.by_ref().take(length), &mut io::sink())?;
                answers.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")?;
            }
        }
    }
}
