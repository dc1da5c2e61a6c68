import type { ErrorCode } from '../../base/user-error.js';

/** Every exit code of memrl-tui, and how the documentation explains it. A number never gets another meaning. */
const exitTable = {
  done: { code: 0, means: 'all runs are done; of a command that waits for none: it did what it was asked' },
  bug: { code: 1, means: 'a bug in memrl-tui' },
  refused: { code: 2, means: 'something for you to fix, which the message says; or you were asked, and declined' },
  undone: {
    code: 3,
    means: 'some runs are not done; `best`: no setting has a value; `clean`: something is still there',
  },
  'no-such-sweep': { code: 4, means: 'there is no such sweep' },
  'no-such-run': { code: 5, means: 'no run matches' },
  timedOut: { code: 124, means: '`wait` timed out' },
  interrupted: {
    code: 130,
    means: 'Ctrl-C while a launch was watched, or a command ran on another host; runs continue',
  },
} as const satisfies Readonly<Record<ErrorCode, ExitRow>> & Readonly<Record<string, ExitRow>>;

type ExitRow = { readonly code: number; readonly means: string };

type ExitCodes = { readonly [Name in keyof typeof exitTable]: (typeof exitTable)[Name]['code'] };
export const exitCodes = Object.fromEntries(
  Object.entries(exitTable).map(([name, { code }]) => [name, code]),
) as unknown as ExitCodes;

/** The codes of errors in `--json`, with the exit code that goes with each. */
export const errorExits = {
  refused: exitCodes.refused,
  'no-such-sweep': exitCodes['no-such-sweep'],
  'no-such-run': exitCodes['no-such-run'],
  system: exitCodes.refused,
  bug: exitCodes.bug,
} as const;

export const exitRows: readonly ExitRow[] = Object.values(exitTable);

/** The table for the documentation. */
export function exitCodesMarkdown(): string {
  const rows = exitRows.map(({ code, means }) => `| ${code} | ${means} |`);
  return ['| code | means |', '| --- | --- |', ...rows].join('\n');
}
