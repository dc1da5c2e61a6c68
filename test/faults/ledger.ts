/**
 * What the runs themselves write down, in one file that nobody else writes: the account that the supervisor's is held against.
 *
 * A run says when it starts and how it is about to end, a line each, appended in one piece. While it lives it holds a lock of
 * the kernel (`flock`) on a file of its name, so that one that starts while another of the same run lives sees it, whatever
 * the supervisor believes: `beside`.
 */
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { readStat } from '../../src/processes/process-identity.js';

/** `process`: pid and start time, which no other process of this boot has. */
export type Entry = { run: string; attempt: number; process: string } & (
  | { kind: 'start'; beside: boolean }
  | { kind: 'end'; code: number }
);

/** Shell text with which every run begins. It defines `end CODE`, which is how it must leave. Children must close 9. */
export function ledgerScript(ledger: string, locks: string): string {
  return `read -r stat < /proc/$$/stat
set -- $stat
me=$1.\${22}
exec 9>> "${locks}/\${MEMRL_RUN%%/*}.\${MEMRL_RUN##*/}"
flock -n 9 && how=alone || how=beside
echo "start $MEMRL_RUN $MEMRL_ATTEMPT $me $how" >> "${ledger}"
end() {
  echo "end $MEMRL_RUN $MEMRL_ATTEMPT $me $1" >> "${ledger}"
  exit "$1"
}
`;
}

/** Reads what is added to the ledger. */
export class Ledger {
  readonly path: string;
  readonly #entries: Entry[] = [];
  #offset = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** All there is by now, oldest first. */
  entries(): readonly Entry[] {
    const text = this.#added();
    const end = text.lastIndexOf('\n') + 1;
    this.#offset += end;
    this.#entries.push(...text.slice(0, end).split('\n').filter(Boolean).map(parseEntry));
    return this.#entries;
  }

  /** It is plain ASCII, so that characters are bytes. */
  #added(): string {
    if (!existsSync(this.path)) return '';
    const file = openSync(this.path, 'r');
    const bytes = Buffer.alloc(1 << 20);
    try {
      return bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, this.#offset));
    } finally {
      closeSync(file);
    }
  }
}

/** Throws at what no run writes. */
export function parseEntry(line: string): Entry {
  const [kind, run, attempt, process, last] = line.split(' ');
  const which = { run: run!, attempt: Number(attempt), process: process! };
  if (kind === 'start' && last !== undefined) return { kind, ...which, beside: last === 'beside' };
  if (kind === 'end' && last !== undefined) return { kind, ...which, code: Number(last) };
  throw new Error(`The ledger has a line that no run writes: ${line}`);
}

/** Whether this very process of the ledger is there. */
export function isThere({ process }: Pick<Entry, 'process'>): boolean {
  const [pid, startTime] = process.split('.');
  const stat = readStat(pid!);
  return stat !== null && stat.startTime === startTime && stat.state !== 'Z' && stat.state !== 'X';
}
