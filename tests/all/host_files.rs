//! A robots.txt for each host of a site whose rules are the origin's (RFC 9309 §2.3).

use crate::support::{
    BROWSER,
    client::Request,
    origin::{After, Origin},
    program::{Beadle, Setup},
    wait_for,
};

const GPTBOT: &str = "GPTBot/1.2";

/// The name of a host stands in its file, except where the origin has one file for all others.
fn origin() -> Origin {
    Origin::playing(|exchange| {
        let host = exchange.request.header("host").unwrap_or_default().to_owned();
        match (&*exchange.request.target, host.as_str()) {
            (b"/robots.txt", "gone.site.example") => exchange.answer("404 Not Found", &[], b""),
            (b"/robots.txt", host) => {
                let own = ["site.example", "www.site.example", "blog.site.example"].contains(&host);
                let path = if own { host } else { "site.example" };
                let file = format!("User-agent: *\nDisallow: /{path}/\n");
                exchange.answer("200 OK", &["Content-Type: text/plain"], file.as_bytes());
            }
            _ => exchange.answer("200 OK", &["Content-Type: text/plain"], b"a page"),
        }
        After::Keep
    })
    .compared()
}

fn status(beadle: &Beadle, host: &str, target: &str) -> u16 {
    Request::get(target).host(host).user_agent(GPTBOT).send(beadle.port).status
}

fn file(beadle: &Beadle, host: &str) -> String {
    Request::get("/robots.txt").host(host).user_agent(BROWSER).send(beadle.port).text()
}

#[test]
fn rfc9309_2_3_each_host_has_the_file_that_the_origin_has_for_it() {
    let origin = origin();
    for source in ["origin", "merge"] {
        let site =
            format!("    robots_txt: {{ source: {source} }}\n    enforcement: {{ mode: block }}\n");
        let hosts = "[site.example, www.site.example, \"*.site.example\"]";
        let setup = Setup::site(origin.port, &site).replaced("[site.example]", hosts);
        let beadle = setup.clone().start();
        let closed = |host: &str| format!("Disallow: /{host}/\n");
        for host in ["site.example", "www.site.example"] {
            wait_for("the file", || file(&beadle, host).contains(&closed(host)).then_some(()));
        }
        assert_eq!(status(&beadle, "www.site.example", "/www.site.example/"), 403, "{source}");
        assert_eq!(status(&beadle, "www.site.example", "/site.example/"), 200, "{source}");
        assert_eq!(status(&beadle, "site.example", "/www.site.example/"), 200, "{source}");
        assert_eq!(status(&beadle, "site.example", "/site.example/"), 403, "{source}");
        // The first answer for a host below the wildcard is the wildcard's file.
        for host in ["other.site.example", "gone.site.example"] {
            assert!(file(&beadle, host).contains(&closed("site.example")), "{source}: {host}");
        }
        let blog = "blog.site.example";
        assert!(file(&beadle, blog).contains(&closed("site.example")), "{source}");
        wait_for("the host's own file", || {
            file(&beadle, blog).contains(&closed(blog)).then_some(())
        });
        // The wildcard's file excuses those that may have read it.
        assert_eq!(status(&beadle, blog, "/blog.site.example/"), 200, "{source}");
        assert_eq!(status(&beadle, blog, "/robots.txt"), 200, "{source}");
        assert_eq!(status(&beadle, blog, "/blog.site.example/"), 403, "{source}");
        assert_eq!(status(&beadle, blog, "/site.example/"), 200, "{source}");
        for host in ["other.site.example", "gone.site.example"] {
            assert!(file(&beadle, host).contains(&closed("site.example")), "{source}: {host}");
            assert_eq!(status(&beadle, host, "/site.example/"), 403, "{source}: {host}");
        }
        // It is known at once after a restart, to the verbs, and after a reload.
        wait_for("the period", || {
            let sql = "SELECT host FROM host_periods WHERE until_ IS NULL AND host = site";
            beadle.rows(sql).contains(&blog.to_owned()).then_some(())
        });
        let beadle = beadle.restarted_as("TERM", setup.clone());
        assert!(file(&beadle, blog).contains(&closed(blog)), "{source}");
        beadle.reload(&setup.clone().replaced("mode: block }", "mode: block } # again"));
        assert!(file(&beadle, blog).contains(&closed(blog)), "{source}");
        let url = "https://blog.site.example/blog.site.example/x";
        let text = beadle.verb(&["explain", "--user-agent", GPTBOT, url]);
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        assert!(text.contains("Disallow: /blog.site.example/"), "{source}: {text}");
        for (arguments, host) in
            [(&["robots"][..], "site.example"), (&["robots", "--site", blog], blog)]
        {
            let printed = beadle.verb(arguments);
            let printed = String::from_utf8_lossy(&printed.stdout).into_owned();
            assert!(printed.contains(&closed(host)), "{source}: {printed}");
        }
        let records = beadle.verb(&["violations", "--site", blog, "--format", "json"]);
        let records = String::from_utf8_lossy(&records.stdout).into_owned();
        assert!(records.contains("/blog.site.example/"), "{source}: {records}");
    }
}
