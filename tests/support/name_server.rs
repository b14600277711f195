//! A scripted name server on loopback, over UDP and TCP.

use std::{
    io::{Read, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket},
    sync::Arc,
    thread,
    time::Duration,
};

use hickory_resolver::proto::{
    op::{Message, OpCode, ResponseCode},
    rr::{Name, RData, Record, RecordType, rdata},
};
use parking_lot::Mutex;

/// An answer of the server.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Records of the queried name.
    Records(Vec<RData>),
    /// No records, with this response code.
    Code(ResponseCode),
    /// There is no such name, by this zone.
    NoSuchName(Name),
    /// A referral to other servers.
    Referral,
    /// Truncated over UDP; these records over TCP.
    TooLong(Vec<RData>),
    /// These records, after a delay.
    After(Duration, Vec<RData>),
    /// Octets that are no DNS message.
    Garbage,
    /// No answer.
    Silence,
}

/// The names of an address.
pub(crate) fn names(names: &[&str]) -> Reply {
    Reply::Records(names.iter().map(|name| pointer(name)).collect())
}

/// A name of an address, as a record.
pub(crate) fn pointer(name: &str) -> RData {
    RData::PTR(rdata::PTR(Name::from_ascii(name).expect("it is well-formed")))
}

/// The addresses of a name.
pub(crate) fn addresses(addresses: &[&str]) -> Reply {
    Reply::Records(
        addresses
            .iter()
            .map(|address| RData::from(address.parse::<IpAddr>().expect("it is well-formed")))
            .collect(),
    )
}

/// Another name that the queried one is an alias of.
pub(crate) fn alias(name: &str) -> Reply {
    Reply::Records(vec![RData::CNAME(rdata::CNAME(
        Name::from_ascii(name).expect("it is well-formed"),
    ))])
}

type Says = dyn Fn(&str, RecordType) -> Reply + Send + Sync;
type Asked = Arc<Mutex<Vec<(String, RecordType)>>>;

/// A name server; runs until the process ends.
pub(crate) struct NameServer {
    pub(crate) address: SocketAddr,
    asked: Asked,
}

impl NameServer {
    /// Starts a server. The script gets the name, in lower case with its final dot, and the type.
    pub(crate) fn start(says: impl Fn(&str, RecordType) -> Reply + Send + Sync + 'static) -> Self {
        let (udp, tcp) = (0..100)
            .find_map(|_| {
                let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).ok()?;
                let tcp = TcpListener::bind(udp.local_addr().ok()?).ok()?;
                Some((udp, tcp))
            })
            .expect("there is a port free for both");
        let address = udp.local_addr().expect("it is bound");
        let says: Arc<Says> = Arc::new(says);
        let asked = Asked::default();
        let (tcp_says, tcp_asked) = (Arc::clone(&says), Arc::clone(&asked));
        thread::spawn(move || {
            for stream in tcp.incoming().flatten() {
                // The client may disconnect at any time.
                let _ = serve_stream(stream, &*tcp_says, &tcp_asked);
            }
        });
        let udp_asked = Arc::clone(&asked);
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok((length, peer)) = udp.recv_from(&mut buffer) {
                let Some((delay, reply)) = answer(&buffer[..length], &*says, &udp_asked, true)
                else {
                    continue;
                };
                let udp = udp.try_clone().expect("the socket is open");
                let send = move || drop(udp.send_to(&reply, peer));
                if delay.is_zero() {
                    send();
                } else {
                    thread::spawn(move || {
                        thread::sleep(delay);
                        send();
                    });
                }
            }
        });
        Self { address, asked }
    }

    /// The queries so far, in order.
    pub(crate) fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock();
        asked.iter().map(|(name, kind)| format!("{kind} {name}")).collect()
    }
}

fn serve_stream(mut stream: TcpStream, says: &Says, asked: &Asked) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    let mut length = [0; 2];
    while stream.read_exact(&mut length).is_ok() {
        let mut question = vec![0; usize::from(u16::from_be_bytes(length))];
        stream.read_exact(&mut question)?;
        let Some((_, reply)) = answer(&question, says, asked, false) else { break };
        let length = u16::try_from(reply.len()).expect("it is short").to_be_bytes();
        stream.write_all(&[&length, reply.as_slice()].concat())?;
    }
    Ok(())
}

fn answer(
    question: &[u8],
    says: &Says,
    asked: &Asked,
    is_udp: bool,
) -> Option<(Duration, Vec<u8>)> {
    let question = Message::from_vec(question).ok()?;
    let query = question.queries.first()?.clone();
    let name = query.name().to_ascii().to_ascii_lowercase();
    asked.lock().push((name.clone(), query.query_type()));
    let mut message = Message::response(question.metadata.id, OpCode::Query);
    message.metadata.recursion_desired = true;
    message.metadata.recursion_available = true;
    message.add_query(query.clone());
    let mut delay = Duration::ZERO;
    let records = match says(&name, query.query_type()) {
        Reply::Records(records) => records,
        Reply::TooLong(_) if is_udp => {
            message.metadata.truncation = true;
            Vec::new()
        }
        Reply::TooLong(records) => records,
        Reply::After(time, records) => {
            delay = time;
            records
        }
        Reply::Code(code) => {
            message.metadata.response_code = code;
            Vec::new()
        }
        Reply::NoSuchName(zone) => {
            message.metadata.response_code = ResponseCode::NXDomain;
            let name = || Name::from_ascii("a.servers.example.").expect("it is well-formed");
            let soa = RData::SOA(rdata::SOA::new(name(), name(), 1, 3_600, 600, 86_400, 60));
            message.add_authority(Record::from_rdata(zone, 60, soa));
            Vec::new()
        }
        Reply::Referral => {
            let server = RData::NS(rdata::NS(
                Name::from_ascii("a.servers.example.").expect("it is well-formed"),
            ));
            message.add_authority(Record::from_rdata(Name::root(), 60, server));
            Vec::new()
        }
        Reply::Garbage => return Some((delay, vec![0xFF; 40])),
        Reply::Silence => return None,
    };
    message.add_answers(
        records.into_iter().map(|data| Record::from_rdata(query.name().clone(), 60, data)),
    );
    Some((delay, message.to_vec().expect("it is well-formed")))
}
