use super::*;
use crate::ground::error::Kind;

fn spec(name: &str) -> Spec {
    Spec::parse(name).unwrap().unwrap()
}

fn env(variables: &[(&str, &str)]) -> Env {
    Env::of("skilltrain", variables.iter().copied())
}

fn url(name: &str, variables: &[(&str, &str)]) -> String {
    spec(name).endpoint(&env(variables)).unwrap().url
}

#[test]
fn a_name_parses_and_prints_the_same() {
    for name in [
        "openai:gpt-5",
        "openai:org/model:free@https://openrouter.ai/api/v1",
        "openai:m@http://[::1]:8080/v1",
        "openai:odd@model@http://localhost:1",
        "anthropic:claude-sonnet-4-5",
        "ollama:qwen3:8b@http://127.0.0.1:11434",
    ] {
        assert_eq!(spec(name).to_string(), name);
    }
    assert_eq!(spec("openai:m@http://h/v1/").to_string(), "openai:m@http://h/v1");
    assert_eq!(Spec::parse("claude:opus").unwrap(), None);
    assert_eq!(Spec::parse("extractive").unwrap(), None);
}

#[test]
fn a_wrong_name_is_refused_without_its_secrets() {
    for name in [
        "openai",
        "openai:",
        "openai:@http://h",
        "openai:a b",
        "anthropic:-x",
        "openai:m@localhost:8080/v1",
        "openai:m@",
        "openai:m@http://",
        "openai:m@http://user:hunter2@h/v1",
        "openai:m@https://h/v1?key=hunter2",
    ] {
        let error = Spec::parse(name).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage, "{name}: {error}");
        assert!(!format!("{error:?} {error}").contains("hunter2"), "{error}");
        assert!(error.hints()[0].contains("anthropic:MODEL"));
    }
}

#[test]
fn requests_go_below_the_base() {
    assert_eq!(url("openai:m", &[]), "https://api.openai.com/v1/chat/completions");
    assert_eq!(url("openai:m@http://127.0.0.1:80", &[]), "http://127.0.0.1:80/v1/chat/completions");
    assert_eq!(url("openai:m@http://h/api/v1", &[]), "http://h/api/v1/chat/completions");
    assert_eq!(url("openai:m", &[("OPENAI_BASE_URL", "http://h/x/")]), "http://h/x/chat/completions");
    assert_eq!(url("anthropic:m", &[]), "https://api.anthropic.com/v1/messages");
    assert_eq!(url("anthropic:m@http://h/v1", &[]), "http://h/v1/messages");
    assert_eq!(url("ollama:m", &[]), "http://127.0.0.1:11434/v1/chat/completions");
    assert_eq!(url("ollama:m@http://h:1/v1", &[]), "http://h:1/v1/chat/completions");
    for (value, base) in
        [("0.0.0.0", "127.0.0.1:11434"), (":99", "127.0.0.1:99"), ("box:7", "box:7"), ("http://box", "box")]
    {
        assert_eq!(url("ollama:m", &[("OLLAMA_HOST", value)]), format!("http://{base}/v1/chat/completions"));
    }
    assert_eq!(
        url("openai:d@https://x.openai.azure.com/openai/deployments/d?api-version=2024-10-21", &[]),
        "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21"
    );
    let error = spec("openai:m").endpoint(&env(&[("OPENAI_BASE_URL", "nonsense")])).unwrap_err();
    assert!(error.to_string().contains("OPENAI_BASE_URL"), "{error}");
}

#[test]
fn loopback_is_told_apart() {
    for (host, yes) in
        [("localhost", true), ("127.9.9.9", true), ("[::1]", true), ("a.localhost", true), ("10.0.0.1", false)]
    {
        let endpoint = spec(&format!("openai:m@http://{host}:1/v1")).endpoint(&env(&[])).unwrap();
        assert_eq!(endpoint.is_loopback, yes, "{host}");
    }
}

#[test]
fn a_key_goes_only_where_it_should() {
    let key = |name: &str, variables: &[(&str, &str)], named: Option<&str>| {
        let env = env(variables);
        let spec = spec(name);
        spec.key(&env, &spec.endpoint(&env).unwrap(), named).map(|key| key.map(|key| key.expose().to_owned()))
    };
    let set = [("OPENAI_API_KEY", "k1"), ("AZURE_OPENAI_API_KEY", "k2"), ("MINE", "k3")];
    assert_eq!(key("openai:m", &set, None).unwrap().as_deref(), Some("k1"));
    assert_eq!(key("openai:m@https://x.openai.azure.com/openai/v1", &set, None).unwrap().as_deref(), Some("k2"));
    assert_eq!(key("openai:m@http://127.0.0.1:1", &set, None).unwrap().as_deref(), Some("k1"));
    assert_eq!(key("openai:m@http://127.0.0.1:1", &[], None).unwrap(), None);
    assert_eq!(key("openai:m@http://far.example", &set, None).unwrap(), None, "in the clear, and not asked for");
    assert_eq!(key("openai:m@http://far.example", &set, Some("MINE")).unwrap().as_deref(), Some("k3"));
    let error = key("anthropic:m", &set, None).unwrap_err();
    assert_eq!(error.kind(), Kind::Unreachable);
    assert!(error.hints()[0].contains("ANTHROPIC_API_KEY"));
    assert!(key("openai:m", &set, Some("OTHER")).unwrap_err().to_string().contains("OTHER"));
}
