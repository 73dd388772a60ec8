//! A scripted HTTP server on loopback: it plays its script call by call, and refuses a call that is not in it.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// What the server does with one request.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Replies whole, with a length, and keeps the connection.
    Reply { status: u16, headers: Vec<(&'static str, String)>, body: String },
    /// Replies whole, in chunks.
    Chunked(Vec<String>),
    /// Sends these bytes as they are and closes.
    Raw(Vec<u8>),
    /// Says nothing until the caller goes away.
    Silent,
    /// Sends these bytes, then says nothing until the caller goes away.
    Stall(Vec<u8>),
    /// Sends these bytes, then one more every few milliseconds for as long as the caller listens.
    Drip(Vec<u8>),
}

/// A request, as the server saw it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) line: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Value,
    pub(crate) connection: usize,
}

impl Seen {
    /// The text of the last message.
    pub(crate) fn last(&self) -> &str {
        let messages = self.body["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].as_str().unwrap_or_default()
    }
}

type Play = dyn Fn(&Seen, usize) -> Option<Step> + Send + Sync;

struct State {
    play: Box<Play>,
    seen: Mutex<Vec<Seen>>,
    surprises: Mutex<Vec<String>>,
    in_flight: AtomicUsize,
    most: AtomicUsize,
    open: AtomicUsize,
}

/// A running server.
pub(crate) struct Server {
    address: SocketAddr,
    state: Arc<State>,
}

impl Server {
    /// Plays these steps in this order.
    pub(crate) fn script(steps: impl IntoIterator<Item = Step>) -> Server {
        let steps = Mutex::new(steps.into_iter().collect::<VecDeque<_>>());
        Server::by(move |_, _| steps.lock().unwrap().pop_front())
    }

    /// Asks a function for each step.
    pub(crate) fn by(play: impl Fn(&Seen, usize) -> Option<Step> + Send + Sync + 'static) -> Server {
        Server::listen(TcpListener::bind("127.0.0.1:0").unwrap(), play)
    }

    pub(crate) fn listen(
        listener: TcpListener,
        play: impl Fn(&Seen, usize) -> Option<Step> + Send + Sync + 'static,
    ) -> Server {
        let state = Arc::new(State {
            play: Box::new(play),
            seen: Mutex::default(),
            surprises: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            open: AtomicUsize::new(0),
        });
        let address = listener.local_addr().unwrap();
        let served = Arc::clone(&state);
        std::thread::spawn(move || {
            for (number, stream) in listener.incoming().flatten().enumerate() {
                let served = Arc::clone(&served);
                served.open.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || {
                    serve(&served, stream, number);
                    served.open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        Server { address, state }
    }

    /// The base URL of its API.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requests so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.state.seen.lock().unwrap().clone()
    }

    /// Waits until all that callers had sent before they went away was read. Nobody may be calling.
    #[allow(dead_code, reason = "only the suites that kill callers need it")]
    pub(crate) fn settle(&self) {
        // Callers are taken in the order in which they came: once this one is, all earlier ones are counted.
        let mut last = TcpStream::connect(self.address).unwrap();
        last.shutdown(std::net::Shutdown::Write).unwrap();
        let _ = last.read(&mut [0]);
        while self.state.open.load(Ordering::SeqCst) > 0 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The most requests that it held at one time.
    pub(crate) fn most_at_once(&self) -> usize {
        self.state.most.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let surprises = self.state.surprises.lock().unwrap();
        if !std::thread::panicking() {
            assert!(surprises.is_empty(), "calls that the script does not hold: {surprises:#?}");
        }
    }
}

fn serve(state: &State, stream: TcpStream, connection: usize) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    while let Some(seen) = read(&mut reader, connection) {
        let number = {
            let mut all = state.seen.lock().unwrap();
            all.push(seen.clone());
            all.len() - 1
        };
        let now = state.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        state.most.fetch_max(now, Ordering::SeqCst);
        let step = (state.play)(&seen, number);
        let step = step.unwrap_or_else(|| {
            state.surprises.lock().unwrap().push(format!("{} {}", seen.line, seen.body));
            status(418, "not in the script")
        });
        // Before the reply is out: whoever gets it may call again at once.
        state.in_flight.fetch_sub(1, Ordering::SeqCst);
        if !play(&stream, step) {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>, connection: usize) -> Option<Seen> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut headers = BTreeMap::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok().filter(|read| *read > 0)?;
        let Some((name, value)) = header.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    Some(Seen { line: line.trim_end().to_owned(), headers, body, connection })
}

/// Whether the connection stays.
fn play(mut stream: &TcpStream, step: Step) -> bool {
    match step {
        Step::Reply { status, headers, body } => {
            let mut head = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\n", body.len());
            headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
            stream.write_all(format!("{head}\r\n{body}").as_bytes()).is_ok()
        }
        Step::Chunked(parts) => {
            let mut text = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_owned();
            parts.iter().for_each(|part| text += &format!("{:x}\r\n{part}\r\n", part.len()));
            stream.write_all(format!("{text}0\r\n\r\n").as_bytes()).is_ok()
        }
        Step::Raw(bytes) => {
            let _ = stream.write_all(&bytes);
            let _ = stream.shutdown(std::net::Shutdown::Both);
            false
        }
        Step::Silent => wait_for_end(stream),
        Step::Stall(bytes) => {
            let _ = stream.write_all(&bytes);
            wait_for_end(stream)
        }
        Step::Drip(bytes) => {
            let _ = stream.write_all(&bytes);
            while stream.write_all(b" ").is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
            false
        }
    }
}

fn wait_for_end(mut stream: &TcpStream) -> bool {
    let mut rest = [0; 64];
    while stream.read(&mut rest).is_ok_and(|read| read > 0) {}
    false
}

/// An answer in the shape of chat completions, with 10 tokens sent and 2 received.
pub(crate) fn answer(text: &str) -> Step {
    json_reply(&completion(json!({"role": "assistant", "content": text}), "stop"))
}

pub(crate) fn completion(message: Value, finish: &str) -> Value {
    json!({"choices": [{"index": 0, "message": message, "finish_reason": finish}],
           "usage": {"prompt_tokens": 10, "completion_tokens": 2}})
}

pub(crate) fn json_reply(body: &Value) -> Step {
    Step::Reply { status: 200, headers: vec![("content-type", "application/json".into())], body: body.to_string() }
}

pub(crate) fn status(status: u16, body: &str) -> Step {
    Step::Reply { status, headers: Vec::new(), body: body.to_owned() }
}

pub(crate) fn status_after(code: u16, after: &str) -> Step {
    Step::Reply { status: code, headers: vec![("retry-after", after.to_owned())], body: String::new() }
}
