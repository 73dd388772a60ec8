//! Rows of trees: a path and mode among clean cards, and the problems it has.

use super::*;

const PLAIN: u32 = 0o100_644;

/// What the row shows, its paths with modes, and the codes of their problems, sorted.
type Row = (&'static str, &'static [(&'static [u8], u32)], &'static [&'static str]);

pub(super) const ROWS: &[Row] = &[
    (
        "clean",
        &[(b"00_general_rules/a.md", PLAIN), (b"01_craft_elements/a b.md", PLAIN), (b".skilltrain.toml", PLAIN)],
        &[],
    ),
    ("umlauts", &[("01_craft_elements/Größe.md".as_bytes(), PLAIN)], &[]),
    ("link", &[(b"00_general_rules/a.md", 0o120_000)], &["symlink"]),
    ("module", &[(b"00_general_rules/a.md", 0o160_000)], &["submodule"]),
    ("module in the root", &[(b"sub", 0o160_000)], &["outside-layout", "submodule"]),
    ("executable", &[(b"00_general_rules/a.md", 0o100_755)], &["executable"]),
    ("group-writable", &[(b"00_general_rules/a.md", 0o100_664)], &["odd-mode"]),
    ("profile that is a link", &[(b".skilltrain.toml", 0o120_000)], &["symlink"]),
    ("root", &[(b"NOTES.md", PLAIN)], &["outside-layout"]),
    ("other folder", &[(b"03_more/a.md", PLAIN)], &["outside-layout"]),
    ("folder as file", &[(b"00_general_rules", PLAIN)], &["outside-layout"]),
    ("deep", &[(b"00_general_rules/a/b.md", PLAIN)], &["nested-too-deep"]),
    ("text file", &[(b"00_general_rules/a.txt", PLAIN)], &["not-markdown"]),
    ("capital ending", &[(b"00_general_rules/a.MD", PLAIN)], &["not-markdown"]),
    (".git", &[(b"00_general_rules/.git/config", PLAIN)], &["git-folder"]),
    (".GIT", &[(b".GIT", PLAIN)], &["git-folder"]),
    ("short name", &[(b"git~1/x", PLAIN)], &["git-folder"]),
    (".git.", &[(b"00_general_rules/.git./x.md", PLAIN)], &["git-folder", "odd-path"]),
    ("HFS .git", &[("00_general_rules/.g\u{200c}it".as_bytes(), PLAIN)], &["git-folder", "odd-path"]),
    ("attributes", &[(b".gitattributes", PLAIN)], &["git-file"]),
    ("ignore", &[(b"00_general_rules/.gitignore", PLAIN)], &["git-file"]),
    ("modules", &[(b".gitmodules", PLAIN)], &["git-file"]),
    ("env", &[(b".env", PLAIN)], &["hidden-file"]),
    ("hidden card", &[(b"00_general_rules/.a.md", PLAIN)], &["hidden-file"]),
    ("profile elsewhere", &[(b"00_general_rules/.skilltrain.toml", PLAIN)], &["hidden-file"]),
    ("case", &[(b"00_general_rules/A.md", PLAIN), (b"00_general_rules/a.md", PLAIN)], &["case-only-difference"]),
    ("twice", &[(b"00_general_rules/a.md", PLAIN), (b"00_general_rules/a.md", PLAIN)], &["duplicate-path"]),
    ("not UTF-8", &[(b"00_general_rules/\xff.md", PLAIN)], &["path-not-utf8"]),
    ("not UTF-8 link", &[(b"\xff", 0o120_000)], &["path-not-utf8", "symlink"]),
    ("control", &[(b"00_general_rules/a\x1b[2J.md", PLAIN)], &["odd-path"]),
    ("colon", &[(b"00_general_rules/a:b.md", PLAIN)], &["odd-path"]),
    ("turned", &[("00_general_rules/a\u{202e}dm.md".as_bytes(), PLAIN)], &["odd-path"]),
    ("empty part", &[(b"00_general_rules//a.md", PLAIN)], &["nested-too-deep", "odd-path"]),
    ("device", &[(b"00_general_rules/con.md", PLAIN)], &["reserved-name"]),
    ("long", &[(&LONG, PLAIN)], &["name-too-long"]),
];

/// `00_general_rules/xxx...x.md` with a name of 256 bytes.
static LONG: [u8; 273] = {
    let mut path = [b'x'; 273];
    let (start, end) = (b"00_general_rules/", b".md");
    let mut at = 0;
    while at < start.len() {
        path[at] = start[at];
        at += 1;
    }
    at = 0;
    while at < end.len() {
        path[270 + at] = end[at];
        at += 1;
    }
    path
};

fn lint(paths: &[(&[u8], u32)]) -> Vec<Problem> {
    let entries: Vec<Entry<'_>> = paths.iter().map(|(path, mode)| Entry { path, mode: *mode }).collect();
    lint_tree(&Profile::default_rules(), &entries)
}

#[test]
fn each_row_has_its_problems_and_no_others() {
    for (what, paths, codes) in ROWS {
        let problems = lint(paths);
        let mut found: Vec<&str> = problems.iter().map(|problem| problem.code.as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, *codes, "{what}");
        assert!(
            problems
                .iter()
                .all(|problem| !problem.to_string().contains(|char: char| char.is_control() && char != '\n'))
        );
    }
}

#[test]
fn problems_are_sorted_and_hints_say_where_to() {
    let problems = lint(&[
        (b"z.md", PLAIN),
        (b"00_general_rules/x/y.md", PLAIN),
        (b"00_General_Rules/a.md", PLAIN),
        (b"01_craft_elements/a.txt", 0o100_755),
    ]);
    let report = Report { problems, cards: 0 };
    insta::assert_snapshot!(report.to_string(), @r"
    00_General_Rules/a.md: outside-layout: `00_General_Rules` is not a folder of the profile
      hint: did you mean `00_general_rules`?
    00_general_rules/x/y.md: nested-too-deep: a file in a folder of a folder
      hint: move it to `00_general_rules/`
    01_craft_elements/a.txt: executable: the executable bit is set
      hint: clear it with `chmod -x`
    01_craft_elements/a.txt: not-markdown: not a .md file
      hint: a card's name ends in `.md`; remove anything else
    z.md: outside-layout: a file at the pool's root
      hint: cards lie in 00_general_rules, 01_craft_elements, 02_genre_specifics; nothing but them and .skilltrain.toml belongs in a pool
    ");
}
