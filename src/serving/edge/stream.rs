//! A request of HTTP/2 and its response, as pingora takes them.
//!
//! pingora's own type drops interim responses, and a request of it has no state of its own for the
//! hooks.

use std::{
    future::poll_fn,
    sync::Arc,
    task::{Poll, ready},
    time::Duration,
};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use futures_core::Stream as Messages;
use h2::{Reason, RecvStream, SendStream, server::SendResponse};
use http::{HeaderMap, HeaderName, Request, Response, header};
use pingora::{
    Error, ErrorType, OrErr, Result,
    http::{RequestHeader, ResponseHeader},
    protocols::{
        Digest,
        http::{
            HttpTask,
            body_buffer::FixedBuffer,
            custom::{CustomMessageWrite, server::Session},
            date::get_cached_date,
            v2::write_body,
        },
        l4::socket::SocketAddr,
        raw_connect::ProxyDigest,
    },
};

use tokio::{sync::watch, time::timeout};

use super::{phase::Phase, wait::Timer};

/// The octets of a request's body that can be sent to another origin, too.
const KEPT: usize = 64 << 10;

/// How long the rest of a body is read whose response is complete. Many clients take a reset for an
/// error while they send, and lose the response before it (RFC 9113 §8.1 allows the reset).
const LINGER: Duration = Duration::from_secs(2);

/// Parts of a body are joined up to this size.
const PART: usize = 8 << 10;

pub(super) struct Stream {
    head: RequestHeader,
    /// Until the stream is dropped.
    body: Option<Body>,
    sender: SendResponse<Bytes>,
    /// The response's body, from its head on.
    writer: Option<SendStream<Bytes>>,
    response: Option<Box<ResponseHeader>>,
    has_ended: bool,
    read: usize,
    sent: usize,
    kept: Option<FixedBuffer>,
    write_timeout: Option<Duration>,
    digest: Digest,
    phase: Arc<Phase>,
    timer: Timer,
}

struct Body {
    stream: RecvStream,
    /// Held, so that the connection knows of a request in progress.
    _open: watch::Receiver<()>,
}

impl Stream {
    pub(super) fn new(
        request: Request<RecvStream>,
        sender: SendResponse<Bytes>,
        mut digest: Digest,
        open: watch::Receiver<()>,
    ) -> Self {
        let (head, stream) = request.into_parts();
        let phase = Arc::new(Phase::default());
        let nothing = Box::new(ResponseHeader::from(Response::new(()).into_parts().0));
        let leads_to_phase = ProxyDigest::new(nothing, Some(Box::new(Arc::clone(&phase))));
        digest.proxy_digest = Some(Arc::new(leads_to_phase));
        Self {
            head: head.into(),
            body: Some(Body { stream, _open: open }),
            sender,
            writer: None,
            response: None,
            has_ended: false,
            read: 0,
            sent: 0,
            kept: None,
            write_timeout: None,
            digest,
            phase,
            timer: Timer::default(),
        }
    }

    /// Waits until the client ends the stream, or the head of the origin's response is late.
    async fn wait(&mut self) -> Box<Error> {
        let Self { sender, writer, phase, timer, .. } = self;
        poll_fn(|context| {
            let reset = match writer {
                Some(writer) => writer.poll_reset(context),
                None => sender.poll_reset(context),
            };
            if let Poll::Ready(reset) = reset {
                let lost = "a lost connection of HTTP/2";
                return Poll::Ready(match reset {
                    Err(error) => Error::because(ErrorType::ReadError, lost, error),
                    Ok(why) => {
                        let error = format!("the client reset a stream: {why}");
                        Error::explain(ErrorType::H2Error, error)
                    }
                });
            }
            ready!(phase.wait.poll(timer, context));
            let late = "the head of the origin's response took too long";
            Poll::Ready(Error::explain(ErrorType::ReadError, late))
        })
        .await
    }

    fn has_no_body(&self) -> bool {
        let length = self.head.headers.get(header::CONTENT_LENGTH);
        let is_zero = length.is_some_and(|length| length.as_bytes() == b"0");
        self.read == 0 && (self.is_read() || is_zero)
    }

    /// Whether the client has sent all.
    fn is_read(&self) -> bool {
        self.body.as_ref().is_none_or(|body| body.stream.is_end_stream())
    }

    /// Sends a head without the fields of a connection of HTTP/1 (RFC 9113 §8.2.2).
    fn send_head(&mut self, mut head: Box<ResponseHeader>, is_end: bool) -> Result<()> {
        if self.has_ended || self.response.is_some() {
            return Ok(());
        }
        for name in [header::TRANSFER_ENCODING, header::CONNECTION, header::UPGRADE] {
            head.remove_header(&name);
        }
        for name in ["keep-alive", "proxy-connection"] {
            head.remove_header(&HeaderName::from_static(name));
        }
        let failed = "while writing the head of a response over HTTP/2";
        if head.status.is_informational() {
            let interim = Response::from_parts(head.as_owned_parts(), ());
            return self.sender.send_informational(interim).or_err(ErrorType::WriteError, failed);
        }
        if !head.headers.contains_key(header::DATE) {
            head.insert_header(header::DATE, get_cached_date())?;
        }
        let whole = Response::from_parts(head.as_owned_parts(), ());
        let writer = self.sender.send_response(whole, is_end);
        self.writer = Some(writer.or_err(ErrorType::WriteError, failed)?);
        self.response = Some(head);
        self.has_ended = is_end;
        Ok(())
    }

    async fn send_body(&mut self, octets: Bytes, is_end: bool) -> Result<()> {
        if self.has_ended {
            return Ok(());
        }
        let (length, limit) = (octets.len(), self.write_timeout);
        let writer = self.writer()?;
        write_body(writer, octets, is_end, limit).await.map_err(Error::into_down)?;
        self.sent += length;
        self.has_ended = is_end;
        Ok(())
    }

    fn writer(&mut self) -> Result<&mut SendStream<Bytes>> {
        let missing = || Error::explain(ErrorType::InternalError, "a body before its head");
        self.writer.as_mut().ok_or_else(missing)
    }

    fn end(&mut self) -> Result<()> {
        if let Some(writer) = self.writer.as_mut().filter(|_| !self.has_ended) {
            let ended = writer.send_data(Bytes::new(), true);
            ended.or_err(ErrorType::WriteError, "while ending a response over HTTP/2")?;
            self.has_ended = true;
        }
        Ok(())
    }
}

impl Body {
    /// The next part, which the client may replace by as many octets. Small parts that are there
    /// already are one part: each costs a write to the origin, and more memory than its octets.
    async fn next(&mut self) -> Option<std::result::Result<Bytes, h2::Error>> {
        let mut part = match self.stream.data().await {
            Some(Ok(part)) => part,
            other => return other,
        };
        if part.len() < PART {
            let mut joined = BytesMut::from(part);
            // An error comes again with the next call.
            while joined.len() < PART
                && let Poll::Ready(Some(Ok(more))) = self.poll_now().await
            {
                joined.extend_from_slice(&more);
            }
            part = joined.freeze();
        }
        // An error means that the stream has ended, and its window with it.
        let _ = self.stream.flow_control().release_capacity(part.len());
        Some(Ok(part))
    }

    async fn poll_now(&mut self) -> Poll<Option<std::result::Result<Bytes, h2::Error>>> {
        poll_fn(|context| Poll::Ready(self.stream.poll_data(context))).await
    }

    async fn drain(mut self) {
        while let Some(Ok(_)) = self.next().await {}
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if self.has_ended
            && !self.is_read()
            && let Some(body) = self.body.take()
        {
            tokio::spawn(timeout(LINGER, body.drain()));
        }
    }
}

#[async_trait]
impl Session for Stream {
    fn req_header(&self) -> &RequestHeader {
        &self.head
    }

    fn req_header_mut(&mut self) -> &mut RequestHeader {
        &mut self.head
    }

    async fn read_body_bytes(&mut self) -> Result<Option<Bytes>> {
        let Some(body) = &mut self.body else { return Ok(None) };
        let data = body.next().await.transpose();
        let data = data.or_err(ErrorType::ReadError, "while reading a body over HTTP/2")?;
        if let Some(octets) = &data {
            self.read += octets.len();
            if let Some(kept) = &mut self.kept {
                kept.write_to_buffer(octets);
            }
        }
        Ok(data)
    }

    async fn drain_request_body(&mut self) -> Result<()> {
        while self.read_body_bytes().await?.is_some() {}
        Ok(())
    }

    async fn write_response_header(&mut self, head: Box<ResponseHeader>, end: bool) -> Result<()> {
        self.send_head(head, end)
    }

    async fn write_response_header_ref(&mut self, head: &ResponseHeader, end: bool) -> Result<()> {
        self.send_head(Box::new(head.clone()), end)
    }

    async fn write_body(&mut self, octets: Bytes, end: bool) -> Result<()> {
        self.send_body(octets, end).await
    }

    async fn write_trailers(&mut self, trailers: HeaderMap) -> Result<()> {
        if !self.has_ended {
            let sent = self.writer()?.send_trailers(trailers);
            sent.or_err(ErrorType::WriteError, "while writing trailers over HTTP/2")?;
            self.has_ended = true;
        }
        Ok(())
    }

    async fn response_duplex_vec(&mut self, tasks: Vec<HttpTask>) -> Result<bool> {
        let mut is_end = false;
        for task in tasks {
            is_end |= match task {
                HttpTask::Header(head, end) => {
                    self.send_head(head, end).map_err(Error::into_down)?;
                    end
                }
                HttpTask::Body(octets, end) => {
                    if let Some(octets) = octets.filter(|octets| !octets.is_empty()) {
                        self.send_body(octets, end).await?;
                    }
                    end
                }
                HttpTask::UpgradedBody(..) => {
                    let error = "an origin switched the protocol of a request over HTTP/2";
                    return Error::e_explain(ErrorType::InternalError, error);
                }
                HttpTask::Trailer(trailers) => {
                    if let Some(trailers) = trailers {
                        self.write_trailers(*trailers).await.map_err(Error::into_down)?;
                    }
                    true
                }
                HttpTask::Done => true,
                HttpTask::Failed(error) => return Err(error),
            };
        }
        if is_end {
            self.end().map_err(Error::into_down)?;
        }
        Ok(is_end)
    }

    // A client's silence is measured for its connection.
    fn set_read_timeout(&mut self, _: Option<Duration>) {}

    fn get_read_timeout(&self) -> Option<Duration> {
        None
    }

    fn set_write_timeout(&mut self, timeout: Option<Duration>) {
        self.write_timeout = timeout;
    }

    fn get_write_timeout(&self) -> Option<Duration> {
        self.write_timeout
    }

    fn set_total_drain_timeout(&mut self, _: Option<Duration>) {}

    fn get_total_drain_timeout(&self) -> Option<Duration> {
        None
    }

    fn request_summary(&self) -> String {
        // pingora logs it; Beadle logs its own words, without foreign octets.
        self.head.method.to_string()
    }

    fn response_written(&self) -> Option<&ResponseHeader> {
        self.response.as_deref()
    }

    async fn shutdown(&mut self, _: u32, _: &str) {
        if !self.has_ended {
            self.sender.send_reset(Reason::INTERNAL_ERROR);
        }
    }

    fn is_body_done(&mut self) -> bool {
        self.has_no_body() || self.is_read()
    }

    async fn finish(&mut self) -> Result<()> {
        self.end()
    }

    fn is_body_empty(&mut self) -> bool {
        self.has_no_body()
    }

    async fn read_body_or_idle(&mut self, no_body_expected: bool) -> Result<Option<Bytes>> {
        if !no_body_expected && !self.is_body_done() {
            return self.read_body_bytes().await;
        }
        Err(self.wait().await)
    }

    fn body_bytes_sent(&self) -> usize {
        self.sent
    }

    fn body_bytes_read(&self) -> usize {
        self.read
    }

    fn digest(&self) -> Option<&Digest> {
        Some(&self.digest)
    }

    fn digest_mut(&mut self) -> Option<&mut Digest> {
        Some(&mut self.digest)
    }

    fn client_addr(&self) -> Option<&SocketAddr> {
        self.digest.socket_digest.as_ref()?.peer_addr()
    }

    fn server_addr(&self) -> Option<&SocketAddr> {
        self.digest.socket_digest.as_ref()?.local_addr()
    }

    fn pseudo_raw_h1_request_header(&self) -> Bytes {
        // For requests inside of pingora, which Beadle does not make.
        Bytes::new()
    }

    fn enable_retry_buffering(&mut self) {
        self.kept.get_or_insert_with(|| FixedBuffer::new(KEPT));
    }

    fn retry_buffer_truncated(&self) -> bool {
        self.kept.as_ref().is_some_and(FixedBuffer::is_truncated)
    }

    fn get_retry_buffer(&self) -> Option<Bytes> {
        self.kept.as_ref().filter(|kept| !kept.is_truncated())?.get_buffer()
    }

    async fn finish_custom(&mut self) -> Result<()> {
        Ok(())
    }

    fn take_custom_message_reader(
        &mut self,
    ) -> Option<Box<dyn Messages<Item = Result<Bytes>> + Unpin + Send + Sync + 'static>> {
        None
    }

    fn restore_custom_message_reader(
        &mut self,
        _: Box<dyn Messages<Item = Result<Bytes>> + Unpin + Send + Sync + 'static>,
    ) -> Result<()> {
        Ok(())
    }

    fn take_custom_message_writer(&mut self) -> Option<Box<dyn CustomMessageWrite>> {
        None
    }

    fn restore_custom_message_writer(&mut self, _: Box<dyn CustomMessageWrite>) -> Result<()> {
        Ok(())
    }
}
