//! A line to a server that delays what goes over it.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use super::{Result, harness::process::Address};

/// Starts a line with this delay in each direction. It ends with the benchmark.
pub(super) fn start(server: Address, delay: Duration) -> Result<Address> {
    if delay.is_zero() {
        return Ok(server);
    }
    let address = Address::free()?;
    let listener = TcpListener::bind(address.socket())?;
    thread::spawn(move || {
        for client in listener.incoming().map_while(io::Result::ok) {
            let Ok(server) = TcpStream::connect(server.socket()) else { continue };
            let (Ok(from_client), Ok(from_server)) = (client.try_clone(), server.try_clone())
            else {
                continue;
            };
            pass(from_client, server, delay);
            pass(from_server, client, delay);
        }
    });
    Ok(address)
}

/// Passes octets on, each after the delay, without a limit of their number.
fn pass(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let (sender, late) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            if sender.send((Instant::now() + delay, buffer[..length].to_vec())).is_err() {
                break;
            }
        }
    });
    thread::spawn(move || {
        for (due, octets) in late {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&octets).is_err() {
                break;
            }
        }
        // The other side may have closed it.
        let _ = to.shutdown(Shutdown::Write);
    });
}
