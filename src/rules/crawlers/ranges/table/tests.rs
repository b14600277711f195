//! Lookups in small tables, and in generated ones against a scan.

use std::fmt::Write;

use proptest::prelude::*;

use super::{super::format::read, *};

fn list(text: &str) -> List {
    read(None, text.as_bytes()).expect("a valid list")
}

fn address(text: &str) -> IpAddr {
    text.parse().expect("a valid address")
}

#[test]
fn every_list_that_contains_an_address_counts() {
    let lists = [
        list("8.8.0.0/16\n2a02:6b8::/32"),
        list("8.8.8.0/24\n8.8.9.0/24\n8.8.10.0/25"),
        list("8.8.8.8\n2a02:6b8::/64\n2a02:6b8::1:0:0:1"),
    ];
    let table = Table::new((0..).map(ListId).zip(&lists));
    for (probe, expected) in [
        ("8.8.8.8", &[0, 1, 2][..]),
        ("::ffff:8.8.8.8", &[0, 1, 2]),
        ("8.8.8.9", &[0, 1]),
        ("8.8.10.127", &[0, 1]),
        ("8.8.10.128", &[0]),
        ("8.7.255.255", &[]),
        ("8.8.0.0", &[0]),
        ("8.8.255.255", &[0]),
        ("8.9.0.0", &[]),
        ("0.0.0.0", &[]),
        ("255.255.255.255", &[]),
        ("2a02:6b8::", &[0, 2]),
        ("2a02:6b8::1", &[0, 2]),
        ("2a02:6b8:0:0:ffff:ffff:ffff:ffff", &[0, 2]),
        ("2a02:6b8:0:1::", &[0]),
        ("2a02:6b8::1:0:0:1", &[0, 2]),
        ("2a02:6b9::", &[]),
        ("::", &[]),
        ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", &[]),
    ] {
        let holders: Vec<u32> = table.lookup(address(probe)).iter().map(|id| id.0).collect();
        assert_eq!(holders, expected, "{probe}");
    }
    assert!(Table::default().lookup(address("8.8.8.8")).is_empty());
    assert!(Table::new([]).lookup(address("8.8.8.8")).is_empty());
}

#[test]
fn a_list_decides_only_about_its_own_families() {
    use Membership::{Listed, Undecided, Unlisted};
    let lists = [list("8.8.8.0/24"), list("2a02:6b8::/32"), list("9.9.9.9\n2a02:6b8::1")];
    let table = Table::new((0..).map(ListId).zip(&lists));
    let (v4, v6, both, missing) = (ListId(0), ListId(1), ListId(2), ListId(7));
    for (probe, of, expected) in [
        ("8.8.8.8", &[v4][..], Listed),
        ("8.8.9.8", &[v4], Unlisted),
        ("::ffff:8.8.9.8", &[v4], Unlisted),
        ("2a02:6b8::1", &[v4], Undecided),
        ("8.8.8.8", &[v6], Undecided),
        ("2a02:6b9::1", &[v6], Unlisted),
        // One operator with a list for each family.
        ("8.8.9.8", &[v4, v6], Unlisted),
        ("2a02:6b9::1", &[v6, v4], Unlisted),
        ("9.9.9.9", &[v4, both], Listed),
        ("8.8.9.8", &[v4, both], Unlisted),
        // A list that was never fetched might contain it.
        ("8.8.8.8", &[missing, v4], Listed),
        ("8.8.9.8", &[v4, missing], Undecided),
        ("8.8.8.8", &[], Undecided),
    ] {
        assert_eq!(table.membership(of, address(probe)), expected, "{probe} {of:?}");
    }
    assert_eq!(table.families(v4), Some(Families { v4: true, v6: false }));
    assert_eq!(table.families(missing), None);
}

#[test]
fn lists_with_one_number_count_as_one() {
    let (one, two) = (list("8.8.8.0/24"), list("8.8.8.8\n9.9.9.9\n2a02:6b8::1"));
    let table = Table::new([(ListId(3), &one), (ListId(3), &two)]);
    for probe in ["8.8.8.8", "8.8.8.9", "9.9.9.9", "2a02:6b8::1"] {
        assert_eq!(table.lookup(address(probe)), [ListId(3)], "{probe}");
    }
    assert_eq!(table.families(ListId(3)), Some(Families { v4: true, v6: true }));
}

/// Prefixes close to each other, so that many overlap and touch, in both families.
fn prefix() -> impl Strategy<Value = String> {
    let near = prop_oneof![Just(0_u32), Just(0xff), any::<u32>()];
    let v4 = (near.clone(), 20..=32_u8)
        .prop_map(|(bits, length)| format!("8.8.{}.{}/{length}", bits >> 8 & 0xff, bits & 0xff));
    let v6 = (0..4_u16, near, prop_oneof![32..=64_u8, 120..=128_u8]).prop_map(
        |(network, bits, length)| format!("2a02:6b8:0:{network:x}::{:x}/{length}", bits & 0x1ff),
    );
    prop_oneof![v4, v6]
}

proptest! {
    #[test]
    fn a_lookup_equals_a_scan_of_all_prefixes(
        texts in prop::collection::vec(prop::collection::vec(prefix(), 1..20), 1..8),
    ) {
        let lists: Vec<List> = texts.iter().map(|lines| list(&lines.join("\n"))).collect();
        let table = Table::new((0..).map(ListId).zip(&lists));
        let parsed = |lines: &Vec<String>| -> Vec<ipnet::IpNet> {
            lines.iter().map(|text| text.parse().expect("a valid prefix")).collect()
        };
        let prefixes: Vec<Vec<ipnet::IpNet>> = texts.iter().map(parsed).collect();
        let near = |address: IpAddr| match address {
            IpAddr::V4(one) => {
                let bits = u32::from(one);
                [bits - 1, bits, bits + 1].map(|bits| IpAddr::V4(bits.into()))
            }
            IpAddr::V6(one) => {
                let bits = u128::from(one);
                [bits - 1, bits, bits + 1].map(|bits| IpAddr::V6(bits.into()))
            }
        };
        for prefix in prefixes.iter().flatten() {
            for probe in [prefix.network(), prefix.addr(), prefix.broadcast()] {
                for probe in near(probe) {
                    let scanned: Vec<ListId> = (0..)
                        .map(ListId)
                        .zip(&prefixes)
                        .filter(|(_, list)| list.iter().any(|one| one.contains(&probe)))
                        .map(|(id, _)| id)
                        .collect();
                    prop_assert_eq!(table.lookup(probe), scanned, "{}", probe);
                }
            }
        }
    }

    #[test]
    fn a_written_list_reads_back_equal(lines in prop::collection::vec(prefix(), 1..50)) {
        let read_first = list(&lines.join("\n"));
        let mut text = String::from("# kept\n");
        write!(text, "{read_first}").expect("a String accepts every write");
        prop_assert_eq!(list(&text), read_first);
    }

    #[test]
    fn any_text_is_read_or_refused(
        octets in prop::collection::vec(any::<u8>(), 0..200),
        text in "[<>/a-z!&;\"'\\{\\}\\[\\]:,.0-9# \n-]{0,200}",
    ) {
        use super::super::format::Format;
        for format in [None, Some(Format::Json), Some(Format::Rows), Some(Format::Html)] {
            for octets in [&octets[..], text.as_bytes()] {
                if let Err(refusal) = read(format, octets) {
                    prop_assert!(refusal.code.starts_with("ranges."));
                }
            }
        }
    }
}
