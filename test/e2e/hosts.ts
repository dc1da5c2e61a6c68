import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { eventually, isCleared, program } from './program.js';

/**
 * A stand-in for ssh: runs the command on this machine, with a folder of the host's name as the home directory. Its login shell
 * reads no profile of this machine. `path` in that folder is the PATH of the host, where it is another. While a file `cut` is in
 * it, the host cannot be reached.
 */
const standIn = String.raw`#!/bin/sh
while [ $# -gt 0 ]; do case "$1" in --) shift; break ;; -o) shift 2 ;; *) shift ;; esac; done
home=$HOSTS/$1; shift
[ -d "$home" ] || { echo "ssh: Could not resolve hostname" >&2; exit 255; }
[ ! -e "$home/cut" ] || { echo "ssh: connect to host: Network is unreachable" >&2; exit 255; }
command=$*
[ ! -e "$home/path" ] || { PATH=$(cat "$home/path"); command=$(printf %s "$*" | /usr/bin/env PATH=/usr/bin:/bin sed "s#/usr/local/bin/node##;s#/opt/homebrew/bin/node##"); }
cd "$home" && HOME=$home SHELL=$HOSTS/bin/sh exec /bin/sh -c "$command"
`;
const loginShell = '#!/bin/sh\nshift\nexec /bin/sh -c "$@"\n';

/** Hosts that are folders of this machine, below the folder of the test; whatever still runs there is ended after. */
export function hosts(folder: () => string, names: readonly string[]) {
  const at = (host: string, path = '') => join(folder(), 'hosts', host, path);
  let [path, root] = [process.env['PATH'], process.env['HOSTS']];
  beforeEach(() => {
    [path, root] = [process.env['PATH'], process.env['HOSTS']];
    mkdirSync(at('bin'), { recursive: true });
    script(at('bin', 'ssh'), standIn);
    script(at('bin', 'sh'), loginShell);
    for (const name of names) mkdirSync(at(name, '.memrl-tui/dist'), { recursive: true });
    for (const name of names) symlinkSync(program, at(name, '.memrl-tui/dist/memrl-tui.js'));
    process.env['PATH'] = `${at('bin')}:${path}`;
    process.env['HOSTS'] = at('');
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
  };
}

function script(path: string, text: string): void {
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}
