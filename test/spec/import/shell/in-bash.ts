import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { shellQuote } from '../../../../src/text/shell-words.js';
import { planOf } from '../../sweeps.js';

/** A program that prints its words, each in brackets, and the variables that the scripts set. */
const printer = `#!/bin/sh
line="[\${0##*/}]"
for word; do line="$line[$word]"; done
printf '%s\\n' "$line\${SEED:+ SEED=$SEED}\${SLURM_ARRAY_TASK_ID:+ ID=$SLURM_ARRAY_TASK_ID}"
`;
/** The queues as they pass commands on: pueue and `--wrap` to a shell, task-spooler as they are. */
const programs: Readonly<Record<string, string>> = {
  python: printer,
  './eval.sh': printer,
  pueue: `#!/bin/sh
[ "$1" = add ] || exit 0
shift
escape=
while :; do
  case "$1" in
    --) shift; break;;
    -e|--escape) escape=1; shift;;
    -p|--print-task-id|-i) shift;;
    -*) shift 2;;
    *) break;;
  esac
done
if [ -n "$escape" ]; then "$@" >&2; else sh -c "$*" >&2; fi
`,
  ts: '#!/bin/sh\nwhile :; do case "$1" in -N|-L|-D|-W|-S) shift 2;; -*) shift;; *) break;; esac; done\n[ $# -gt 0 ] && "$@" >&2\n',
  sbatch:
    '#!/bin/sh\nwhile :; do case "$1" in --wrap=*) sh -c "${1#--wrap=}" >&2; exit;; -*) shift;; *) break;; esac; done\nbash "$@" >&2\n',
};

/** What a script really starts, and what the plan of a sweep file would start: a line for each command, sorted. */
export function inBash(
  script: string,
  sweep: string,
  files: Readonly<Record<string, string>> = {},
): { script: string[]; sweep: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'memrl-import-'));
  try {
    mkdirSync(join(folder, 'bin'));
    for (const [name, text] of Object.entries(programs)) {
      const path = join(folder, name.startsWith('./') ? '' : 'bin', name);
      writeFileSync(path, text);
      chmodSync(path, 0o755);
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const planned = planOf(sweep).runs.map(({ argv, env }) =>
      shellQuote(['env', ...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...argv]),
    );
    return { script: printed(script, folder), sweep: printed(planned.map((line) => `${line} >&2`).join('\n'), folder) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function printed(script: string, folder: string): string[] {
  const env = { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, HOME: '/home/ada' };
  const { stdout } = spawnSync('bash', ['-c', `exec 2>&1\n${script}`], { cwd: folder, env, encoding: 'utf8' });
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('['))
    .toSorted();
}
