use super::*;

fn plain(text: &str) -> Vec<String> {
    tokens(text)
        .into_iter()
        .map(|token| match token {
            Token::Word(word) => word.literal().unwrap_or_else(|| "?".into()),
            other => format!("{other:?}"),
        })
        .collect()
}

#[test]
fn words_and_operators() {
    let rows: &[(&str, &[&str])] = &[
        ("cat 'a b' \"c d\" e\\ f", &["cat", "a b", "c d", "e f"]),
        ("a && b||c;d|e&", &["a", "And", "b", "Break", "c", "Break", "d", "Pipe", "e", "Break"]),
        (
            "cat < in > out 2>&1 2>/dev/null",
            &["cat", "ReadFrom", "in", "WriteTo", "out", "WriteTo", "1", "WriteTo", "/dev/null"],
        ),
        ("cat <<'END' && x\nbody < y\nEND\nz", &["cat", "And", "x", "Break", "z"]),
        ("cat <<-END\n\ta\n\tEND\nz", &["cat", "Break", "z"]),
        ("x # no\ny", &["x", "Break", "y"]),
        ("cat <<< word", &["cat", "Text", "word"]),
        ("cat $f \"${g%.md}\" $(ls) `pwd`", &["cat", "?", "?", "?", "?"]),
        ("open 'quote", &["open", "quote"]),
        ("cat <<END", &["cat"]),
        ("é\\", &["é"]),
    ];
    for (text, wanted) in rows {
        assert_eq!(plain(text), *wanted, "{text}");
    }
}

#[test]
fn a_program_is_split_only_when_no_shell_is_needed() {
    assert_eq!(split("./agent --flag 'a b'").unwrap(), ["./agent", "--flag", "a b"]);
    for text in ["", "a | b", "a 'b", "a $HOME", "a \\"] {
        assert_eq!(split(text), None, "{text}");
    }
}

proptest::proptest! {
    #[test]
    fn nothing_makes_it_fail(text in "[ -~\\n\\t\u{e9}]{0,80}") {
        tokens(&text);
        split(&text);
    }
}
