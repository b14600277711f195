//! Errors as text, without the octets of messages.

use pingora::{BError, Error, ErrorType};

/// The text of an error for the log. pingora quotes a head that it can't parse, with its cookies, and
/// octets of a body. An error of such a type is named by its type alone.
pub(super) fn text(error: &Error) -> String {
    let mut link = error;
    loop {
        if may_quote(&link.etype) {
            return format!("{} {}", error.esource.as_str(), link.etype.as_str());
        }
        let cause = link.cause.as_ref().and_then(|cause| cause.downcast_ref::<BError>());
        let Some(cause) = cause else { return error.to_string() };
        link = cause;
    }
}

/// Whether an error of this type may quote a message. Errors of connections name addresses, sizes and
/// times.
const fn may_quote(kind: &ErrorType) -> bool {
    !matches!(
        kind,
        ErrorType::ConnectTimedout
            | ErrorType::ConnectRefused
            | ErrorType::ConnectNoRoute
            | ErrorType::TLSHandshakeFailure
            | ErrorType::TLSHandshakeTimedout
            | ErrorType::InvalidCert
            | ErrorType::HandshakeError
            | ErrorType::ConnectError
            | ErrorType::SocketError
            | ErrorType::ReadError
            | ErrorType::WriteError
            | ErrorType::ReadTimedout
            | ErrorType::WriteTimedout
            | ErrorType::ConnectionClosed
            | ErrorType::HTTPStatus(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_quotes_no_message() {
        let quoting =
            || Error::explain(ErrorType::InvalidHTTPHeader, "buf: Set-Cookie: secret").into_up();
        let reading = |cause| Error::because(ErrorType::ReadError, "while reading", cause);
        for (error, expected) in [
            (quoting(), "Upstream InvalidHTTPHeader"),
            (reading(quoting()), " InvalidHTTPHeader"),
            (reading(reading(quoting())), " InvalidHTTPHeader"),
            (
                Error::explain(ErrorType::ConnectRefused, "192.0.2.1:80").into_up(),
                "Upstream ConnectRefused context: 192.0.2.1:80",
            ),
        ] {
            assert_eq!(text(&error), expected);
        }
    }
}
