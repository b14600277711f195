//! The manifests of `examples/kubernetes`: whole, valid, and of one piece with their policies.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    page::root,
    support::{conditions::skip, program::PROGRAM},
};

/// The oldest Kubernetes that knows everything in the manifests.
const OLDEST: &str = "1.30";

fn folder() -> PathBuf {
    root().join("examples/kubernetes")
}

/// The documents of a YAML file.
fn documents(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let parts = text.split("\n---\n");
    let value = |part| {
        serde_yaml::from_str(part).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    };
    parts.map(value).collect()
}

/// The one document of a kind in a file.
fn the(file: &str, kind: &str) -> Value {
    let mut found = documents(&folder().join(file));
    found.retain(|document| document["kind"] == kind);
    assert_eq!(found.len(), 1, "{kind} in {file}");
    found.remove(0)
}

/// The texts of a list.
fn texts(list: &Value) -> Vec<String> {
    let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect()
}

/// Every file below a folder.
fn files(folder: &Path) -> BTreeSet<PathBuf> {
    let mut files = BTreeSet::new();
    for entry in std::fs::read_dir(folder).expect("the folder is part of the project") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            files.insert(path);
        }
    }
    files
}

/// What a kustomization names: resources, patches and files of ConfigMaps.
#[derive(Default)]
struct Named {
    resources: Vec<PathBuf>,
    patches: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

fn named(kustomization: &Path) -> Named {
    let all = documents(kustomization);
    assert_eq!((all.len(), &all[0]["kind"]), (1, &"Kustomization".into()));
    let folder = kustomization.parent().expect("a folder");
    let mut named = Named::default();
    let resources = texts(&all[0]["resources"]).into_iter().map(|name| folder.join(name));
    // A folder has a kustomization of its own.
    named.resources.extend(resources.filter(|path| !path.is_dir()));
    let list = |key: &str| all[0][key].as_array().cloned().unwrap_or_default();
    let paths =
        list("patches").into_iter().filter_map(|one| Some(one["path"].as_str()?.to_owned()));
    named.patches.extend(paths.map(|name| folder.join(name)));
    let maps = list("configMapGenerator");
    named.files.extend(maps.iter().flat_map(|map| texts(&map["files"])).map(|f| folder.join(f)));
    named
}

fn kustomizations() -> Vec<PathBuf> {
    let all = files(&folder()).into_iter();
    all.filter(|file| file.ends_with("kustomization.yaml")).collect()
}

#[test]
fn every_manifest_is_named_and_every_name_leads_to_a_manifest() {
    let mut reached: BTreeSet<PathBuf> = kustomizations().into_iter().collect();
    assert_eq!(reached.len(), 4);
    for kustomization in kustomizations() {
        let Named { resources, patches, files } = named(&kustomization);
        for manifest in resources.iter().chain(&patches) {
            for document in documents(manifest) {
                for key in ["/apiVersion", "/kind", "/metadata/name"] {
                    let value = document.pointer(key).and_then(Value::as_str);
                    assert!(value.is_some(), "{key} in {}", manifest.display());
                }
            }
        }
        assert!(files.iter().all(|file| file.is_file()), "{files:?}");
        reached.extend(resources.into_iter().chain(patches).chain(files));
    }
    assert_eq!(reached, files(&folder()));
}

#[test]
fn kubernetes_accepts_every_manifest() {
    let validate =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("../servers/bin/kubernetes-validate");
    if !validate.is_file() {
        skip("kubernetes-validate is not installed (see .ci/run)");
        return;
    }
    let is_valid = |file: &Path| {
        let arguments = ["--strict", "--quiet", "--no-warn", "-k", OLDEST];
        let output = Command::new(&validate).args(arguments).arg(file).output();
        let output = output.expect("it can be started");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success(), text)
    };
    let all: Vec<PathBuf> = kustomizations().iter().flat_map(|one| named(one).resources).collect();
    // Of a resource of somebody else's, the form is checked below.
    let all = all.iter().filter(|file| !file.ends_with("service-monitor.yaml"));
    let mut count = 0;
    for file in all {
        count += documents(file).len();
        let (is_valid, text) = is_valid(file);
        assert!(is_valid, "{}: {text}", file.display());
    }
    assert_eq!(count, 9);
    // The check can fail.
    let broken = tempfile::tempdir().expect("a temporary folder");
    let file = broken.path().join("deployment.yaml");
    let text = std::fs::read_to_string(folder().join("base/deployment.yaml")).expect("readable");
    std::fs::write(&file, text.replace("readinessProbe:", "readynessProbe:")).expect("it is ours");
    assert!(!is_valid(&file).0);
}

#[test]
fn the_policies_of_the_config_maps_pass_check_and_their_tests() {
    let policies: Vec<PathBuf> = kustomizations().iter().flat_map(|one| named(one).files).collect();
    assert_eq!(policies.len(), 2);
    for policy in policies {
        for verb in ["check", "test"] {
            let output = Command::new(PROGRAM).arg(verb).arg(&policy).output();
            let output = output.expect("the program can be started");
            let text = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(0), "{verb} {}:\n{text}", policy.display());
        }
    }
}

/// The port of an address such as `0.0.0.0:8080`.
fn port(address: &Value) -> Option<u64> {
    address.as_str()?.rsplit_once(':')?.1.parse().ok()
}

#[test]
fn the_deployment_fits_its_policy() {
    let deployment = the("base/deployment.yaml", "Deployment");
    let policy = the_policy("base/beadle.yaml");
    let pod = &deployment["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    let ports = container["ports"].as_array().expect("ports");
    let of = |name: &str| {
        ports
            .iter()
            .find(|port| port["name"] == name)
            .and_then(|port| port["containerPort"].as_u64())
    };
    assert_eq!(of("http"), port(&policy["server"]["listen"][0]));
    assert_eq!(of("admin"), port(&policy["server"]["admin"]["address"]));
    // preStop, the drain and the last records end before the kubelet loses its patience.
    let sleep = container["lifecycle"]["preStop"]["sleep"]["seconds"].as_u64().expect("seconds");
    let drain = policy["server"]["timeouts"]["drain"].as_str().expect("a time");
    let drain: u64 = drain.trim_end_matches('s').parse().expect("seconds");
    let patience = pod["terminationGracePeriodSeconds"].as_u64().expect("seconds");
    assert!(sleep + drain + 5 <= patience, "{sleep} + {drain} + 5 > {patience}");
    for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
        let get = &container[probe]["httpGet"];
        assert_eq!(get["port"], "admin", "{probe}");
        assert!(["/readyz", "/healthz"].contains(&get["path"].as_str().unwrap_or_default()));
    }
    let security = &container["securityContext"];
    assert_eq!(security["readOnlyRootFilesystem"], true);
    assert_eq!(security["allowPrivilegeEscalation"], false);
    assert_eq!(pod["securityContext"]["runAsNonRoot"], true);
    // The files that the policy names are where a volume is.
    let mounts = container["volumeMounts"].as_array().expect("mounts");
    let is_mounted = |file: &Value, is_read_only: bool| {
        let file = Path::new(file.as_str().expect("a file")).parent().expect("a folder");
        mounts.iter().any(|mount| {
            Path::new(mount["mountPath"].as_str().unwrap_or_default()) == file
                && (mount["readOnly"] == true) == is_read_only
        })
    };
    assert!(is_mounted(&policy["server"]["admin"]["token_file"], true));
    assert!(is_mounted(&policy["violations"]["database"], false));
    assert!(is_mounted(&container["env"][0]["value"], true));
    // A file that is mounted by itself never changes.
    assert!(mounts.iter().all(|mount| mount["subPath"].is_null()));
}

fn the_policy(file: &str) -> Value {
    documents(&folder().join(file)).remove(0)
}

#[test]
fn services_and_monitors_select_the_pods() {
    let deployment = the("base/deployment.yaml", "Deployment");
    let labels = &deployment["spec"]["template"]["metadata"]["labels"];
    let has = |labels: &Value, selector: &Value| {
        let selector = selector.as_object().expect("labels");
        !selector.is_empty() && selector.iter().all(|(key, value)| labels[key] == *value)
    };
    assert!(has(labels, &deployment["spec"]["selector"]["matchLabels"]));
    let services = documents(&folder().join("base/service.yaml"));
    for service in &services {
        assert!(has(labels, &service["spec"]["selector"]), "{service}");
    }
    for (file, kind, selector) in [
        ("base/disruption-budget.yaml", "PodDisruptionBudget", "/spec/selector/matchLabels"),
        ("base/network-policy.yaml", "NetworkPolicy", "/spec/podSelector/matchLabels"),
    ] {
        assert!(has(labels, the(file, kind).pointer(selector).expect("a selector")), "{file}");
    }
    let scaled = &the("base/autoscaler.yaml", "HorizontalPodAutoscaler")["spec"]["scaleTargetRef"];
    assert_eq!(scaled["name"], deployment["metadata"]["name"]);
    // The Prometheus Operator's kind is no part of Kubernetes.
    let monitor = the("monitoring/service-monitor.yaml", "ServiceMonitor");
    assert_eq!(monitor["apiVersion"], "monitoring.coreos.com/v1");
    let selected: Vec<&Value> = services
        .iter()
        .filter(|one| has(&one["metadata"]["labels"], &monitor["spec"]["selector"]["matchLabels"]))
        .collect();
    assert_eq!(selected.len(), 1, "one Service, or each pod is scraped twice");
    let endpoint = &monitor["spec"]["endpoints"][0];
    assert_eq!(endpoint["port"], selected[0]["spec"]["ports"][0]["name"]);
    assert_eq!(endpoint["path"], "/metrics");
    let credentials = &endpoint["authorization"]["credentials"];
    let secret = &deployment["spec"]["template"]["spec"]["volumes"][1]["secret"];
    assert_eq!(credentials["name"], secret["secretName"]);
    let policy = the_policy("base/beadle.yaml");
    let token = policy["server"]["admin"]["token_file"].as_str().expect("a file");
    assert_eq!(credentials["key"].as_str(), Path::new(token).file_name().and_then(|n| n.to_str()));
}

#[test]
fn the_ingress_asks_with_the_fields_that_beadle_needs() {
    let folder = "forward-authorization";
    let ingress = the(&format!("{folder}/site/ingress.yaml"), "Ingress");
    let map = the(&format!("{folder}/site/ingress.yaml"), "ConfigMap");
    let annotation = |name: &str| {
        let key = format!("nginx.ingress.kubernetes.io/{name}");
        ingress["metadata"]["annotations"][key].as_str().expect("an annotation").to_owned()
    };
    let policy = the_policy(&format!("{folder}/beadle.yaml"));
    let asked = port(&policy["server"]["decide"]["address"]).expect("a port");
    let service = the(&format!("{folder}/service.yaml"), "Service");
    let ports = service["spec"]["ports"].as_array().expect("ports");
    assert!(ports.iter().any(|port| port["port"] == asked && port["targetPort"] == "decide"));
    assert_eq!(annotation("auth-url"), format!("http://beadle.beadle.svc.cluster.local:{asked}/"));
    // nginx knows no other refusal.
    assert_eq!(policy["server"]["decide"]["refuse_status"], 403);
    let site = the_folder_namespace(&format!("{folder}/site"));
    let name = map["metadata"]["name"].as_str().expect("a name");
    assert_eq!(annotation("auth-proxy-set-headers"), format!("{site}/{name}"));
    let fields = [("Method", "$request_method"), ("Host", "$host"), ("Uri", "$request_uri")];
    for (field, value) in fields {
        assert_eq!(map["data"][format!("X-Forwarded-{field}")], value);
    }
    let robots = the(&format!("{folder}/robots-ingress.yaml"), "Ingress");
    assert!(robots["metadata"]["annotations"].is_null(), "robots.txt is never refused");
    let path = &robots["spec"]["rules"][0]["http"]["paths"][0];
    assert_eq!((&path["path"], &path["pathType"]), (&"/robots.txt".into(), &"Exact".into()));
    assert_eq!(robots["spec"]["rules"][0]["host"], ingress["spec"]["rules"][0]["host"]);
}

/// The namespace of a kustomization.
fn the_folder_namespace(folder: &str) -> String {
    let all = documents(&self::folder().join(folder).join("kustomization.yaml"));
    all[0]["namespace"].as_str().expect("a namespace").to_owned()
}
