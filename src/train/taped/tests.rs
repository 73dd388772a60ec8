use super::*;

fn call(place: &str) -> Call {
    Call { what: "merge".into(), place: place.into(), digest: "0123456789abcdef".into() }
}

#[test]
fn what_was_written_is_known_and_what_was_not_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let tape = Tape::recorded(Recording::open(&path).unwrap(), &path).unwrap();
    assert_eq!(tape.ask(&call("a"), || Ok(7)).unwrap(), 7);
    assert_eq!(tape.ask(&call("a"), || Ok(8)).unwrap(), 7, "paid once");
    tape.write(&call("b"), 4, &"fourth").unwrap();
    tape.write(&call("b"), 2, &"second").unwrap();
    let tape = Tape::replayed(&path).unwrap();
    assert_eq!(tape.ask(&call("a"), || Ok(9)).unwrap(), 7);
    assert_eq!(tape.nth::<String>(&call("b"), 1).unwrap().unwrap(), "second");
    assert_eq!(tape.nth::<String>(&call("b"), 2).unwrap().unwrap(), "fourth");
    assert_eq!(tape.nth::<String>(&call("b"), 3).unwrap(), None);
    let error = tape.ask::<u8>(&call("c"), || panic!("nobody may be started")).unwrap_err();
    assert_eq!(error.kind(), Kind::Failed);
    assert!(error.to_string().contains("holds no answer to the call 0123456789ab of the merge at c"), "{error}");
}

#[test]
fn a_line_of_a_newer_version_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    files::write(&path, "{\"kind\":\"taped\",\"version\":9}\n{\"kind\":\"tap").unwrap();
    assert!(Tape::replayed(&path).unwrap_err().to_string().contains("newer"));
}
