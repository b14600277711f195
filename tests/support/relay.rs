//! A relay between two programs, which forwards, waits, holds back or refuses what passes.

use std::{
    io::{Read, Write},
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicU16, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;

use super::free_port;

/// What a relay does with octets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Line {
    /// It forwards them.
    #[default]
    Open,
    /// It forwards what the target sends after this time.
    Slow(Duration),
    /// It takes them and forwards nothing, as a firewall that drops.
    Silent,
    /// It ends every connection.
    Cut,
}

/// A relay on its own port, to one port of this machine at a time. It ends with the process.
#[derive(Debug)]
pub(crate) struct Relay {
    pub(crate) port: u16,
    target: Arc<AtomicU16>,
    line: Arc<Mutex<Line>>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Relay {
    pub(crate) fn to(target: u16) -> Self {
        let port = free_port();
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).expect("the port is free");
        let (line, open) = (Arc::<Mutex<Line>>::default(), Arc::<Mutex<Vec<TcpStream>>>::default());
        let target = Arc::new(AtomicU16::new(target));
        let (line_too, open_too) = (Arc::clone(&line), Arc::clone(&open));
        let relay = Self { port, target: Arc::clone(&target), line: line_too, open: open_too };
        std::thread::spawn(move || {
            for near in listener.incoming().flatten() {
                if *line.lock() == Line::Cut {
                    continue;
                }
                let target = target.load(Ordering::Relaxed);
                let Ok(far) = TcpStream::connect((Ipv4Addr::LOCALHOST, target)) else { continue };
                let copies = (near.try_clone(), far.try_clone());
                let (Ok(near_too), Ok(far_too)) = copies else { continue };
                open.lock().extend([near.try_clone(), far.try_clone()].into_iter().flatten());
                pump(near, far, Direction::There, Arc::clone(&line));
                pump(far_too, near_too, Direction::Back, Arc::clone(&line));
            }
        });
        relay
    }

    /// Leads to another port from now on. What is open ends.
    pub(crate) fn aim(&self, target: u16) {
        self.target.store(target, Ordering::Relaxed);
        self.close();
    }

    /// Changes what it does, also with connections that are open. Octets that a silent line took are
    /// lost, so its connections end when it opens again.
    pub(crate) fn set(&self, line: Line) {
        let before = std::mem::replace(&mut *self.line.lock(), line);
        if line == Line::Cut || before == Line::Silent {
            self.close();
        }
    }

    fn close(&self) {
        for stream in self.open.lock().drain(..) {
            // It may have ended already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    /// To the target.
    There,
    /// From it.
    Back,
}

fn pump(mut from: TcpStream, mut to: TcpStream, direction: Direction, line: Arc<Mutex<Line>>) {
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            let now = *line.lock();
            match now {
                Line::Slow(wait) if direction == Direction::Back => std::thread::sleep(wait),
                Line::Open | Line::Slow(_) => {}
                Line::Silent => continue,
                Line::Cut => break,
            }
            if to.write_all(&buffer[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    });
}
