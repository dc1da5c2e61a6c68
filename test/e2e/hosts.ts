import { chmodSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { eventually, isCleared, program } from './program.js';

/**
 * A stand-in for ssh: runs the command on this machine, with a folder of the host's name as the home directory. Its login shell
 * reads no profile of this machine, and prints a line as many do. `path` in that folder is the PATH of the host, where it is
 * another. Without a terminal the command is a process group of its own, whose leader stands in `links`: killed, the line is cut.
 * While a file `cut` is in it, the host cannot be reached, for the reason that stands there.
 */
const standIn = String.raw`#!/bin/sh
terminal=
while [ $# -gt 0 ]; do case "$1" in --) shift; break ;; -o) shift 2 ;; -t) terminal=yes; shift ;; *) shift ;; esac; done
home=$HOSTS/$1; shift
[ -d "$home" ] || { echo "ssh: Could not resolve hostname" >&2; exit 255; }
[ ! -e "$home/cut" ] || { cat "$home/cut" >&2; exit 255; }
command=$*
[ ! -e "$home/path" ] || { PATH=$(cat "$home/path"); command=$(printf %s "$*" | PATH=/usr/bin:/bin sed "s#/usr/local/bin/node##;s#/opt/homebrew/bin/node##"); }
cd "$home" && export HOME="$home" SHELL="$HOSTS/login/sh"
[ -z "$terminal" ] || exec /bin/sh -c "$command"
exec "$NODE" "$HOSTS/bin/group.cjs" "$command"
`;
const group = `
const child = require('node:child_process').spawn('/bin/sh', ['-c', process.argv[2]], { stdio: 'inherit', detached: true });
require('node:fs').appendFileSync('links', child.pid + ' ');
process.on('SIGTERM', () => process.kill(-child.pid, 'SIGTERM'));
child.on('exit', (code) => process.exit(code ?? 255));
`;
const loginShell = '#!/bin/sh\nshift\necho Welcome to this host.\nexec /bin/sh -c "$@"\n';

/** Hosts that are folders of this machine, below the folder of the test; whatever still runs there is ended after. */
export function hosts(folder: () => string, names: readonly string[]) {
  const at = (host: string, path = '') => join(folder(), 'hosts', host, path);
  let [path, root] = [process.env['PATH'], process.env['HOSTS']];
  beforeEach(() => {
    [path, root] = [process.env['PATH'], process.env['HOSTS']];
    mkdirSync(at('bin'), { recursive: true });
    script(at('bin', 'ssh'), standIn);
    script(at('bin', 'group.cjs'), group);
    mkdirSync(at('login'));
    script(at('login', 'sh'), loginShell);
    for (const name of names) mkdirSync(at(name, '.memrl-tui/dist'), { recursive: true });
    for (const name of names) symlinkSync(program, at(name, '.memrl-tui/dist/memrl-tui.js'));
    process.env['PATH'] = `${at('bin')}:${path}`;
    process.env['HOSTS'] = at('');
    process.env['NODE'] = process.execPath;
  });
  afterEach(async () => {
    for (const name of names) await eventually(() => isCleared(at(name)), `${at(name)} to be removed`);
    process.env['PATH'] = path;
    if (root === undefined) delete process.env['HOSTS'];
    else process.env['HOSTS'] = root;
  });
  return {
    at,
    write: (host: string, file: string, text: string) => writeFileSync(at(host, file), text),
    script: (host: string, file: string, text: string) => script(at(host, file), text),
    /** Ends all connections, and keeps others from being made until `heal`. @param words What ssh says then. */
    cut: (host: string, words = 'ssh: connect to host: Network is unreachable') => {
      writeFileSync(at(host, 'cut'), `${words}\n`);
      for (const leader of readFileSync(at(host, 'links'), 'utf8').trim().split(' ').map(Number)) {
        try {
          process.kill(-leader, 'SIGKILL');
        } catch {
          // It has ended.
        }
      }
    },
    heal: (host: string) => rmSync(at(host, 'cut')),
  };
}

function script(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}
