//! Commands that find by themselves the files that they, or others, show.

use std::path::{Path, PathBuf};

use super::Run;
use crate::agent::globs;
use crate::agent::programs::{Arg, SEARCH, reader};
use crate::agent::reads::{Place, join};

impl Run<'_> {
    pub(super) fn xargs(&mut self, args: &[Arg], piped: Vec<Place>) -> Vec<Place> {
        let inner = args.iter().map(Arg::plain).find(|name| reader(name).is_some());
        if inner.is_some() {
            self.places.extend(piped);
        }
        Vec::new()
    }

    pub(super) fn find(&mut self, name: &str, args: &[Arg]) -> Vec<Place> {
        if name != "find" {
            return Vec::new();
        }
        let texts: Vec<String> = args.iter().map(Arg::plain).collect();
        let after = |flag: &'static str| {
            texts.iter().zip(args.iter().skip(1)).filter(move |(text, _)| *text == flag).map(|(_, arg)| arg)
        };
        // The pattern is quoted, so that its characters stand escaped: they are special to find all the same.
        let names: Vec<String> = after("-name").chain(after("-iname")).map(Arg::plain).collect();
        let starts = texts.iter().take_while(|text| !text.starts_with('-') && *text != "(" && *text != "!");
        let mut folders: Vec<PathBuf> = starts.map(|start| join(&self.folder, start)).collect();
        if folders.is_empty() {
            folders.push(self.folder.clone());
        }
        let found: Vec<Place> =
            folders.into_iter().map(|folder| Place::Below { folder, names: names.clone() }).collect();
        if after("-exec").chain(after("-execdir")).any(|program| reader(&program.plain()).is_some()) {
            self.places.extend(found.iter().cloned());
        }
        found
    }

    pub(super) fn git(&mut self, args: &[Arg], sure: bool) -> Vec<Place> {
        let mut folder = self.folder.clone();
        let mut rest = args.iter();
        let command = loop {
            let Some(arg) = rest.next() else {
                return Vec::new();
            };
            match arg.plain().as_str() {
                "-C" => folder = join(&folder, rest.next().map(Arg::plain).unwrap_or_default()),
                "-c" => drop(rest.next()),
                text if text.starts_with('-') => {}
                text => break text.to_owned(),
            }
        };
        match command.as_str() {
            "show" | "cat-file" => {
                for arg in rest.map(Arg::plain).filter(|arg| !arg.starts_with('-')) {
                    let Some((_, path)) = arg.split_once(':').filter(|(_, path)| !path.is_empty()) else {
                        continue;
                    };
                    let from = if path.starts_with('.') { folder.clone() } else { top(&folder) };
                    self.places.push(Place::File { path: join(&from, path), sure });
                }
            }
            "grep" => self.shown(&folder),
            "ls-files" => {
                let names = rest.filter(|arg| !arg.is_option()).map(Arg::plain).collect();
                return vec![Place::Below { folder, names }];
            }
            _ => {}
        }
        Vec::new()
    }

    /// A search reads the one file that it is given; of several, those whose lines it shows.
    pub(super) fn search(&mut self, name: &str, args: &[Arg], sure: bool) {
        let silent = |text: &str| {
            matches!(text, "--files-with-matches" | "--files-without-match" | "--count" | "--files" | "--quiet")
                || text.starts_with('-') && !text.starts_with("--") && text.contains(['l', 'L', 'c', 'q'])
        };
        if args.iter().any(|arg| silent(&arg.plain())) {
            return;
        }
        let operands = SEARCH.operands(args);
        let recursive = args.iter().map(Arg::plain).any(|text| {
            text == "--recursive" || text.starts_with('-') && !text.starts_with("--") && text.contains(['r', 'R'])
        });
        match operands.as_slice() {
            [Arg::Text(one)] if !globs::is_glob(one) && !recursive => {
                if let Some(Place::File { path, .. }) = self.place(&operands[0], sure) {
                    let is_folder = path.is_dir();
                    self.places.push(Place::File { path, sure });
                    if is_folder {
                        self.shown(&self.folder.clone());
                    }
                }
            }
            [] if !recursive && name.ends_with("grep") => {}
            _ => self.shown(&self.folder.clone()),
        }
    }

    /// The files that lines of the output name before a colon.
    fn shown(&mut self, folder: &Path) {
        let mut last = "";
        for line in self.said.output.lines().take(20_000) {
            let name = line.split(':').next().unwrap_or_default();
            if name.len() < line.len() && !name.is_empty() && name.len() < 4_096 && name != last {
                self.places.push(Place::File { path: join(folder, name), sure: false });
                last = name;
            }
        }
    }
}

/// The folder whose `.git` a folder belongs to.
fn top(folder: &Path) -> PathBuf {
    folder.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(folder).to_owned()
}
