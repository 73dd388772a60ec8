//! Rows of cards: what they are, their bytes made by a function, the problems they have.

use super::*;

/// Which helper makes the card of the text.
pub(super) enum Make {
    /// The text is the whole file.
    File,
    /// The text is the front matter.
    Yaml,
    /// The text is what stands below the heading.
    Rules,
}
use Make::{File, Rules, Yaml};

/// How the card is made, of which text, and its problems as `line:code`.
pub(super) const ROWS: &[(Make, &str, &[&str])] = &[
    // Encoding, line ends, control and hidden characters.
    (File, "\u{feff}---\ndescription: Use it now.\n---\n\n## Rules\nSay it.\n", &["1:bom"]),
    (File, "---\r\ndescription: Use it now.\r\n---\r\n\r\n## Rules\r\nSay it.\r\n", &["1:crlf"]),
    (File, "---\ndescription: Use it now.\n---\n\n## Rules\r\nSay it.\n", &["5:mixed-line-ends"]),
    (Rules, "Say it.\rNot that.", &["6:lone-cr"]),
    (Rules, "Say\0 it.", &["6:nul-byte"]),
    (Rules, "Say \u{1b}[8mit\u{7f}.", &["6:control-character"]),
    (Rules, "Say it.\n\nSay \u{85}that.", &["8:control-character"]),
    (Rules, "Say it.\u{2028}Not that.", &["6:odd-line-separator"]),
    (Rules, "Say\u{200b} it.", &["6:hidden-zero-width"]),
    (Rules, "Say \u{202e}ti.", &["6:hidden-bidi"]),
    (Rules, "Say it.\u{e0068}\u{e0069}", &["6:hidden-tag"]),
    (Rules, "Say it😀\u{fe0f}\u{e0100}\u{e0101}.", &["6:hidden-variation"]),
    (Rules, "Say\u{ad}it.", &["6:hidden-soft-hyphen"]),
    (Yaml, "description: Use it\u{200b} now.", &["2:hidden-zero-width"]),
    (Rules, "Sagt es: Größe, 日本語, 👩\u{200d}🚒.", &[]),
    // Markup that is not shown.
    (Rules, "Say it.\n<!-- not this -->", &["7:html-comment"]),
    (Rules, "Say <!-- not --> it.", &["6:html-comment"]),
    (Rules, "Say it.\n\n<div hidden>not this</div>", &["8:html-comment"]),
    (Rules, "Say it.\n\n<p style='display : none'>not</p>", &["8:html-comment"]),
    (Rules, "Say it.\n\n<!-- never closed", &["8:html-comment"]),
    (Rules, "Write `<!-- x -->` for a comment.\n\n```\n<!-- x -->\n```", &[]),
    (Rules, "Write a <br> or an <b>x</b>.", &[]),
    (Rules, "Say it.\n\n[//]: # (not this)", &["8:markdown-comment"]),
    (Rules, "See [the book][b].\n\n[b]: https://example.org", &[]),
    (Rules, "See [B] and ![c][].\n\n[b]: https://example.org\n[C]: d.png \"e\"", &[]),
    // Front matter.
    (File, "", &["1:front-matter-missing"]),
    (File, "## Rules\nSay it.\n", &["1:front-matter-missing"]),
    (File, "\n---\ndescription: a b\n---\n\n## Rules\nSay it.\n", &["1:front-matter-missing"]),
    (File, "---\ndescription: Use it now.\n\n## Rules\nSay it.\n", &["1:front-matter-unclosed"]),
    (Yaml, "description", &["2:front-matter-not-a-mapping"]),
    (Yaml, "- description", &["2:front-matter-not-a-mapping"]),
    (Yaml, "description: \"Use it", &["2:yaml-invalid"]),
    (Yaml, "description: @all", &["2:yaml-invalid"]),
    (Yaml, "description: a b\n\tname: c", &["3:yaml-unquoted-colon"]),
    (Yaml, "description: Use when: asked", &["2:yaml-unquoted-colon"]),
    (Yaml, "description: Use when\n  this: asked", &["3:yaml-unquoted-colon"]),
    (Yaml, "description: Use when:", &["2:yaml-unquoted-colon"]),
    (Yaml, "description: Use C# and #tags", &["2:yaml-unquoted-hash"]),
    (Yaml, "description: # later", &["2:yaml-unquoted-hash"]),
    (Yaml, "description: Use it.\n# why", &["3:yaml-comment"]),
    (Yaml, "# why", &["1:key-missing", "2:yaml-comment"]),
    (Yaml, "description: !important read it", &["2:yaml-indirection"]),
    (Yaml, "description: &a read it", &["2:yaml-indirection"]),
    (Yaml, "description: \"Use when: asked # now\"", &[]),
    (Yaml, "description: >\n  Use when: asked,\n  # and now.", &[]),
    (Yaml, "description: |-\n  Use when\n  asked.", &[]),
    (Yaml, "description: Use when\n  asked.", &[]),
    (Yaml, "description: See https://example.org now.", &[]),
    (Yaml, "", &["1:key-missing"]),
    (Yaml, "descripton: Use it.", &["1:key-missing", "2:key-unknown"]),
    (Yaml, "description: Use it.\nname: x", &["3:key-unknown"]),
    (Yaml, "description: Use it.\n\ndescription: Use it.", &["4:key-duplicate"]),
    (Yaml, "description:", &["2:key-empty"]),
    (Yaml, "description: \"  \"", &["2:key-empty"]),
    (Yaml, "description: >\n", &["2:key-empty"]),
    (Yaml, "description: |\n  \n", &["2:key-empty"]),
    (Yaml, "description: ~", &["2:key-empty"]),
    (Yaml, "description: TODO", &["2:key-placeholder"]),
    (Yaml, "description: \"TODO: say when\"", &["2:key-placeholder"]),
    (Yaml, "description: >\n  tbd", &["2:key-placeholder"]),
    (Yaml, "description: \"...\"", &["2:key-placeholder"]),
    (Yaml, "description: TODO lists and how to keep them.", &[]),
    (Yaml, "description: None of the others fits.", &[]),
    (Yaml, "description: 12", &["2:key-not-text"]),
    (Yaml, "description: [a, b]", &["2:key-not-text"]),
    (Yaml, "description:\n  when: asked", &["2:key-not-text"]),
    (Yaml, "description: yes", &["2:key-not-text"]),
    (
        Yaml,
        "a: &a [x,x]\ndescription: *a",
        &["2:key-unknown", "2:yaml-indirection", "3:key-not-text", "3:yaml-indirection"],
    ),
    // Headings and what stands around them.
    (File, "---\ndescription: Use it now.\n---\n", &["4:heading-missing"]),
    (File, "---\ndescription: Use it now.\n---\n\nSay it.\n", &["4:heading-missing"]),
    (File, "---\ndescription: Use it now.\n---\n\n# Rules\nSay it.\n", &["4:heading-missing"]),
    (File, "---\ndescription: Use it now.\n---\n\n```\n## Rules\n```\n", &["4:heading-missing"]),
    (File, "---\ndescription: Use it now.\n---\n\n## Rule\nSay it.\n", &["5:heading-wrong"]),
    (File, "---\ndescription: Use it now.\n---\n\n## rules\nSay it.\n", &["5:heading-wrong"]),
    (File, "---\ndescription: Use it now.\n---\n\n## Rules ##\nSay it.\n", &["5:heading-wrong"]),
    (File, "---\ndescription: Use it now.\n---\n\nRules\n-----\nSay it.\n", &["5:heading-wrong"]),
    (File, "---\ndescription: Use it now.\n---\n\n## Rules \t\nSay it.\n", &[]),
    (File, "---\ndescription: Use it now.\n---\n## Rules\nSay it.", &[]),
    (File, "---\ndescription: Use it now.\n---\n\n# Title\n\n## Rules\nSay it.\n", &["5:text-before-heading"]),
    (File, "---\ndescription: Use it now.\n---\n\nFirst.\n## Rules\nSay it.\n", &["5:text-before-heading"]),
    (Rules, "Say it.\n\n## More\nAnd that.", &["8:heading-extra"]),
    (Rules, "Say it.\n\nAnd that\n---\n", &["8:heading-extra"]),
    (Rules, "Say it.\n> ## Rules\n> Quoted.", &["7:heading-extra"]),
    (Rules, "Say it.\n\n---\n\n### Third\n```md\n## Rules\n```\n~~~\n## x\n~~~\n    ## y", &[]),
    // Rules that say nothing.
    (Rules, "", &["5:rules-empty"]),
    (Rules, "\n \n", &["5:rules-empty"]),
    (Rules, "-\n- \n*\n1.", &["5:rules-empty"]),
    (Rules, "TODO", &["5:rules-empty"]),
    (Rules, "- **TBD**\n- ...", &["5:rules-empty"]),
    (Rules, "TODO: write this", &["5:rules-empty"]),
    (Rules, "### Later\n\n---", &["5:rules-empty"]),
    (Rules, "<!-- say it -->", &["5:rules-empty", "6:html-comment"]),
    (Rules, "- *Say* it.", &[]),
    (Rules, "```\nsay it\n```", &[]),
    (Rules, "| say |\n|---|\n| it |", &[]),
    (Rules, "5", &[]),
];

#[test]
fn each_row_has_its_problems_and_no_others() {
    for (make, text, problems) in ROWS {
        let card = match make {
            File => (*text).to_string(),
            Yaml => with_yaml(text),
            Rules => with_rules(text),
        };
        assert_eq!(found(card.as_bytes()), *problems, "{card:?}");
    }
}

#[test]
fn bytes_that_are_not_utf8_are_named_and_the_rest_is_checked_too() {
    let mut bytes = with_rules("TODO").into_bytes();
    bytes.extend(b"\n<!-- x \xff -->");
    let problems = linter().card(PATH, &bytes);
    assert_eq!(problems[2].message, "byte 71 (0xff) is not UTF-8");
    assert_eq!(found(&bytes), ["5:rules-empty", "8:html-comment", "8:not-utf8"]);
}

#[test]
fn limits_are_inclusive_and_count_characters() {
    let mut profile = Profile::default_rules();
    (profile.limits.max_lines, profile.limits.max_body_chars, profile.limits.max_description_chars) = (7, 18, 5);
    let linter = Linter::new(&profile).expect("the template compiles");
    let codes = |text: &str| -> Vec<String> {
        linter
            .card(PATH, text.as_bytes())
            .into_iter()
            .map(|problem| format!("{}:{}", problem.line.unwrap_or(0), problem.code))
            .collect()
    };
    assert_eq!(codes("---\ndescription: äöüäö\n---\n\n## Rules\nSäy it\n\n"), [""; 0]);
    assert_eq!(codes("---\ndescription: äöüäöü\n---\n\n## Rules\nSäy it\n\n"), ["2:description-too-long"]);
    assert_eq!(codes("---\ndescription: >\n  äöüäö\n---\n\n## Rules\nSay it\n"), [""; 0]);
    assert_eq!(codes("---\ndescription: a b\n---\n\n## Rules\nSäy it\nab"), ["4:body-too-long"]);
    assert_eq!(codes("---\ndescription: a b\n---\n\n## Rules\na\n\na"), ["8:too-many-lines"]);
}
