//! Shapes of secrets, put together at run time so that no scanner of this repository takes them for real ones.

use super::*;

/// Letters and digits that look random.
const RANDOM: &str = "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC2dF4hJ6kL8nP0rS2tV4xY6zA8cD0eG2iK4";

fn random(length: usize) -> &'static str {
    &RANDOM[..length]
}

#[test]
fn secrets_are_found_and_not_repeated() {
    let upper = "Q3SAT5VWY7ZBCDFH";
    for (code, rule) in [
        ("secret", format!("Use AKIA{upper}.")),
        ("secret", format!("Use ghp_{} to push.", random(36))),
        ("secret", format!("github_pat_{}", random(40))),
        ("secret", format!("glpat-{}", random(20))),
        ("secret", format!("OPENAI: sk-proj-{}", random(48))),
        ("secret", format!("sk-{}", random(48))),
        ("secret", format!("sk-ant-api03-{}", random(60))),
        ("secret", format!("xoxb-123456789012-{}", random(24))),
        ("secret", format!("https://hooks.slack.com/services/T12345678/B12345678/{}", random(24))),
        ("secret", format!("AIza{}", random(35))),
        ("secret", format!("ya29.{}", random(40))),
        ("secret", format!("sk_live_{}", random(24))),
        ("secret", format!("npm_{}", random(36))),
        ("secret", format!("pypi-AgE{}", random(40))),
        ("secret", format!("hf_{}", random(34))),
        ("secret", format!("SG.{}.{}", random(22), random(43))),
        ("secret", format!("123456789:AA{}", random(33))),
        ("secret", "-----BEGIN OPENSSH PRIVATE KEY-----".to_string()),
        ("secret", "-----BEGIN PRIVATE KEY-----".to_string()),
        ("secret", format!("eyJ{0}.eyJ{0}.{0}", random(20))),
        ("secret-assignment", format!("password: {}", random(14))),
        ("secret-assignment", format!("API_KEY = \"{}\"", random(24))),
        ("secret-assignment", format!("token={}", random(32))),
        ("secret-assignment", format!("`access-key`: `{}`", random(20))),
        ("secret-assignment", format!("Authorization, auth: Bearer {}", random(30))),
        ("secret-assignment", format!("postgres://app:{}@db.local/x", random(12))),
        ("secret-assignment", "secret = 9f86d081884c7d659a2feaa0c55ad015".to_string()),
    ] {
        let text = with_rules(&rule);
        let problems = linter().card(PATH, text.as_bytes());
        let codes: Vec<_> = problems.iter().map(|problem| (problem.line, problem.code.as_str())).collect();
        assert_eq!(codes, [(Some(6), code)], "{rule}");
        assert!(!problems[0].to_string().contains(&RANDOM[..10]), "{}", problems[0]);
    }
}

#[test]
fn a_secret_in_the_description_is_found_too() {
    assert_eq!(found(with_yaml(&format!("description: Use ghp_{} now.", random(36))).as_bytes()), ["2:secret"]);
}

#[test]
fn prose_is_no_secret() {
    for rule in [
        "The door code of the north gate is 4711.",
        "Token: see commit 59807616e1fa2540724bfbac14d7976d7e4a3860.",
        "token: 550e8400-e29b-41d4-a716-446655440000",
        "The id 550e8400-e29b-41d4-a716-446655440000 is an example.",
        "The digest is e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.",
        "password: <your password here>",
        "password: ${DATABASE_PASSWORD_2024}",
        "Set OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxx in the shell.",
        "api_key = os.environ[\"OPENAI_API_KEY\"]",
        "Secret: the butler-did-it-in-the-library twist comes last.",
        "password: correct-horse-battery-staple",
        "The secret: understatement.",
        "Name classes sk-estimator-with-a-long-name.",
        "Token counts: max_output_tokens_2024_preview",
        "Credentials: https://vault.example.org/path/to/Secret01",
        "postgres://user:password@localhost/db",
        "See -----BEGIN CERTIFICATE-----.",
        "password: changeme1234A",
        "Ask for the token; tokens: 4096.",
        "The author: MacGyver1985Season2",
    ] {
        assert_eq!(found(with_rules(rule).as_bytes()), [""; 0], "{rule}");
    }
}
