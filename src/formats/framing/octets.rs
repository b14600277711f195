//! Classes of octets in a message head.
//!
//! A client may send octets that no URI has (RFC 3986). Most of them pass percent-encoded.

const TOKEN: u8 = 1;
const VALUE: u8 = 1 << 1;
const TARGET: u8 = 1 << 2;
const ENCODED: u8 = 1 << 3;

static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut octet = 0;
    while octet < 256 {
        classes[octet] = class(octet as u8);
        octet += 1;
    }
    classes
}

const fn class(octet: u8) -> u8 {
    // RFC 9110 §5.6.2
    let token = octet.is_ascii_alphanumeric()
        || matches!(octet, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'^'..=b'`' | b'|' | b'~');
    // RFC 9110 §5.5, with the white space between and around
    let value = matches!(octet, b'\t' | b' '..=b'~' | 0x80..);
    let encoded = matches!(TargetOctet::of(octet), TargetOctet::Encoded);
    let target = matches!(TargetOctet::of(octet), TargetOctet::Unchanged);
    (token as u8) * TOKEN
        + (value as u8) * VALUE
        + (target as u8) * TARGET
        + (encoded as u8) * ENCODED
}

fn is(octet: u8, class: u8) -> bool {
    CLASSES[usize::from(octet)] & class != 0
}

/// Whether an octet can be in a method or a field name.
pub(super) fn is_token(octet: u8) -> bool {
    is(octet, TOKEN)
}

/// Whether an octet can be in a field value or a chunk extension: no control octet but the tab.
pub(super) fn is_value(octet: u8) -> bool {
    is(octet, VALUE)
}

pub(super) fn is_target(octet: u8) -> bool {
    is(octet, TARGET)
}

pub(super) fn is_encoded(octet: u8) -> bool {
    is(octet, ENCODED)
}

/// The number of octets at the start of `bytes` that are of a class.
pub(super) fn run(bytes: &[u8], class: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|&octet| !class(octet)).unwrap_or(bytes.len())
}

/// [`run`] for [`is_value`], which most octets of a head are. Sixteen at a time take few
/// instructions.
pub(super) fn value_run(bytes: &[u8]) -> usize {
    let blocks = bytes.chunks_exact(16);
    // No branch for each octet, so that the compiler compares them together.
    let is_plain = |block: &&[u8]| {
        block.iter().fold(true, |all, &octet| all & (octet >= b' ') & (octet != 0x7f))
    };
    let whole = 16 * blocks.take_while(is_plain).count();
    whole + run(bytes.get(whole..).unwrap_or_default(), is_value)
}

/// The way of one octet of a target through an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TargetOctet {
    Unchanged,
    /// It passes percent-encoded: it is in no URI (RFC 3986).
    Encoded,
    /// No request line has it: a control character.
    Refused,
}

impl TargetOctet {
    pub(crate) const fn of(octet: u8) -> Self {
        match octet {
            b' ' | b'"' | b'<' | b'>' | b'`' | 0x80.. => Self::Encoded,
            // `\ ^ { | }` are in no URI either. Parsers take them, so they stay as written.
            b'!'..=b'~' => Self::Unchanged,
            _ => Self::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc9110_5_6_2_tokens() {
        let all: Vec<u8> = (0..=255).filter(|&octet| is_token(octet)).collect();
        let expected =
            b"!#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~";
        assert_eq!(all, expected);
    }

    #[test]
    fn a_run_of_value_octets_ends_where_each_octet_says() {
        for length in [0, 1, 15, 16, 17, 40] {
            for place in 0..length {
                for octet in 0..=255 {
                    let mut bytes = vec![b'v'; length];
                    bytes[place] = octet;
                    assert_eq!(value_run(&bytes), run(&bytes, is_value), "{octet:#x} at {place}");
                }
            }
        }
    }

    #[test]
    fn an_octet_of_a_target_passes_or_is_encoded_or_is_refused() {
        for octet in 0..=255 {
            let is_control = octet < b' ' || octet == 0x7f;
            assert_eq!(!is_control, is_target(octet) ^ is_encoded(octet), "{octet:#x}");
        }
        assert!(b"!$&'()*+,;=:@/?#[]-._~%\\^{|}".iter().all(|&octet| is_target(octet)));
    }
}
