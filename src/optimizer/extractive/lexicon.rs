//! The word lists of the extractive optimizer: general English, and nothing about any field of work.
//!
//! A part-of-speech tagger would need a model; instructions in reports begin with so few words that lists do.

use std::collections::HashSet;
use std::sync::LazyLock;

/// Whether `list` holds `word` (lower case).
pub(super) fn is(list: &[&str], word: &str) -> bool {
    list.contains(&word)
}

/// Whether `word` is a function word. Every word of the pool is asked, so this one is hashed.
pub(super) fn is_stop(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP.iter().copied().collect());
    WORDS.contains(word)
}

/// Verbs that an instruction may begin with, in the base form.
pub(super) const VERBS: &[&str] = &[
    "abbreviate", "accept", "account", "acknowledge", "add", "address", "adjust", "admit", "adopt", "agree", "aim",
    "align", "allow", "allot", "alternate", "anchor", "annotate", "announce", "answer", "apologise", "apologize",
    "append", "apply", "approve", "arrange", "ask", "assert", "assign", "assume", "attach", "avoid", "back",
    "balance", "base", "batch", "be", "begin", "bind", "block", "book", "break", "bring", "budget", "build", "bundle",
    "cache", "calculate", "call", "cancel", "cap", "carry", "cast", "catch", "change", "charge", "check", "choose",
    "cite", "clarify", "clean", "clear", "close", "collect", "combine", "comment", "commit", "compare", "compile",
    "complete", "compress", "compute", "condense", "confirm", "connect", "consider", "consult", "contact", "continue",
    "convert", "copy", "count", "cover", "create", "credit", "cross-check", "cut", "date", "deal", "decide",
    "declare", "default", "define", "delay", "delete", "deliver", "deny", "describe", "design", "detect", "determine",
    "develop", "disable", "discard", "display", "distinguish", "divide", "do", "document", "double-check", "draft",
    "draw", "drop", "edit", "eliminate", "emphasise", "emphasize", "enable", "encode", "end", "enforce", "ensure",
    "enter", "escalate", "escape", "estimate", "evaluate", "examine", "exclude", "expand", "expect", "explain", "explore",
    "export", "express", "extend", "extract", "fail", "fetch", "fill", "filter", "find", "finish", "fit", "fix",
    "flag", "focus", "follow", "forbid", "force", "format", "formulate", "generate", "get", "give", "go", "greet", "group",
    "guard", "handle", "have", "hold", "identify", "ignore", "implement", "import", "improve", "include", "increase",
    "indent", "indicate", "inform", "initialise", "initialize", "insert", "insist", "inspect", "install", "introduce",
    "invent", "invert", "invoke", "isolate", "join", "justify", "keep", "label", "lay", "lead", "learn", "leave",
    "let", "limit", "link", "list", "load", "lock", "log", "look", "lower", "maintain", "make", "map", "mark",
    "match", "measure", "mention", "merge", "mind", "minimise", "minimize", "mirror", "mix", "mock", "move", "name",
    "negotiate", "normalise", "normalize", "note", "notify", "number", "obey", "offer", "omit", "open", "order",
    "organise", "organize", "outline", "pack", "paraphrase", "parse", "pass", "paste", "pause", "pay", "perform",
    "phrase", "pick", "pin", "place", "plan", "point", "post", "prefer", "prefix", "prepare", "present", "preserve",
    "prevent", "print", "prioritise", "prioritize", "produce", "prompt", "proofread", "propose", "protect", "prove",
    "provide", "publish", "pull", "push", "put", "qualify", "query", "question", "quote", "raise", "rank", "reach",
    "read", "rebase", "rebuild", "recheck", "recommend", "record", "recover", "reduce", "refer", "reference",
    "refuse", "reject", "release", "rely", "remember", "remind", "remove", "rename", "render", "repeat", "rephrase",
    "replace", "reply", "report", "request", "require", "reread", "reserve", "resolve", "respect", "respond",
    "restate", "restrict", "retry", "return", "reuse", "reveal", "revert", "review", "revise", "rewrite", "round",
    "route", "run", "save", "say", "scan", "schedule", "search", "select", "send", "separate", "serve", "set",
    "share", "shorten", "show", "sign", "simplify", "skip", "solve", "sort", "speak", "specify", "spell", "split",
    "stage", "start", "state", "stay", "step", "stick", "stop", "store", "structure", "study", "submit", "suggest",
    "summarise", "summarize", "supply", "support", "surface", "swap", "switch", "tag", "take", "talk", "target",
    "teach", "tell", "test", "thank", "think", "throw", "tie", "touch", "trace", "track", "translate", "treat",
    "trim", "trust", "try", "turn", "type", "understand", "undo", "update", "upgrade", "upload", "use", "utilise",
    "utilize", "validate", "vary", "verify", "wait", "walk", "warn", "wash", "watch", "weave", "weigh", "work",
    "wrap", "write",
];

/// Words that a verb's object begins with.
pub(super) const OBJECT_STARTS: &[&str] =
    &["the", "a", "an", "your", "each", "every", "all", "any", "its", "their", "both", "these", "those"];

/// First words before an article that are no verbs.
pub(super) const NOT_VERBS: &[&str] = &[
    "like", "unlike", "even", "quite", "half", "twice", "once", "throughout", "despite", "across", "along", "against",
    "among", "behind", "beside", "besides", "beyond", "over", "near", "since", "than", "though", "although", "through",
    "toward", "towards", "underneath", "inside", "outside", "alongside", "amid", "concerning", "worse", "most", "much",
    "many", "more", "less", "none", "nothing", "often", "maybe", "perhaps", "sometimes", "soon", "still", "there", "overall",
    "everyone", "somehow", "yes", "well", "good", "great", "bad", "right", "wrong", "true", "false", "nice", "about", "above",
    "below", "instead", "except", "however", "never", "always", "what", "gave", "took", "made", "wrote", "said", "told",
    "left", "lost", "kept", "spent", "sent", "went", "came", "broke", "chose", "forgot", "began", "held", "meant", "paid",
    "found", "thought", "taught", "built", "felt", "brought", "caught", "knew", "grew", "drew", "threw", "spoke", "stole",
    "cost", "hurt", "quit", "shut", "upset", "same", "late", "early", "whole", "main", "final", "next", "prior", "past",
];

/// Words for an attempt, or for whoever made it.
pub(super) const ATTEMPTS: &[&str] = &[
    "reply", "replies", "attempt", "attempts", "model", "agent", "assistant", "report", "answer", "answers", "response",
    "responses", "draft", "output", "models", "agents", "assistants",
];

/// Words before an instruction's verb that don't change that it is one.
pub(super) const OPENERS: &[&str] = &[
    "always", "please", "instead", "also", "then", "first", "firstly", "next", "second", "third", "finally", "so",
    "and", "but", "rather", "simply", "just", "only", "lastly", "therefore", "hence", "explicitly", "clearly",
    "carefully", "preferably", "generally", "ideally", "again", "here", "thus",
];

/// Words that begin a condition or a circumstance, which a comma parts from its instruction.
pub(super) const CONDITIONS: &[&str] = &[
    "when", "whenever", "if", "before", "after", "for", "unless", "once", "while", "until", "in", "on", "at", "with",
    "to", "by", "where", "wherever", "as", "without", "during", "from", "under", "within", "given", "since",
    "because", "should", "every", "instead", "rather", "next", "between",
];

/// Finite verbs that show that the word before them was a noun.
pub(super) const FINITE: &[&str] = &[
    "is", "are", "was", "were", "has", "had", "did", "does", "of", "became", "got", "went", "seems", "seemed",
    "said", "says", "wrote", "gave", "gives", "made", "used", "took", "ran", "broke", "lacks", "needs", "shows", "uses",
    "contains", "comes", "came", "fails", "ignores", "remains", "stays", "looks", "reads", "sounds", "covers", "breaks",
];

/// Words after which a finite verb belongs to a clause of its own.
pub(super) const CLAUSE_STARTS: &[&str] = &[
    "that", "what", "which", "when", "if", "whether", "how", "who", "whom", "where", "why", "it", "they", "you", "he",
    "she", "we", "each", "every", "the", "a", "an", "all", "only", "as", "before", "after", "until", "any", "no",
];

/// What an instruction in the third person is said of: it is turned into a plain instruction.
pub(super) const ACTORS: &[&str] = &[
    "reply", "replies", "answer", "answers", "response", "responses", "model", "agent", "assistant", "attempt",
    "attempts", "models", "agents", "assistants", "it", "they", "you", "we", "author", "writer", "output", "draft", "one", "system",
];

/// Lead-ins before a colon that announce advice.
pub(super) const ADVICE_LABELS: &[&str] = &[
    "fix", "rule", "advice", "remedy", "lesson", "recommendation", "suggestion", "instead", "better", "action",
    "solution", "todo", "to do", "next time", "what to do", "guidance", "correction", "instruction", "do this",
    "should", "improvement", "takeaway", "do", "the fix", "the rule", "how to fix", "proposal", "in future", "so",
];

/// Lead-ins and column heads that announce the right value or answer.
pub(super) const VALUE_LABELS: &[&str] = &[
    "expected", "correct", "correct value", "correct answer", "right value", "right answer", "should be", "reference",
    "should have been", "expected value", "expected answer", "truth", "the right value", "the right answer",
    "right is", "what is right", "what would be right", "what was right",
];

/// Lead-ins and column heads before what was asked, said or done: never advice.
pub(super) const SPEECH_LABELS: &[&str] = &[
    "asked", "ask", "question", "prompt", "input", "said", "reply", "the reply", "answer", "answered", "output",
    "got", "actual", "wrote", "attempt", "quote", "quoted", "response", "observed", "user", "assistant", "context",
    "example", "transcript", "draft", "original", "was", "given",
];

/// Lead-ins of what explains a fault: never advice.
pub(super) const CAUSE_LABELS: &[&str] = &[
    "cause", "root cause", "reason", "why", "effect", "impact", "problem", "issue", "symptom", "evidence", "result",
    "consequence", "what happened", "why it matters", "severity", "priority", "status", "score", "verdict", "location",
];

/// Labels before what must not be done, or what was done badly.
pub(super) const FORBIDDEN_LABELS: &[&str] = &[
    "never", "no", "not", "don't", "don'ts", "donts", "dont", "do not", "avoid", "not good", "wrong", "bad", "forbidden",
    "not allowed", "prohibited", "disallowed", "banned", "anti-pattern", "anti-patterns", "antipatterns", "not ok",
    "what not to do", "must not", "should not", "incorrect", "worse", "not like this", "not this", "poor", "not right",
    "unacceptable", "stop", "not wanted", "undesired", "to avoid", "dos and don'ts",
];

/// Labels before what was asked for.
pub(super) const ASKED_LABELS: &[&str] = &[
    "request", "requests", "task", "customer", "user", "client", "caller", "question", "asked", "prompt", "ticket",
    "user request", "query", "assignment", "instruction given", "the ask", "scenario", "user story",
];

/// Labels before what was done.
pub(super) const DONE_LABELS: &[&str] = &[
    "did", "done", "agent", "model", "assistant", "bot", "before", "mistake", "mistakes", "mistakes made", "actual",
    "observed", "observed behaviour", "observed behavior", "steps taken", "actions taken", "action taken", "what happened",
    "log", "logs", "trace", "timeline", "was done", "instead of", "what was done", "what was said", "current", "they did",
    "it did", "attempted", "executed", "ran", "performed", "submitted", "submission",
];

/// Labels that may introduce what is right as well as what was done, and the sections of our own reports that no rule
/// may be read back from.
pub(super) const DOUBT_LABELS: &[&str] = &[
    "after", "example", "examples", "now", "later", "then", "alternative", "alternatives", "option", "options", "maybe",
    "hypothesis", "not understood", "advice that no card may hold", "findings without advice", "left alone", "checklist",
];

/// Who makes an attempt.
pub(super) const MAKERS: &[&str] = &[
    "agent", "agents", "assistant", "model", "bot", "ai", "llm", "attempt", "candidate", "it", "they", "student", "system",
];

/// Who asks for work.
pub(super) const ASKERS: &[&str] = &["user", "customer", "client", "caller", "requester", "visitor", "asker"];

/// What is made in an attempt, or asked for.
pub(super) const MADE: &[&str] = &[
    "query", "request", "message", "reply", "replies", "answer", "answers", "question", "questions", "output", "action",
    "actions", "step", "steps", "response", "code", "solution", "attempt", "example", "examples", "approach", "way",
    "practice", "practices", "pattern", "patterns", "version", "usage", "behaviour", "behavior", "value", "result",
    "wording", "text", "draft", "command", "commands", "plan", "prompt", "input",
];

/// First words of labels over what an attempt made.
pub(super) const OF_ATTEMPTS: &[&str] = &[
    "actual", "observed", "original", "current", "received", "produced", "generated", "submitted", "given", "previous",
];

/// Verbs of what was done.
pub(super) const DID: &[&str] = &[
    "did", "said", "took", "made", "wrote", "sent", "returned", "produced", "gave", "answered", "replied", "asked",
    "wanted", "tried", "used", "ran", "executed", "performed", "claimed", "told", "done", "taken", "does", "says", "wants",
    "generated", "submitted", "got", "happened", "requested",
];

/// Verbs of whoever keeps the cards.
pub(super) const EDITS: &[&str] = &[
    "add", "delete", "remove", "update", "edit", "create", "merge", "split", "rename", "extend", "widen", "narrow",
    "change", "correct", "fix", "move", "rewrite", "revise", "reword", "adjust", "improve", "drop", "replace", "insert",
    "shorten", "expand", "restructure", "introduce", "retire", "write", "make",
];

/// What they are kept as.
pub(super) const POOL_NOUNS: &[&str] =
    &["card", "cards", "description", "descriptions", "rule", "rules", "pool", "prompt", "prompts", "skill", "skills"];

/// Signs before what must not be done.
pub(super) const FORBIDDING_SIGNS: &[&str] = &["✗", "✘", "❌", "🚫", "⛔", "👎", "✖", "❎", "🛑"];

/// Labels of sentences that name the works behind a finding.
pub(super) const WORK_LABELS: &[&str] = &[
    "works", "work", "seen in", "from", "found in", "reported by",
];

/// Words of headings that only order a report and name no part of the work.
pub(super) const REPORT_WORDS: &[&str] = &[
    "loss", "report", "reports", "question", "questions", "across", "overall", "summary", "finding", "findings",
    "detail", "details", "problem", "problems", "issue", "issues", "wrong", "went", "advice", "recommendation",
    "recommendations", "recurring", "pattern", "patterns", "common", "commonality", "lesson", "lessons", "note",
    "notes", "improve", "improvement", "improvements", "failure", "failures", "error", "errors", "mistake",
    "mistakes", "fix", "fixes", "next", "time", "result", "results", "score", "scores", "analysis", "review",
    "general", "shared", "share", "works", "work", "item", "items", "task", "tasks", "step", "steps", "feedback",
    "critique", "observations", "observation", "conclusion", "introduction", "overview", "weakness", "weaknesses",
    "what", "rules", "rule", "all", "cards", "misled", "once", "one", "only", "reported", "take", "away", "takeaways",
    "verdict", "evidence", "suggestion", "suggestions", "behaviour", "behavior", "facts", "values", "process", "quality", "outcome", "outcomes",
    "performance", "action", "actions", "todo", "list", "table", "main", "major",
    "minor", "critical",
];

/// First words of labels that name a fault rather than a part of the work.
pub(super) const PROBLEM_STARTS: &[&str] = &[
    "no", "not", "missing", "lack", "lacks", "lacking", "too", "bad", "wrong", "unclear", "weak", "inconsistent",
    "incorrect", "poor", "never", "without", "over", "under", "excessive", "fails", "ignores", "invents", "repeats",
    "forgets", "forgot", "ignored", "failed", "repeated", "unnecessary", "broken", "invalid", "incomplete", "unused",
    "untested", "hardcoded", "overuse", "misuse", "confusing", "misleading", "outdated", "stale", "vague", "slow",
];

/// Phrases of headings over what went right.
pub(super) const PRAISE: &[&str] = &[
    "went right", "went well", "what worked", "worked well", "works well", "strength", "was right", "were right",
    "done well", "did well", "praise", "positive", "keep doing", "what is right", "what was good", "good points",
    "what is good", "success", "already right", "reinforce",
];

/// Headings or marks that are praise when they stand alone.
pub(super) const RIGHT_MARKS: &[&str] = &[
    "right", "correct", "good", "ok", "pass", "passed", "fine", "✓", "✔", "✅", "yes", "success", "true", "well done",
];

/// Marks of what went wrong.
pub(super) const WRONG_MARKS: &[&str] = &[
    "wrong", "incorrect", "bad", "fail", "failed", "partly", "partial", "✗", "✘", "❌", "no", "missing", "error",
    "false", "partly wrong", "partly right", "half right", "poor", "weak",
];

/// Phrases that say that a card's content misled.
pub(super) const STALE: &[&str] = &[
    "out of date", "outdated", "out-of-date", "stale", "no longer", "obsolete", "superseded", "wrong value", "misled",
    "misleads", "misleading", "is wrong", "was wrong", "incorrect", "old value", "contradicts", "is not true",
];

/// Phrases that say that a card was read where it does not apply.
pub(super) const MISAPPLIED: &[&str] = &[
    "does not apply", "did not apply", "doesn't apply", "didn't apply", "not meant for", "is irrelevant",
    "was irrelevant", "wrong card", "is not for", "was not for", "has nothing to do with",
    "should not have been read", "should not have been applied", "out of place",
];

/// Phrases that say that a card was not read though it should have been.
pub(super) const UNREAD: &[&str] = &[
    "was not read", "not read", "was not opened", "not opened", "never opened", "never read", "was never read",
    "should have been read", "should have been opened", "did not read", "did not open", "went unread", "left unread",
    "didn't open", "didn't read",
];

/// Function words: they carry no meaning of their own in a comparison.
pub(super) const STOP: &[&str] = &[
    "a", "about", "all", "also", "always", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being", "both",
    "but", "by", "can", "could", "did", "do", "does", "doing", "each", "either", "else", "etc", "every", "for",
    "from", "get", "had", "has", "have", "having", "he", "her", "here", "him", "his", "how", "i", "if", "in",
    "instead", "into", "is", "it", "its", "itself", "just", "let", "may", "me", "might", "must", "my", "of", "on",
    "onto", "or", "our", "ought", "own", "per", "please", "rather", "s", "shall", "she", "should", "simply", "so",
    "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to",
    "too", "up", "upon", "us", "very", "via", "was", "we", "were", "what", "when", "where", "whether", "which",
    "while", "who", "will", "with", "would", "you", "your", "thing", "things", "anything", "something", "everything", "anyone", "someone", "everyone",
];

/// Words that negate the clause they stand in.
pub(super) const NEGATIONS: &[&str] = &[
    "not", "never", "no", "none", "nor", "neither", "without", "avoid", "cannot", "nothing", "don't", "doesn't",
    "didn't", "can't", "won't", "isn't", "aren't", "mustn't", "shouldn't", "wasn't", "weren't",
];

/// Pairs of words of which one says the contrary of the other.
pub(super) const OPPOSITES: &[(&str, &str)] = &[
    ("before", "after"), ("above", "below"), ("first", "last"), ("start", "end"), ("begin", "end"), ("open", "close"),
    ("more", "less"), ("more", "fewer"), ("minimum", "maximum"), ("min", "max"), ("left", "right"),
    ("north", "south"), ("east", "west"), ("increase", "decrease"), ("upper", "lower"), ("raise", "lower"),
    ("inside", "outside"), ("longer", "shorter"), ("long", "short"), ("past", "present"), ("early", "late"),
    ("enable", "disable"), ("include", "exclude"), ("add", "remove"), ("accept", "reject"), ("allow", "forbid"),
    ("formal", "informal"), ("public", "private"), ("least", "most"), ("same", "different"), ("singular", "plural"),
    ("active", "passive"),
];

/// Words before a noun: they keep a small first letter inside a sentence.
pub(super) const DETERMINERS: &[&str] = &[
    "the", "a", "an", "every", "each", "all", "any", "no", "some", "this", "these", "those", "its", "their", "your",
];

/// Abbreviations whose full stop ends no sentence.
pub(super) const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "eg", "ie", "vs", "cf", "mr", "mrs", "ms", "dr", "no", "nr", "st", "approx", "fig", "ca", "p", "pp",
];
