//! One row: what an optimizer does, and all that must hold afterwards.

use crate::support::World;

/// An optimizer that does as it should.
pub(crate) const GOOD: &str = "card 01_craft_elements/good.md 'asked for a name'; commit 'a card'";

/// A script whose repair turn leaves everything as it is.
pub(crate) fn once(script: &str) -> String {
    format!("[ $CALL = 1 ] || exit 0; {script}")
}

/// Cards that every pool here begins with.
pub(crate) const SEED: [&str; 4] =
    ["00_general_rules/a.md", "00_general_rules/b.md", "01_craft_elements/c.md", "02_genre_specifics/d.md"];

/// A world with a pool of four cards and a batch of one work.
pub(crate) fn world() -> World {
    let world = World::with_pool();
    for (n, path) in SEED.iter().enumerate() {
        let text = format!(
            "---\ndescription: Use when asked for number {n}. Not for letters.\n---\n\n## Rules\n- Give number {n} alone.\n"
        );
        world.write(format!("pool/{path}"), text);
    }
    world.git("pool", &["add", "-A"]);
    world.git("pool", &["commit", "-q", "-m", "cards"]);
    world.batch(1);
    world
}

/// The label of the only micro-step.
pub(crate) fn label(world: &World) -> String {
    format!("{}-g01", world.root().file_name().unwrap().to_string_lossy())
}

/// A row that must be refused.
#[must_use]
pub(crate) struct Row<'a> {
    script: String,
    args: Vec<&'a str>,
    calls: usize,
    attempts: usize,
    says: Vec<&'a str>,
    kept: Vec<(&'a str, &'a str)>,
    nothing_kept: bool,
}

impl<'a> Row<'a> {
    /// With `--retries 0`: one attempt, a first turn and a repair turn.
    pub(crate) fn of(script: impl Into<String>) -> Row<'a> {
        Row {
            script: script.into(),
            args: vec!["--retries", "0"],
            calls: 2,
            attempts: 1,
            says: Vec::new(),
            kept: Vec::new(),
            nothing_kept: false,
        }
    }

    /// Arguments instead of `--retries 0`.
    pub(crate) fn args(self, args: &[&'a str]) -> Self {
        Row { args: args.to_vec(), ..self }
    }

    /// How often the optimizer is called.
    pub(crate) fn calls(self, calls: usize) -> Self {
        Row { calls, ..self }
    }

    /// How many attempts are made.
    pub(crate) fn attempts(self, attempts: usize) -> Self {
        Row { attempts, ..self }
    }

    /// What the message holds: the guard's name, and what to do.
    pub(crate) fn says(self, says: &[&'a str]) -> Self {
        Row { says: says.to_vec(), ..self }
    }

    /// A path that each attempt's commit holds, with a part of its text.
    pub(crate) fn keeps(mut self, path: &'a str, text: &'a str) -> Self {
        self.kept.push((path, text));
        self
    }

    /// Nothing was edited, so nothing is kept.
    pub(crate) fn keeps_nothing(self) -> Self {
        Row { nothing_kept: true, ..self }
    }

    /// Runs the row in a new world.
    pub(crate) fn check(self) -> World {
        let world = world();
        self.check_in(&world);
        world
    }

    /// Runs the row; gives what was said on standard error.
    pub(crate) fn check_in(self, world: &World) -> String {
        let (before, subjects) = (world.tip(), world.subjects());
        let err = world.backward(&world.agent(&self.script), &self.args).fails(1);
        for part in &self.says {
            assert!(err.contains(part), "not said: {part}\n{err}");
        }
        assert_eq!(world.calls(), self.calls, "calls\n{err}");
        assert_eq!((world.tip(), world.subjects()), (before.clone(), subjects), "the branch moved");
        world.assert_clean();
        self.check_kept(world, &before);
        self.check_files(world);
        let kept = world.kept();
        check_good(world);
        assert!(kept.iter().all(|name| world.kept().contains(name)), "what was kept is gone");
        err
    }

    fn check_kept(&self, world: &World, before: &str) {
        let label = label(world);
        let names: Vec<String> = (1..=self.attempts).map(|n| format!("refs/skilltrain/failed/{label}/{n}")).collect();
        if self.nothing_kept {
            assert_eq!(world.kept(), [""; 0]);
            return;
        }
        assert_eq!(world.kept(), names);
        for name in &names {
            assert_eq!(
                world.git("pool", &["rev-parse", &format!("{name}^")]),
                before,
                "{name} is not based on the pool"
            );
            for (path, text) in &self.kept {
                let here = world.git("pool", &["show", &format!("{name}:{path}")]);
                assert!(here.contains(text), "{name}:{path} holds {here}");
            }
        }
    }

    fn check_files(&self, world: &World) {
        let step = |name: String| world.path("backward/g01").join(name);
        for n in 1..=self.attempts {
            for name in [format!("backward_prompt_attempt{n}.md"), format!("guards_attempt{n}.txt")] {
                assert!(step(name.clone()).is_file(), "{name}");
            }
            assert!(step(format!("backward_trajectory_attempt{n}.md")).is_file());
            assert_eq!(step(format!("memory_attempt{n}.patch")).is_file(), !self.nothing_kept);
        }
        assert!(!step(format!("guards_attempt{}.txt", self.attempts + 1)).exists());
        assert!(!step("commit.txt".into()).exists());
    }
}

/// A good run succeeds with exactly one more commit, whatever happened before it.
pub(crate) fn check_good(world: &World) {
    let (before, subjects) = (world.tip(), world.subjects());
    world.backward(&world.agent(GOOD), &["--retries", "0"]).ok();
    check_one_more(world, &before, &subjects);
    assert!(world.read("pool/01_craft_elements/good.md").contains("asked for a name"));
}

/// Exactly one commit of ours stands on `before`; the pool is clean; the marker says so.
pub(crate) fn check_one_more(world: &World, before: &str, subjects: &[String]) {
    let subject = format!("train {}", label(world));
    let wanted: Vec<String> = subjects.iter().cloned().chain([subject.clone()]).collect();
    assert_eq!(world.subjects(), wanted);
    assert_eq!(world.git("pool", &["rev-parse", "HEAD^@"]), before, "not one parent, or another one");
    assert_eq!(world.git("pool", &["log", "-1", "--format=%an"]), "skilltrain");
    world.assert_clean();
    let marker = format!("before={before}\nafter={}\nsubject={subject}\n", world.tip());
    assert_eq!(world.read("backward/g01/commit.txt"), marker);
    assert!(!world.path("backward/g01/checkout").exists(), "the checkout is left");
}

/// Runs an optimizer whose work is taken; gives what was said on standard error.
pub(crate) fn taken(world: &World, script: &str, args: &[&str]) -> String {
    let (before, subjects) = (world.tip(), world.subjects());
    let run = world.backward(&world.agent(script), args);
    assert_eq!(run.code, Some(0), "{}\n{}", run.out, run.err);
    check_one_more(world, &before, &subjects);
    run.err
}

/// Paths that the newest commit touched.
pub(crate) fn touched(world: &World) -> Vec<String> {
    let names = world.git("pool", &["show", "--format=", "--name-only", "HEAD"]);
    names.lines().map(str::to_owned).collect()
}
