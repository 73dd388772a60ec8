//! Two pipes read at once, whatever the other side does: lines of one, the last part of the other.

use std::io::{PipeReader, PipeWriter, Read};
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, poll};

/// The longest line that is kept whole, in bytes; the rest of a longer one is dropped.
const MAX_LINE: usize = 16 << 20;
/// How much of the end of standard error is kept, in bytes.
const TAIL: usize = 64 << 10;
/// What is read at once, in bytes.
const CHUNK: usize = 64 << 10;
/// What the kernel lets a pipe hold at most, in bytes.
const LARGEST_PIPE: usize = 1 << 20;
/// Chunks' worth of lines that may wait for the reader: more would only be memory.
const WAITING: usize = 2;
/// Chunks' worth of lines that can still come once nobody writes any more.
pub(super) const MOST_IN_FLIGHT: usize = LARGEST_PIPE / CHUNK + WAITING + 2;

/// Both readers at work. Dropping `stop` ends them, even while someone holds the pipes open.
pub(super) struct Readers {
    pub(super) lines: Receiver<Vec<String>>,
    tail: JoinHandle<Vec<u8>>,
    stop: PipeWriter,
}

impl Readers {
    pub(super) fn start<O, E>(stdout: O, stderr: E) -> std::io::Result<Self>
    where
        O: Read + AsFd + Send + 'static,
        E: Read + AsFd + Send + 'static,
    {
        let (stopped, stop) = std::io::pipe()?;
        let also_stopped = stopped.try_clone()?;
        let (sender, lines) = sync_channel(WAITING);
        std::thread::spawn(move || read_lines(stdout, stopped, &sender));
        let tail = std::thread::spawn(move || read_tail(stderr, also_stopped));
        Ok(Readers { lines, tail, stop })
    }

    /// Stops both; the last part of standard error, bad bytes replaced.
    pub(super) fn finish(self) -> String {
        drop(self.stop);
        drop(self.lines);
        String::from_utf8_lossy(&self.tail.join().unwrap_or_default()).into_owned()
    }
}

fn read_lines(from: impl Read + AsFd, stop: PipeReader, sender: &SyncSender<Vec<String>>) {
    let mut splitter = Splitter::default();
    let mut source = Source::new(from, stop);
    while let Some(bytes) = source.next() {
        let lines = splitter.push(bytes);
        if !lines.is_empty() && sender.send(lines).is_err() {
            return;
        }
    }
    if let Some(last) = splitter.finish() {
        sender.send(vec![last]).ok();
    }
}

fn read_tail(from: impl Read + AsFd, stop: PipeReader) -> Vec<u8> {
    let mut tail = Vec::new();
    let mut source = Source::new(from, stop);
    while let Some(bytes) = source.next() {
        tail.extend_from_slice(bytes);
        if tail.len() > 4 * TAIL {
            tail.drain(..tail.len() - TAIL);
        }
    }
    tail.drain(..tail.len().saturating_sub(TAIL));
    tail
}

/// A pipe that is read until its end or until told to stop.
struct Source<R> {
    from: R,
    stop: PipeReader,
    chunk: Vec<u8>,
    /// Reads still allowed after the order to stop: what was in the pipe by then is wanted, but no more.
    left: usize,
}

impl<R: Read + AsFd> Source<R> {
    fn new(from: R, stop: PipeReader) -> Self {
        Source { from, stop, chunk: vec![0; CHUNK], left: LARGEST_PIPE / CHUNK }
    }

    fn next(&mut self) -> Option<&[u8]> {
        loop {
            let mut both = [PollFd::new(&self.from, PollFlags::IN), PollFd::new(&self.stop, PollFlags::IN)];
            match poll(&mut both, None) {
                Ok(_) if both[1].revents().is_empty() => {}
                Ok(_) if both[0].revents().is_empty() || self.left == 0 => return None,
                Ok(_) => self.left -= 1,
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => return None,
            }
            match self.from.read(&mut self.chunk) {
                Ok(0) => return None,
                Ok(count) => return Some(&self.chunk[..count]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
    }
}

/// Cuts a stream into lines.
#[derive(Default)]
struct Splitter {
    partial: Vec<u8>,
}

impl Splitter {
    fn push(&mut self, mut bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(at) = bytes.iter().position(|byte| *byte == b'\n') {
            self.keep(&bytes[..at]);
            lines.push(text(std::mem::take(&mut self.partial)));
            bytes = &bytes[at + 1..];
        }
        self.keep(bytes);
        lines
    }

    fn finish(self) -> Option<String> {
        (!self.partial.is_empty()).then(|| text(self.partial))
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = MAX_LINE - self.partial.len();
        self.partial.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(chunks: &[&[u8]]) -> Vec<String> {
        let mut splitter = Splitter::default();
        let mut lines: Vec<String> = chunks.iter().flat_map(|chunk| splitter.push(chunk)).collect();
        lines.extend(splitter.finish());
        lines
    }

    #[test]
    fn lines_come_whole_however_they_are_cut() {
        assert_eq!(split(&[b"a", b"b\nc", b"", b"\n\nd"]), ["ab", "c", "", "d"]);
        assert_eq!(split(&[b"\xff\n"]), ["\u{fffd}"]);
        assert!(split(&[]).is_empty());
    }

    #[test]
    fn the_rest_of_an_overlong_line_is_dropped() {
        let long = vec![b'x'; MAX_LINE + 5];
        let lines = split(&[&long, &long, b"\nnext\n"]);
        assert_eq!((lines[0].len(), lines[1].as_str()), (MAX_LINE, "next"));
    }
}
