//! What an agent can reach from inside each sandbox, and what it cannot.

use std::os::unix::net::UnixListener;
use std::path::Path;

use skilltrain::ground::env::Env;
use skilltrain::ground::error::Kind;
use skilltrain::ground::process::{End, Job, Sandbox, run};
use skilltrain::ground::sandbox::{plan, survey};
use skilltrain::ground::signals::Cancel;

use crate::support::{Place, env, go, good, limiting};

/// Runs a script that must succeed and gives its lines.
fn in_sandbox(sandbox: Sandbox, mut job: Job) -> Vec<String> {
    job.sandbox = sandbox;
    good(&job)
}

#[test]
fn nothing_outside_the_writable_folders_changes() {
    for sandbox in limiting() {
        let place = Place::new();
        let outside = place.path().join("outside");
        let elsewhere = tempfile::tempdir().unwrap();
        let home = tempfile::tempdir_in("/var/tmp").unwrap();
        for folder in [&outside, &elsewhere.path().to_owned(), &home.path().to_owned()] {
            std::fs::create_dir_all(folder).unwrap();
            std::fs::write(folder.join("kept"), "kept\n").unwrap();
        }
        std::os::unix::fs::symlink(&outside, place.checkout().join("link")).unwrap();
        std::os::unix::fs::symlink(outside.join("kept"), place.checkout().join("to-kept")).unwrap();
        let script = format!(
            "O={} E={} H={}; try() {{ if sh -c \"$1\" 2>/dev/null; then echo \"WROTE: $1\"; fi; }}\n\
             try \"echo x > $O/new\"; try \"echo x >> $O/kept\"; try \"mkdir $O/dir\"; try \"rm $O/kept\"\n\
             try \"echo x > ../new\"; try \"echo x > link/new\"; try \"echo x > to-kept\"\n\
             try \"rm link/kept\"; try \"mv $O/kept here\"; try \"mv $O/kept $O/moved\"; try \"mv inside $O/\"\n\
             try \"ln $O/kept hard && echo x > hard\"; try \"ln inside $O/hard\"; try \"ln -s x $O/soft\"\n\
             try \"truncate -s 0 $O/kept\"; try \"mkfifo $O/fifo\"; try \"echo x > $H/kept\"; try \"rm $H/kept\"\n\
             try \"echo x > /proc/self/root$O/kept\"; try \"echo x > /proc/self/cwd/../new\"\n\
             try \"echo x > /etc/skilltrain-was-here\"; try \"echo x > $HOME/skilltrain-was-here\"\n\
             echo x > $E/kept; echo x > $E/new; echo x > /dev/shm/skilltrain-was-here; true",
            outside.display(),
            elsewhere.path().display(),
            home.path().display(),
        );
        std::fs::write(place.checkout().join("inside"), "").unwrap();
        let mut job = place.sh(&script);
        job.readable = vec![outside.clone(), home.path().to_owned()];
        job.env.push(("HOME".into(), "/root".into()));
        assert_eq!(in_sandbox(sandbox, job), Vec::<String>::new(), "{sandbox:?}");
        for folder in [&outside, elsewhere.path(), home.path()] {
            assert_eq!(std::fs::read_to_string(folder.join("kept")).unwrap(), "kept\n", "{sandbox:?}");
            assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1, "{sandbox:?} {}", folder.display());
        }
        for path in ["/etc", "/root", "/dev/shm"] {
            assert!(!Path::new(path).join("skilltrain-was-here").exists(), "{sandbox:?} {path}");
        }
        assert!(!place.path().join("new").exists());
    }
}

#[test]
fn root_inside_has_no_privileges() {
    for sandbox in limiting() {
        let place = Place::new();
        let job = place.sh("grep -E 'Cap(Prm|Eff|Inh|Amb)|NoNewPrivs' /proc/self/status; mknod sda b 8 0 2>/dev/null && echo made; true");
        let lines = in_sandbox(sandbox, job);
        let value = |line: &String| line.split_whitespace().last().unwrap().trim_start_matches('0').to_owned();
        assert_eq!(lines.iter().map(value).collect::<Vec<_>>(), ["", "", "", "", "1"], "{sandbox:?} {lines:?}");
    }
}

#[test]
fn work_inside_goes_on_as_ever() {
    for sandbox in limiting() {
        let place = Place::new();
        let home = place.path().join("home");
        let temporary = home.join("tmp");
        std::fs::create_dir_all(&temporary).unwrap();
        let evidence = tempfile::tempdir().unwrap();
        std::fs::write(evidence.path().join("report.md"), "read me\n").unwrap();
        let mut job = place.sh(&format!(
            "set -e; echo a > a; mkdir -p d/e; mv a d/b; ln d/b d/c; ln -s b d/l; rm -r d/e; cat {}/report.md\n\
             echo x > $HOME/x; f=$(mktemp); echo y > $f; echo z > /dev/null; head -c 9 /dev/urandom > r; sleep 0 & wait\n\
             git init -q . && git add -A && git -c user.name=n -c user.email=e@e commit -qm one && git log --format=%s\n\
             mkfifo p; cat p & echo through > p; wait; ls $TMPDIR | wc -l",
            evidence.path().display()
        ));
        job.env.push(("HOME".into(), home.clone().into()));
        job.env.push(("TMPDIR".into(), temporary.into()));
        job.writable.push(home);
        job.readable = vec![evidence.path().to_owned()];
        assert_eq!(in_sandbox(sandbox, job), ["read me", "one", "through", "1"], "{sandbox:?}");
        assert!(place.checkout().join(".git/refs/heads").exists());
    }
}

#[test]
fn a_program_under_the_temporary_folder_is_found_by_path_and_by_links() {
    for sandbox in limiting() {
        let (place, programs, links) = (Place::new(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let agent = programs.path().join("agent");
        std::fs::write(&agent, "#!/bin/sh\necho agent; helper\n").unwrap();
        let helper = programs.path().join("helper");
        std::fs::write(&helper, "#!/bin/sh\necho helper\n").unwrap();
        for path in [&agent, &helper] {
            std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        }
        let link = links.path().join("link");
        std::os::unix::fs::symlink(&agent, &link).unwrap();
        let mut job = place.sh("");
        job.program = link;
        job.args.clear();
        job.env = vec![("PATH".into(), format!("{}:/usr/bin:/bin", programs.path().display()).into())];
        assert_eq!(in_sandbox(sandbox, job), ["agent", "helper"], "{sandbox:?}");
    }
}

#[test]
fn a_folder_is_writable_through_a_link_to_it() {
    for sandbox in limiting() {
        let place = Place::new();
        let link = place.path().join("link");
        std::os::unix::fs::symlink(place.checkout(), &link).unwrap();
        let mut job = place.sh("echo yes > here && cat here");
        job.cwd = link.clone();
        job.writable = vec![link];
        assert_eq!(in_sandbox(sandbox, job), ["yes"], "{sandbox:?}");
    }
}

#[test]
fn the_trainer_can_be_neither_signalled_nor_read() {
    for sandbox in limiting() {
        let place = Place::new();
        let me = std::process::id();
        let script = if sandbox == Sandbox::Bwrap {
            // In a process namespace of its own the trainer has no number at all.
            let name = std::env::current_exe().unwrap().file_name().unwrap().to_string_lossy().into_owned();
            format!("cat /proc/[0-9]*/comm; ls -l /proc/[0-9]*/exe 2>/dev/null | grep '{name}'")
        } else {
            format!("kill -0 {me} 2>/dev/null && echo signalled; cat /proc/{me}/environ >/dev/null 2>&1 && echo read")
        };
        let mut lines = in_sandbox(sandbox, place.sh(&format!("{script}; true")));
        lines.retain(|line| !["bwrap", "skill-keeper", "sh", "cat"].contains(&line.as_str()));
        assert_eq!(lines, Vec::<String>::new(), "{sandbox:?}");
    }
}

/// Not a test of its own: an agent that tries the sockets named in its environment.
#[test]
fn an_agent_that_tries_sockets() {
    let Some(path) = std::env::var_os("TEST_AGENT_SOCKET") else { return };
    let mut reached = Vec::new();
    if std::os::unix::net::UnixStream::connect(&path).is_ok() {
        reached.push("path");
    }
    #[cfg(target_os = "linux")]
    {
        use std::os::linux::net::SocketAddrExt as _;
        let name = std::env::var("TEST_AGENT_ABSTRACT").unwrap();
        let address = std::os::unix::net::SocketAddr::from_abstract_name(name).unwrap();
        if std::os::unix::net::UnixStream::connect_addr(&address).is_ok() {
            reached.push("abstract");
        }
    }
    std::fs::write("reached", reached.join(" ")).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn sockets_of_others_are_out_of_reach() {
    use std::os::linux::net::SocketAddrExt as _;
    for sandbox in limiting() {
        let place = Place::new();
        let runtime = tempfile::tempdir().unwrap();
        let path = runtime.path().join("docker.sock");
        let _listens = UnixListener::bind(&path).unwrap();
        let name = format!("skilltrain-test-{}-{sandbox:?}", std::process::id());
        let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
        let _listens_too = UnixListener::bind_addr(&address).unwrap();
        let mut job = place.sh("");
        job.program = std::env::current_exe().unwrap();
        job.args = ["--exact", "limits::an_agent_that_tries_sockets"].map(Into::into).into();
        job.env.push(("TEST_AGENT_SOCKET".into(), path.into()));
        job.env.push(("TEST_AGENT_ABSTRACT".into(), name.into()));
        job.sandbox = sandbox;
        good(&job);
        let reached = std::fs::read_to_string(place.checkout().join("reached")).unwrap();
        // Landlock learnt about sockets with a path in its version 9 only.
        let known = if sandbox == Sandbox::Landlock { ["", "path"].as_slice() } else { &[""] };
        assert!(known.contains(&reached.as_str()), "{sandbox:?} reached {reached:?}");
    }
}

#[test]
fn a_sandbox_that_does_not_work_is_refused_with_a_way_to_get_it_and_auto_takes_the_next() {
    let place = Place::new();
    let bin = place.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let bare = |path: &Path| Env::of(env!("CARGO_BIN_EXE_skilltrain"), [("PATH", path)]);
    let without = bare(Path::new("/nowhere"));
    let mut job = place.sh("echo never > never");
    job.sandbox = Sandbox::Bwrap;
    let error = run(&without, &job, &Cancel::default(), &mut |_| {}).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    assert!(error.to_string().contains("not installed"), "{error}");
    assert!(error.hints()[0].contains("apt install bubblewrap"), "{:?}", error.hints());
    assert!(!place.checkout().join("never").exists());

    // Installed, but user namespaces are refused, as in many containers.
    let fake = bin.join("bwrap");
    std::fs::write(&fake, "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n").unwrap();
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let refused = bare(&bin);
    let error = plan(&refused, Sandbox::Bwrap).unwrap_err();
    assert!(error.to_string().contains("No permissions"), "{error}");
    let status = survey(&refused).remove(0);
    assert!(!status.works && status.detail.contains("No permissions") && status.fix.is_some());
    for env in [without, refused] {
        let next = plan(&env, Sandbox::Auto).unwrap();
        let landlock = survey(&env)[1].works;
        assert_eq!(next.name(), if landlock { "landlock" } else { "supervisor" });
        assert_eq!((next.limits_writes(), next.warning.is_none()), (landlock, landlock));
    }
}

#[test]
fn auto_takes_the_best_and_says_which() {
    let best = limiting().first().copied().unwrap_or(Sandbox::Off);
    let place = Place::new();
    let mut job = place.sh("true");
    job.sandbox = Sandbox::Auto;
    let (finished, _) = go(&job);
    assert_eq!(finished.end, End::Exited(0));
    let name = match best {
        Sandbox::Bwrap => "bwrap",
        Sandbox::Landlock => "landlock",
        _ => "supervisor",
    };
    assert_eq!(finished.sandbox, name);
    assert_eq!(survey(&env()).last().unwrap().kind, "supervisor");
}

#[test]
fn bubblewrap_hides_temporary_and_runtime_folders_of_others() {
    if !limiting().contains(&Sandbox::Bwrap) {
        return;
    }
    let (place, other) = (Place::new(), tempfile::tempdir().unwrap());
    std::fs::write(other.path().join("secret"), "").unwrap();
    let script = format!(
        "ls {} 2>/dev/null; ls /run; chmod 700 {} 2>/dev/null && echo changed; touch {} 2>/dev/null && echo touched; true",
        other.path().display(),
        place.path().display(),
        place.path().display(),
    );
    let kept = ["systemd", "nscd", "resolvconf", "current-system", "booted-system", "opengl-driver", "wrappers"];
    let lines = in_sandbox(Sandbox::Bwrap, place.sh(&script));
    assert!(lines.iter().all(|line| kept.contains(&line.as_str())), "{lines:?}");
}
