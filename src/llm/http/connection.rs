//! One HTTP exchange: bytes out, status and bytes in, every failure named. The only file that names the client.

use std::sync::Arc;
use std::time::Duration;

use ureq::http::{HeaderMap, Uri};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Error as HttpError, Proxy};

use super::deadline::{GivenUp, within};
use crate::ground::env::Env;
use crate::ground::error::{Error, Result};
use crate::ground::files;
use crate::ground::signals::Cancel;
use crate::llm::failure::{Failure, Why};
use crate::llm::spec::Endpoint;

/// The most bytes of a reply; no chat model writes as much.
const MOST_BYTES: u64 = 8 << 20;

/// Connections that are kept open for the next call.
const KEPT: usize = 128;

/// A server, its connections kept open between calls.
#[derive(Debug)]
pub(super) struct Connection {
    agent: Agent,
    url: String,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Raw {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl Connection {
    /// Connects nothing yet. `time` ends an exchange, `connect` the making of a connection. Kind `Usage` for a
    /// proxy or a file of certificates (`SSL_CERT_FILE`) that cannot be used.
    pub(super) fn new(endpoint: &Endpoint, env: &Env, time: Duration, connect: Duration) -> Result<Connection> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // A redirect would carry the key elsewhere, or turn the question into none.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(proxy(endpoint, env)?)
            .tls_config(TlsConfig::builder().root_certs(roots(env)?).build())
            .timeout_global(Some(time))
            .timeout_connect(Some(connect.min(time)))
            .max_idle_connections(KEPT)
            .max_idle_connections_per_host(KEPT)
            .user_agent(concat!("skilltrain/", env!("CARGO_PKG_VERSION")))
            .build();
        Ok(Connection { agent: config.new_agent(), url: endpoint.url.clone() })
    }

    /// Sends a body of JSON and reads the whole reply, within `time`.
    pub(super) fn post(
        &self,
        headers: &[(&'static str, String)],
        body: Vec<u8>,
        time: Duration,
        cancel: &Cancel,
    ) -> Result<Raw, Failure> {
        let mut request = self.agent.post(&self.url).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let work = move || exchange(request, &body);
        match within(time, cancel, work) {
            Ok(result) => result,
            Err(GivenUp::TimedOut) => Err(timeout(time)),
            Err(GivenUp::Cancelled) => Err(Failure::cancelled().lost()),
            Err(GivenUp::NoThread) => Err(Failure::new(Why::Outage, "cannot start a thread for the call")),
            Err(GivenUp::Died) => Err(Failure::new(Why::Malformed, "the reply broke the HTTP client").lost()),
        }
    }
}

fn timeout(time: Duration) -> Failure {
    Failure::new(Why::Timeout, format!("no whole reply within {} s", time.as_secs_f64())).lost()
}

fn exchange(request: ureq::RequestBuilder<ureq::typestate::WithBody>, body: &[u8]) -> Result<Raw, Failure> {
    let response = request.send(body).map_err(|error| failure(error, false))?;
    let (parts, body) = response.into_parts();
    let body = body.into_with_config().limit(MOST_BYTES).read_to_vec().map_err(|error| failure(error, true))?;
    Ok(Raw { status: parts.status.as_u16(), headers: parts.headers, body })
}

/// What a client's error means; `begun` tells that a reply had begun.
fn failure(error: HttpError, begun: bool) -> Failure {
    use std::io::ErrorKind;
    let what = if begun { "the reply broke off" } else { "no reply" };
    let lost = |why, error: &HttpError| Failure::new(why, format!("{what}: {error}")).lost();
    let unsent = |why, text: String| Failure::new(why, text);
    match &error {
        HttpError::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => {
            unsent(Why::Timeout, "no connection within the time for it".to_owned())
        }
        HttpError::Timeout(_) => lost(Why::Timeout, &error),
        HttpError::Io(io) if io.kind() == ErrorKind::ConnectionRefused => {
            unsent(Why::Outage, "the connection was refused: nothing listens there".to_owned())
        }
        HttpError::Io(io) if matches!(io.kind(), ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable) => {
            unsent(Why::Outage, format!("no connection: {io}"))
        }
        HttpError::HostNotFound => unsent(Why::Outage, "the host's name is not known".to_owned()),
        HttpError::ConnectionFailed | HttpError::ConnectProxyFailed(_) => {
            unsent(Why::Outage, format!("no connection: {error}"))
        }
        // What the encryption says arrives as an I/O error: a certificate that nobody vouches for, or no encryption.
        HttpError::Io(io) if io.kind() == ErrorKind::InvalidData && !begun => {
            unsent(Why::Rejected, format!("no trusted connection: {io}"))
                .hint("check the base URL's scheme, or set SSL_CERT_FILE to the certificates to trust")
        }
        HttpError::Rustls(_) | HttpError::Tls(_) | HttpError::TlsRequired => {
            unsent(Why::Rejected, format!("no trusted connection: {error}"))
        }
        HttpError::BadUri(_) | HttpError::Http(_) | HttpError::InvalidProxyUrl => {
            unsent(Why::Rejected, format!("the request cannot be sent: {error}"))
        }
        HttpError::Protocol(_) | HttpError::BodyExceedsLimit(_) | HttpError::LargeResponseHeader(..) => {
            lost(Why::Malformed, &error)
        }
        _ => lost(Why::Outage, &error),
    }
}

/// The proxy for an endpoint: never one for this machine, else what the usual variables name.
fn proxy(endpoint: &Endpoint, env: &Env) -> Result<Option<Proxy>> {
    if endpoint.is_loopback || bypassed(&endpoint.host, env) {
        return Ok(None);
    }
    let names: &[&str] = if endpoint.is_tls { &["https_proxy", "HTTPS_PROXY"] } else { &["http_proxy"] };
    let found = names.iter().chain(&["all_proxy", "ALL_PROXY"]).find_map(|name| env.get(name).map(|url| (name, url)));
    let Some((name, url)) = found else {
        return Ok(None);
    };
    // The URL may hold a password, so it is not shown.
    let proxy =
        Proxy::new(url).map_err(|error| Error::usage(format!("{name} is no proxy that can be used: {error}")))?;
    Ok(Some(proxy))
}

/// Whether `NO_PROXY` names a host: itself, a domain above it, or `*`.
fn bypassed(host: &str, env: &Env) -> bool {
    let list = env.get("no_proxy").or_else(|| env.get("NO_PROXY")).unwrap_or_default();
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
        let entry = entry.trim_start_matches('*').trim_start_matches('.').to_ascii_lowercase();
        entry.is_empty() || host == entry || host.strip_suffix(&entry).is_some_and(|rest| rest.ends_with('.'))
    })
}

/// The certificates to trust: those of `SSL_CERT_FILE`, else Mozilla's, which are built in.
fn roots(env: &Env) -> Result<RootCerts> {
    let Some(path) = env.get_os("SSL_CERT_FILE") else {
        return Ok(RootCerts::WebPki);
    };
    let wrong = |error: Error| error.context("SSL_CERT_FILE").with_kind(crate::ground::error::Kind::Usage);
    let pem = files::read(std::path::Path::new(path)).map_err(wrong)?;
    let certificates: Vec<_> = parse_pem(&pem)
        .filter_map(|item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        })
        .collect();
    if certificates.is_empty() {
        return Err(wrong(Error::usage("the file holds no certificate")));
    }
    Ok(RootCerts::Specific(Arc::new(certificates)))
}

/// Whether a URL can be parsed by the client at all; [`Endpoint`] has checked the rest.
pub(super) fn is_sendable(url: &str) -> bool {
    url.parse::<Uri>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::spec::Spec;

    fn used(name: &str, variables: &[(&str, &str)]) -> Option<String> {
        let env = Env::of("skilltrain", variables.iter().copied());
        let endpoint = Spec::parse(name).unwrap().unwrap().endpoint(&env).unwrap();
        proxy(&endpoint, &env).unwrap().map(|proxy| proxy.uri().to_string())
    }

    #[test]
    fn proxies_come_from_our_environment_and_not_for_this_machine() {
        let set = [("HTTPS_PROXY", "http://p:1"), ("http_proxy", "http://q:2"), ("NO_PROXY", "in.example, .corp")];
        assert_eq!(used("openai:m", &set).as_deref(), Some("http://p:1/"));
        assert_eq!(used("openai:m@http://far.example/v1", &set).as_deref(), Some("http://q:2/"));
        for host in ["127.0.0.1", "[::1]", "localhost", "in.example", "a.in.example", "x.corp"] {
            assert_eq!(used(&format!("openai:m@http://{host}/v1"), &set), None, "{host}");
        }
        assert!(used("openai:m@http://notin.example/v1", &set).is_some());
        assert_eq!(used("openai:m", &[("https_proxy", "http://p:1"), ("no_proxy", "*")]), None);
        assert_eq!(used("openai:m", &[("HTTP_PROXY", "http://p:1")]), None, "a CGI client may have set it");
    }

    #[test]
    fn certificates_are_read_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("roots.pem");
        let env = Env::of("skilltrain", [("SSL_CERT_FILE", path.as_os_str())]);
        assert!(roots(&env).unwrap_err().to_string().contains("SSL_CERT_FILE"));
        files::write(&path, "nothing").unwrap();
        assert!(roots(&env).unwrap_err().to_string().contains("no certificate"));
        assert!(matches!(roots(&Env::default()).unwrap(), RootCerts::WebPki));
    }
}
