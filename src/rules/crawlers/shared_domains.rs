//! Domains that many owners share: a name below them does not identify an operator.

/// Domains in which a provider names the machines of its customers.
const CUSTOMER_DOMAINS: &str = "
    .1e100.net .akamaitechnologies.com .aliyuncs.com .amazonaws.com .azurewebsites.net
    .bc.googleusercontent.com .cloudapp.azure.com .cloudapp.net .cloudfront.net
    .colocrossing.com .contabo.net .contaboserver.net .digitalocean.com .fastly.net
    .githubusercontent.com .herokuapp.com .hetzner.com .hinet.net .hwclouds-dns.com .kimsufi.com
    .leaseweb.com .leaseweb.net .linode.com .linodeusercontent.com .on.aws .online.net
    .oraclecloud.com .oraclevcn.com .ovh.ca .ovh.net .ovh.us .poneytelecom.eu .rdns.cloud
    .scaleway.com .scw.cloud .secureserver.net .startdedicated.com .upcloud.host .vultr.com
    .vultrusercontent.com .workers.dev .your-server.de .yourvserver.net
";

/// First labels of the two below which registries of countries sell names: `.co.uk`.
const SECOND_LEVELS: [&str; 22] = [
    "ac", "asso", "biz", "co", "com", "edu", "go", "gob", "gouv", "gov", "gr", "gv", "info", "ltd",
    "mil", "ne", "net", "nom", "or", "org", "plc", "sch",
];

/// Whether many owners have names under a suffix: a registry sells them, or a provider names the
/// machines of its customers.
pub fn is_shared(suffix: &str) -> bool {
    let is_suffix = suffix.strip_prefix('.').is_some_and(|name| name.split('.').all(is_label));
    is_suffix && !is_of_one_operator(suffix)
}

/// Whether a suffix is a domain, or below a domain, that one operator has registered for its own
/// machines. A suffix that contains a customer domain, or is below one, is not.
pub(super) fn is_of_one_operator(suffix: &str) -> bool {
    let suffix = suffix.to_ascii_lowercase();
    let Some(name) = suffix.strip_prefix('.') else { return false };
    let labels: Vec<&str> = name.split('.').collect();
    let is_registered = match labels.as_slice() {
        [] | [_] => false,
        [second, top] => top.len() > 2 || !SECOND_LEVELS.contains(second),
        _ => true,
    };
    let is_shared = CUSTOMER_DOMAINS
        .split_whitespace()
        .any(|shared| shared.ends_with(&suffix) || suffix.ends_with(shared));
    labels.iter().all(|label| is_label(label)) && is_registered && !is_shared
}

fn is_label(label: &str) -> bool {
    !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suffix_belongs_to_one_operator() {
        for (suffix, expected) in [
            (".googlebot.com", true),
            (".search.msn.com", true),
            (".gae.googleusercontent.com", true),
            (".crawl.amazonbot.amazon", true),
            (".bbc.co.uk", true),
            ("googlebot.com", false),
            (".", false),
            ("", false),
            (".com", false),
            (".co.uk", false),
            (".com.br", false),
            (".gob.mx", false),
            (".compute.amazonaws.com", false),
            (".info.com", true),
            (".amazonaws.com", false),
            (".eu-west-1.compute.amazonaws.com", false),
            (".googleusercontent.com", false),
            (".bc.googleusercontent.com", false),
            (".1E100.net", false),
            (".your-server.de", false),
            ("..com", false),
            (".a b.com", false),
        ] {
            assert_eq!(is_of_one_operator(suffix), expected, "{suffix}");
            assert!(!(expected && is_shared(suffix)), "{suffix}");
        }
    }

    #[test]
    fn a_shared_suffix_is_a_suffix() {
        for (suffix, expected) in [
            (".com", true),
            (".co.uk", true),
            (".CO.UK", true),
            (".compute.amazonaws.com", true),
            (".bots.example.com", false),
            ("com", false),
            (".com.", false),
            (".", false),
        ] {
            assert_eq!(is_shared(suffix), expected, "{suffix}");
        }
    }
}
