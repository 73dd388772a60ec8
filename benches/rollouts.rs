//! What rollouts cost besides their model: makespan, our own CPU and memory, against a server that takes a fixed time.
//!
//! `cargo bench --bench rollouts`. The server is this program again, in a process of its own, so that its CPU is not
//! counted. Whole waves of workers give the least makespan that there is; tasks × latency ÷ workers stands beside it, and
//! what a bare loop over sockets takes for the same exchanges, so that figures of a busy machine can be read too.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use skilltrain::evaluator;
use skilltrain::ground::env::Env;
use skilltrain::ground::process::Sandbox;
use skilltrain::ground::prompts::Prompts;
use skilltrain::ground::signals::Cancel;
use skilltrain::llm::{
    Budget, Client, Http, Limits, Recorder, Recording, Role, Settings, Shared, Spec, Spent, SystemClock,
};
use skilltrain::pool::commit::Author;
use skilltrain::pool::init;
use skilltrain::pool::profile::{PROFILE_FILE, RULES_TEMPLATE};
use skilltrain::target::{self, Mode, Options, Target, View};
use skilltrain::task::{self, Task};
use skilltrain::train::measure::{Attempts, Measure};

/// How long the server takes for an answer.
const LATENCY: Duration = Duration::from_millis(50);
/// The argument that makes this program the server.
const SERVE: &str = "--serve-answers";
/// Bytes of a request of the bare loop, about those of a real one.
const BARE: usize = 20_000;
/// Cards in the pool, all of them in each prompt.
const CARDS: usize = 20;

fn main() {
    if std::env::args().any(|word| word == SERVE) {
        return serve();
    }
    let server = Server::start();
    println!(
        "{:>7} {:>7} {:>9} {:>7} {:>7} {:>7} {:>9} {:>11} {:>9}",
        "workers", "tasks", "makespan", "waves", "ideal", "bare", "flush", "our CPU", "memory"
    );
    // All are removed at the end: some file systems look for room slowly after many files were removed.
    let mut folders = Vec::new();
    for (workers, tasks) in [(16, 1_000), (64, 1_000), (16, 4_000), (64, 4_000)] {
        let folder = folders.push_mut(tempfile::tempdir().expect("a temporary folder"));
        let bench = Bench::new(folder.path(), workers, tasks, &server.url);
        let figures = bench.run();
        let bare = bare(server.address(), workers, tasks);
        let waves = LATENCY * u32::try_from(tasks.div_ceil(workers)).expect("few");
        let ideal = LATENCY.mul_f64(tasks as f64 / workers as f64);
        let ratio = |to: Duration| figures.makespan.as_secs_f64() / to.as_secs_f64();
        println!(
            "{workers:>7} {tasks:>7} {:>7.3} s {:>7.3} {:>7.3} {:>7.3} {:>7.3} s {:>8.3} ms {:>6} kB",
            figures.makespan.as_secs_f64(),
            ratio(waves),
            ratio(ideal),
            ratio(bare),
            figures.flush.as_secs_f64(),
            figures.cpu.as_secs_f64() * 1_000.0 / tasks as f64,
            figures.memory,
        );
    }
    println!(
        "\nmakespan against whole waves, tasks x latency / workers, a bare loop; our CPU: a rollout; memory: growth"
    );
}

/// What was measured.
struct Figures {
    makespan: Duration,
    /// Until all was on disk after that.
    flush: Duration,
    cpu: Duration,
    /// By how many kB the most memory in use grew.
    memory: u64,
}

struct Bench {
    workers: usize,
    attempts: Attempts,
    target: Box<dyn Target>,
    view: View,
    tasks: Vec<Task>,
    env: Env,
    cancel: Cancel,
}

impl Bench {
    fn new(root: &Path, workers: usize, tasks: usize, url: &str) -> Bench {
        let mut files: BTreeMap<String, Vec<u8>> =
            (0..CARDS).map(|n| (format!("01_craft_elements/c{n:02}.md"), card(n))).collect();
        files.insert(PROFILE_FILE.to_owned(), RULES_TEMPLATE.as_bytes().to_vec());
        let pool = init::create(&root.join("pool"), &files, "pool", &Author::fixed(0)).expect("a pool");
        let view = View::of(&pool, pool.tip().expect("a commit")).expect("a view");
        let lines: String = (0..tasks)
            .map(|n| {
                format!(
                    "{{\"id\": \"t{n:05}\", \"input\": \"What is the value of item {n}?\", \"reference\": \"4711\"}}\n"
                )
            })
            .collect();
        std::fs::write(root.join("tasks.jsonl"), lines).expect("tasks");
        let tasks = task::load(&root.join("tasks.jsonl")).expect("tasks");
        let (env, cancel) = (Env::default(), Cancel::default());
        let target = target(root, workers, url, &env, &cancel);
        let attempts = Attempts::open(&root.join("out")).expect("a folder");
        Bench { workers, attempts, target, view, tasks, env, cancel }
    }

    fn run(&self) -> Figures {
        let evaluator = evaluator::registry::find("exact", &serde_json::Map::new()).expect("an evaluator");
        let measure = Measure {
            what: "rollouts",
            target: self.target.as_ref(),
            evaluator: evaluator.as_ref(),
            attempts: &self.attempts,
            place: "",
            sample: 0,
            repeats: 1,
            workers: self.workers,
            fresh: false,
            env: &self.env,
            cancel: &self.cancel,
            sandbox: Sandbox::Off,
            timeout: Duration::from_secs(60),
            observer: &|_| {},
        };
        // Counted from here on; where the kernel does not allow it the growth is of the whole process.
        std::fs::write("/proc/self/clear_refs", "5").ok();
        let (memory, begun_cpu, begun) = (status_kb("VmRSS:"), cpu(), Instant::now());
        let measured = measure.run(&self.view, &self.tasks).expect("a measurement");
        let makespan = begun.elapsed();
        self.attempts.flush().expect("files on disk");
        let (flush, cpu) = (begun.elapsed() - makespan, cpu() - begun_cpu);
        assert!(measured.iter().all(|task| task.score().is_some_and(|score| score.hard > 0.99)));
        Figures { makespan, flush, cpu, memory: status_kb("VmHWM:").saturating_sub(memory) }
    }
}

fn target(root: &Path, workers: usize, url: &str, env: &Env, cancel: &Cancel) -> Box<dyn Target> {
    let clock = Arc::new(SystemClock::default());
    let budget = Arc::new(Budget::new(Limits::default(), Spent::default(), clock.clone()));
    let prompts = Prompts::default();
    let shared = Shared { budget, ledger: Arc::default(), cancel: cancel.clone(), prompts: prompts.clone() };
    let name = format!("openai:m@{url}");
    let spec = Spec::parse(&name).expect("a name").expect("a model");
    let settings = Settings { max_in_flight: u32::try_from(workers).ok(), ..Settings::default() };
    let http = Http::new(&spec, &settings, env, clock).expect("a server");
    let recording = Recording::open(&root.join("calls.jsonl")).expect("a recording");
    let recorder = Recorder::new(Arc::new(http), recording, Vec::new()).without_questions();
    let options = Options {
        client: Some(Client::new(Arc::new(recorder), shared, None, Role::Target)),
        mode: Mode::Inline,
        system: String::new(),
        seed: None,
        temperature: None,
        max_tokens: 64,
        budget: 100_000,
        max_turns: 1,
        prompts,
    };
    target::find(&name, options).expect("a target")
}

fn card(number: usize) -> Vec<u8> {
    let lines: String = (0..10)
        .map(|line| format!("- State value {line} of item {number} before anything else, then stop and wait.\n"))
        .collect();
    let head = format!("description: Use when a question asks for a value of item {number}. Not for letters.");
    format!("---\n{head}\n---\n\n## Rules\n{lines}").into_bytes()
}

/// How long the same number of exchanges takes when nothing is done with them.
fn bare(address: &str, workers: usize, tasks: usize) -> Duration {
    let next = AtomicUsize::new(0);
    let request = format!("POST / HTTP/1.1\r\ncontent-length: {BARE}\r\n\r\n{}", "x".repeat(BARE));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut stream = TcpStream::connect(address).expect("a connection");
                stream.set_nodelay(true).expect("a socket");
                while next.fetch_add(1, Ordering::Relaxed) < tasks {
                    stream.write_all(request.as_bytes()).expect("a request sent");
                    assert!(stream.read(&mut [0; 4_096]).expect("a reply") > 0);
                }
            });
        }
    });
    begun.elapsed()
}

/// A server in a process of its own, ended when dropped.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn address(&self) -> &str {
        self.url.trim_start_matches("http://").trim_end_matches("/v1")
    }

    fn start() -> Server {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        let mut process = command.arg(SERVE).stdout(Stdio::piped()).spawn().expect("a server");
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("an address");
        Server { process, url: format!("http://{}/v1", line.trim()) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Answers every request with the same answer after the latency.
fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    println!("{}", listener.local_addr().expect("an address"));
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || while answer(&stream).is_some() {});
    }
}

/// One request; none when the connection is at its end.
fn answer(mut stream: &TcpStream) -> Option<()> {
    // Unbuffered beyond one request: a caller waits for its answer before it asks again.
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        if line.trim().is_empty() {
            break;
        }
        let line = line.to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let begun = Instant::now();
    reader.read_exact(&mut vec![0; length]).ok()?;
    std::thread::sleep(LATENCY.saturating_sub(begun.elapsed()));
    let body = r#"{"choices": [{"index": 0, "message": {"role": "assistant", "content": "4711"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 10, "completion_tokens": 2}}"#;
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).ok()
}

/// A line of this process's status, in kB; 0 where there is none.
fn status_kb(key: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// CPU time of this process so far, its children not counted.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}
