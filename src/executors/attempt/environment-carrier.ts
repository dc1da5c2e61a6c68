/**
 * Passes an environment through a shell unchanged.
 *
 * A shell turns its environment into variables, and loses names that cannot be variables, such as `a.b` or the functions of
 * `module` on a cluster, and names with a meaning of its own. If there are such, a program executes the command that first reads
 * the environment of the shim, its parent, from the kernel. The environment is never in an argument, which every user may read. The
 * names that each shell loses were found by experiment: dash 0.5.12, bash 5.2, busybox 1.35.
 */
import { existsSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { runMarks } from '../../contract/files.js';

const notIdentifier = '(?![A-Za-z_]\\w*$).*';
const inAnyShell = ['IFS', 'OPTIND', 'PPID'];
const inBash = [
  ...inAnyShell,
  ...['OPTERR', 'PS1', 'PS2', 'PS4', '_', 'LINENO', 'RANDOM', 'SRANDOM', 'SHELLOPTS', 'POSIXLY_CORRECT', 'HISTCMD'],
  ...['BASH', 'BASHOPTS', 'BASHPID', 'BASH_(?!ENV$).*', 'EPOCHSECONDS', 'EPOCHREALTIME', 'COMP_WORDBREAKS'],
];

/** Names that each shell changes or loses. */
const lost: Readonly<Record<string, RegExp>> = {
  dash: anyOf([notIdentifier, ...inAnyShell]),
  busybox: anyOf([notIdentifier, ...inAnyShell]),
  bash: anyOf(inBash),
};
const lostInUnknown = anyOf([notIdentifier, ...inBash]);

/**
 * The command, preceded by a carrier if its environment would not pass through the shell.
 *
 * @param environment Environment of the command. PWD is always its working directory, and some shells increase SHLVL.
 */
export function carried(
  argv: readonly string[],
  environment: Readonly<Record<string, string>>,
  shell = systemShell,
  carrier = systemCarrier,
): readonly string[] {
  const changed = lost[shell] ?? lostInUnknown;
  for (const name in environment) if (changed.test(name)) return [...carrier(), ...argv];
  return argv;
}

/** The shell behind `/bin/sh`, by name. */
const systemShell = shellAt('/bin/sh');

function shellAt(path: string): string {
  try {
    return basename(realpathSync(path));
  } catch {
    return 'unknown';
  }
}

/** Carrier programs, which execute the words that follow them. The best one is looked for once. */
export const carriers: Readonly<Record<'perl' | 'python' | 'node', { program: string; words: readonly string[] }>> = {
  perl: {
    program: '/usr/bin/perl',
    words: [
      ...['/usr/bin/env', '-u', 'PERL5OPT', '-u', 'PERL5LIB', '-u', 'PERL5DB', 'PERL_BADLANG=0'],
      ...['/usr/bin/perl', '-e', inPerl(), '--'],
    ],
  },
  python: { program: '/usr/bin/python3', words: ['/usr/bin/python3', '-I', '-S', '-c', inPython()] },
  node: {
    program: process.execPath,
    words: ['/usr/bin/env', '-u', 'NODE_OPTIONS', process.execPath, '-e', inNode(), '--'],
  },
};

let known: readonly string[] | null = null;

/** The best carrier; empty without /proc, as the shell's environment is all there is then. */
function systemCarrier(): readonly string[] {
  const { perl, python, node } = carriers;
  const best = existsSync(perl.program) ? perl : existsSync(python.program) ? python : node;
  return (known ??= existsSync('/proc/self/environ') ? best.words : []);
}

function anyOf(patterns: readonly string[]): RegExp {
  return new RegExp(`^(?:${patterns.join('|')})$`, 's');
}

/** The parent may have been killed and replaced: the run's mark proves that it is the shim. */
function inPerl(): string {
  return `open(my $f, "<", "/proc/" . getppid . "/environ") or die "memrl-tui: cannot read its environment: $!\\n";
my ($m, %e) = ($ENV{${runMarks.directory}}); local $/ = "\\0";
while (<$f>) { chomp; my ($n, $v) = split(/=/, $_, 2); $e{$n} = $v if defined $v }
close $f; die "memrl-tui: its parent is gone\\n" if ($e{${runMarks.directory}} // "") ne ($m // "");
%ENV = %e; exec { $ARGV[0] } @ARGV or print STDERR "memrl-tui: $ARGV[0]: $!\\n"; exit($!+0 == 2 ? 127 : 126)`;
}

/** Python ignores two signals, whose defaults must be restored for the command. */
function inPython(): string {
  return `import os, sys, signal
m = os.environb.get(b"${runMarks.directory}", b"")
e = dict(p.split(b"=", 1) for p in open("/proc/%d/environ" % os.getppid(), "rb").read().split(b"\\0") if b"=" in p)
if e.get(b"${runMarks.directory}", b"") != m: sys.exit("memrl-tui: its parent is gone")
for s in (signal.SIGPIPE, signal.SIGXFSZ): signal.signal(s, signal.SIG_DFL)
a = [os.fsencode(w) for w in sys.argv[1:]]
try: os.execvpe(a[0], a, e)
except OSError as x:
    if x.errno == 8: os.execve("/bin/sh", [b"sh"] + a, e)
    sys.stderr.write("memrl-tui: %s: %s\\n" % (sys.argv[1], x.strerror)); sys.exit(127 if x.errno == 2 else 126)`;
}

/** Node cannot execute another program in its place, so it stays as the parent and passes on signals and the exit code. */
function inNode(): string {
  return `const fs = require("fs"), os = require("os"), { spawn } = require("child_process");
const text = fs.readFileSync("/proc/" + process.ppid + "/environ", "utf8").split("\\0");
const env = Object.fromEntries(text.flatMap((p) => (p.includes("=") ? [[p.slice(0, p.indexOf("=")), p.slice(p.indexOf("=") + 1)]] : [])));
const mark = "${runMarks.directory}";
if (env[mark] !== process.env[mark]) { console.error("memrl-tui: its parent is gone"); process.exit(126); }
const [program, ...args] = process.argv.slice(1);
const passed = ["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];
const child = spawn(program, args, { stdio: "inherit", env });
for (const signal of passed) process.on(signal, () => child.kill(signal));
child.on("error", (e) => { console.error("memrl-tui: " + program + ": " + e.code); process.exit(e.code === "ENOENT" ? 127 : 126); });
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  for (const each of passed) process.removeAllListeners(each);
  process.kill(process.pid, signal);
  setTimeout(() => process.exit(128 + os.constants.signals[signal]), 1000);
});`;
}
