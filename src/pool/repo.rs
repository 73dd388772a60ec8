//! The pool's repository: opened strictly, read, and moved only by compare-and-swap.
//!
//! git2 never runs hooks or filters and never signs here: blobs go in as raw bytes, the identity is explicit, and
//! `GIT_*` variables are not looked at (`open_ext` without the environment, never `discover`).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use git2::{
    ErrorCode, ObjectType, Oid, Repository, RepositoryOpenFlags, RepositoryState, TreeWalkMode, TreeWalkResult,
};

use super::leftovers::locked;
use crate::ground::error::{Error, FULL, Kind, Result};
use crate::ground::files;
use crate::ground::text::shell_quoted;

/// A file in a tree: its content's id and its git mode (0o100644 is the only one that a card may have).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The blob's id.
    pub id: Oid,
    /// The git file mode.
    pub mode: u32,
}

/// The mode of a plain file.
pub const PLAIN: u32 = 0o100_644;

/// All files of a tree by path (with `/`).
pub type Files = BTreeMap<String, Entry>;

/// What differs from a base tree: the new entry, or none where the file is gone.
pub type Changes = BTreeMap<String, Option<Entry>>;

/// The pool: a git repository whose root is the folder itself.
pub struct Pool {
    pub(super) repo: Repository,
    root: PathBuf,
    branch: String,
    last: RefCell<Option<(Oid, Rc<Files>)>>,
}

impl Pool {
    /// Opens the pool in `folder`.
    ///
    /// Errors, kind `Usage`: no such folder, no repository of its own, bare, a linked work tree, a detached head, a
    /// branch without commits, another owner, a format that libgit2 cannot read.
    pub fn open(folder: &Path) -> Result<Pool> {
        let root = files::canonical(folder)
            .map_err(|error| error.hint(format!("make one with `skilltrain init {}`", folder.display())))?;
        let repo = open_own(&root)?;
        let branch = branch_of(&repo, &root)?;
        Ok(Pool { repo, root, branch, last: RefCell::default() })
    }

    /// The pool's folder, links resolved.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Its git directory.
    pub fn git_dir(&self) -> &Path {
        self.repo.path()
    }

    /// The full name of the branch that training moves.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// The branch's tip.
    pub fn tip(&self) -> Result<Oid> {
        self.repo.refname_to_id(&self.branch).map_err(|error| wrap(error, "cannot read the pool's branch"))
    }

    /// Refuses a pool that was switched to another branch since it was opened: its files are no longer this one's.
    pub(super) fn check_branch(&self) -> Result<()> {
        let now = branch_of(&self.repo, &self.root).map_err(|error| error.with_kind(Kind::Failed))?;
        if now == self.branch {
            return Ok(());
        }
        let (root, was) = (self.root.display(), self.branch.trim_start_matches("refs/heads/"));
        let quoted = shell_quoted(&self.root);
        Err(Error::failed(format!("the pool {root} was switched to {now} meanwhile"))
            .hint(format!("git -C {quoted} switch {was}, then run the same command again")))
    }

    /// Refuses a pool in the middle of a merge, rebase, cherry-pick or bisect, or whose index or branch is locked.
    pub fn check_idle(&self) -> Result<()> {
        let state = self.repo.state();
        if state != RepositoryState::Clean {
            return Err(busy(state, &self.root));
        }
        let index = ("index", self.git_dir().join("index.lock"));
        let branch = ("branch", self.reference_lock(&self.branch));
        match [index, branch].into_iter().find(|(_, lock)| lock.exists()) {
            Some((what, lock)) => Err(locked(what, &lock)),
            None => Ok(()),
        }
    }

    /// All files of a commit. The last answer is remembered: a step asks for its base several times.
    pub fn files(&self, commit: Oid) -> Result<Rc<Files>> {
        if let Some((_, files)) = self.last.borrow().as_ref().filter(|(id, _)| *id == commit) {
            return Ok(Rc::clone(files));
        }
        let files = Rc::new(files_of(&self.repo, commit)?);
        *self.last.borrow_mut() = Some((commit, Rc::clone(&files)));
        Ok(files)
    }

    /// A blob's bytes.
    pub fn blob(&self, id: Oid) -> Result<Vec<u8>> {
        let blob = self.repo.find_blob(id).map_err(|error| wrap(error, "cannot read a card"))?;
        Ok(blob.content().to_vec())
    }

    /// The bytes of one file of a commit, when it has it.
    pub fn file(&self, commit: Oid, path: &str) -> Result<Option<Vec<u8>>> {
        let tree = self.repo.find_commit(commit).and_then(|commit| commit.tree());
        let tree = tree.map_err(|error| wrap(error, "cannot read a commit"))?;
        match tree.get_path(Path::new(path)) {
            Ok(entry) if entry.kind() == Some(ObjectType::Blob) => self.blob(entry.id()).map(Some),
            _ => Ok(None),
        }
    }

    /// What differs between two commits.
    pub fn changes(&self, before: Oid, after: Oid) -> Result<Changes> {
        changes_between(&self.repo, before, after)
    }

    /// The commit that some text names (a hash, a branch, `HEAD~2`).
    pub fn resolve(&self, revision: &str) -> Result<Oid> {
        self.repo
            .revparse_single(revision)
            .and_then(|object| object.peel_to_commit())
            .map(|commit| commit.id())
            .map_err(|error| wrap(error, &format!("no commit `{revision}` in the pool")).with_kind(Kind::Usage))
    }
}

/// Parses a full object id.
pub fn parse_id(text: &str) -> Option<Oid> {
    if text.len() == 40 { Oid::from_str(text).ok() } else { None }
}

/// Opens the repository whose root is exactly `root`; the search never goes up.
pub(super) fn open_own(root: &Path) -> Result<Repository> {
    let none: [&std::ffi::OsStr; 0] = [];
    // libgit2 would look up every object that an index or a tree names; ours come from trees that were just read.
    git2::opts::strict_object_creation(false);
    let repo =
        Repository::open_ext(root, RepositoryOpenFlags::NO_SEARCH, none).map_err(|error| open_error(error, root))?;
    let refuse = |what: &str| Error::usage(format!("{} {what}", root.display()));
    if repo.is_bare() {
        return Err(refuse("is a bare repository").hint("a pool needs its work tree: clone it, then name the clone"));
    }
    if repo.is_worktree() {
        return Err(refuse("is a linked work tree of another repository").hint("name the main work tree, or a clone"));
    }
    if lies_around(repo.path(), root) {
        return Err(refuse("uses the .git of the repository around it")
            .hint("give it a repository of its own; an enclosing one is never used"));
    }
    let workdir = repo.workdir().and_then(|folder| folder.canonicalize().ok());
    if workdir.as_deref() != Some(root) {
        return Err(refuse("is not the root of its own repository"));
    }
    Ok(repo)
}

/// Whether a git directory is the one of a folder that encloses `root`: reached by a link, or by a `.git` file.
fn lies_around(git_dir: &Path, root: &Path) -> bool {
    let real = git_dir.canonicalize();
    let home = real.as_deref().ok().and_then(Path::parent);
    home.is_some_and(|home| home != root && root.starts_with(home))
}

fn open_error(error: git2::Error, root: &Path) -> Error {
    let place = root.display();
    let text = error.message().to_owned();
    match error.code() {
        ErrorCode::NotFound => Error::usage(format!("{place} is not a git repository of its own")).hint(format!(
            "make a pool with `skilltrain init {place}`, or repair its .git; an enclosing repository is never used"
        )),
        ErrorCode::Owner => Error::usage(format!("{place} belongs to another user"))
            .hint(format!("if you trust it: git config --global --add safe.directory '{place}'")),
        _ if text.contains("refstorage") => {
            Error::usage(format!("{place} uses the reftable format, which libgit2 cannot read"))
                .hint("convert it: git refs migrate --ref-format=files")
        }
        _ if text.contains("object format") || text.contains("objectformat") => {
            Error::usage(format!("{place} uses an object format other than SHA-1, which libgit2 cannot read"))
                .hint("make a new pool with `skilltrain init` and copy the cards into it")
        }
        _ => Error::usage(text).context(format!("cannot open the pool {place}")),
    }
}

/// The pool is in the middle of something of git's.
fn busy(state: RepositoryState, root: &Path) -> Error {
    let what = match state {
        RepositoryState::Merge => "merge",
        RepositoryState::Revert | RepositoryState::RevertSequence => "revert",
        RepositoryState::CherryPick | RepositoryState::CherryPickSequence => "cherry-pick",
        RepositoryState::Bisect => "bisect",
        RepositoryState::ApplyMailbox => "git am",
        _ => "rebase",
    };
    Error::failed(format!("the pool {} is in the middle of a {what}", root.display()))
        .hint("finish or abort it first (`git status` in the pool says how)")
}

fn branch_of(repo: &Repository, root: &Path) -> Result<String> {
    let head = repo.find_reference("HEAD").map_err(|error| wrap(error, "cannot read the pool's HEAD"))?;
    let place = root.display();
    let Some(branch) = head.symbolic_target().ok().flatten().map(str::to_owned) else {
        // A rebase and a bisect detach the head themselves; that it is not on a branch is then not the point.
        if repo.state() != RepositoryState::Clean {
            return Err(busy(repo.state(), root));
        }
        return Err(Error::usage(format!("the pool {place} has a detached head: no branch would move"))
            .hint(format!("git -C {} switch main", shell_quoted(root))));
    };
    if repo.refname_to_id(&branch).is_err() {
        return Err(Error::usage(format!("the pool {place} has no commit on {branch}"))
            .hint(format!("git -C {0} add -A && git -C {0} commit -m 'pool'", shell_quoted(root))));
    }
    Ok(branch)
}

/// All files of a commit in any repository.
pub(super) fn files_of(repo: &Repository, commit: Oid) -> Result<Files> {
    let tree = repo.find_commit(commit).and_then(|commit| commit.tree());
    let tree = tree.map_err(|error| wrap(error, "cannot read a commit"))?;
    let mut files = Files::new();
    tree.walk(TreeWalkMode::PreOrder, |folder, entry| {
        if entry.kind() != Some(ObjectType::Tree) {
            let mode = u32::try_from(entry.filemode()).unwrap_or(0);
            let path = format!("{folder}{}", String::from_utf8_lossy(entry.name_bytes()));
            files.insert(path, Entry { id: entry.id(), mode });
        }
        TreeWalkResult::Ok
    })
    .map_err(|error| wrap(error, "cannot read a tree"))?;
    Ok(files)
}

/// What differs between the trees of two commits; a rename is a removal and a new file.
pub(super) fn changes_between(repo: &Repository, before: Oid, after: Oid) -> Result<Changes> {
    let tree = |id| repo.find_commit(id).and_then(|commit: git2::Commit<'_>| commit.tree());
    let diff = tree(before).and_then(|old| {
        let mut options = git2::DiffOptions::new();
        // A change of kind is told as a removal and a new file: a card that became a folder is no entry of a tree.
        options.include_typechange(false).include_typechange_trees(false).skip_binary_check(true);
        let new = tree(after)?;
        // libgit2 would walk both trees to find out that they are one.
        if old.id() == new.id() {
            Ok(None)
        } else {
            repo.diff_tree_to_tree(Some(&old), Some(&new), Some(&mut options)).map(Some)
        }
    });
    let diff = diff.map_err(|error| wrap(error, "cannot compare two commits"))?;
    let mut changes = Changes::new();
    for delta in diff.iter().flat_map(git2::Diff::deltas) {
        let (old, new) = (delta.old_file(), delta.new_file());
        if let Some(path) = old.path_bytes() {
            changes.entry(String::from_utf8_lossy(path).into_owned()).or_insert(None);
        }
        if let Some(path) = new.path_bytes().filter(|_| delta.status() != git2::Delta::Deleted) {
            let entry = Entry { id: new.id(), mode: u32::from(new.mode()) };
            changes.insert(String::from_utf8_lossy(path).into_owned(), Some(entry));
        }
    }
    Ok(changes)
}

/// A git2 error as ours. "Locked" and "modified" both mean that someone else was faster.
pub(super) fn wrap(error: git2::Error, what: &str) -> Error {
    let ours = Error::failed(error.message()).context(what);
    // libgit2 passes on the system's words only.
    let says = |words: &str| error.message().contains(words);
    if ["No space left", "File too large", "quota exceeded"].into_iter().any(says) {
        return ours.hint(FULL);
    }
    if ["Permission denied", "Read-only file system"].into_iter().any(says) {
        return ours
            .hint("check the permissions of the pool's .git, then run the same command again; nothing was lost");
    }
    match error.code() {
        ErrorCode::Locked => {
            ours.hint("another git command holds a lock in the pool; if none runs, remove the lock file")
        }
        ErrorCode::Modified => ours.hint("someone moved the branch meanwhile; run the same command again"),
        _ => ours,
    }
}
