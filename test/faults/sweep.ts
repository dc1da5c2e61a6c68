import type { Plan, PlannedRun } from '../../src/spec/planned-run.js';
import { RetryRule } from '../../src/spec/planned-run.js';
import { plan } from '../supervisor/testbed.js';

/** One run of the ordeal and what must have become of it at the end. */
export type Ordained = {
  name: string;
  kind: 'steady' | 'short' | 'stubborn' | 'held' | 'first' | 'then' | 'doomed';
  code: number;
  /** Attempts that must have been up; null: any number from none on (it may be killed while it waits). */
  starts: number | null;
};

/** Where the runs leave their traces; `gate` is a FIFO on whose opening the steady ones wait without costing anything. */
export type Places = { starts: string; gate: string };

/** Steady runs stay alive until the gate opens, so that so many live through every death of the supervisor. */
const STEADY = 100;
const DOOMED = 12;
const STUBBORN = 10;
const HELD = 6;
const FIRST = 6;
/** Slots beyond those of the steady runs, in which all others take turns. */
export const SLOTS = STEADY + 8;

/** Cheap runs of all kinds, `short` of them with lives of a moment and exit codes of their own. */
export function ordained(short: number): Ordained[] {
  const many = (kind: Ordained['kind'], count: number, rest: Pick<Ordained, 'starts'> & { codes?: number }) =>
    Array.from({ length: count }, (_, n): Ordained => {
      return { name: `${kind}${n}`, kind, code: rest.codes === undefined ? 0 : n % rest.codes, starts: rest.starts };
    });
  return [
    ...many('steady', STEADY, { starts: 1, codes: 7 }),
    ...many('first', FIRST, { starts: 1 }),
    ...many('doomed', DOOMED, { starts: null, codes: 2 }),
    ...many('stubborn', STUBBORN, { starts: 3 }),
    ...many('held', HELD, { starts: 1 }),
    ...many('then', FIRST, { starts: 1, codes: 3 }),
    ...many('short', short, { starts: 1, codes: 5 }),
  ];
}

/** The plan of these runs. Each writes a line with its attempt into a file of its own when it starts. */
export function ordealPlan(runsDirectory: string, places: Places, all: readonly Ordained[]): Plan {
  const runs = all.map((run): Partial<PlannedRun> => {
    const file = `${places.starts}/${run.name}`;
    const script = `echo "$MEMRL_ATTEMPT" >> ${file}; ${scriptOf(run, file, places)}`;
    const group = run.kind === 'first' || run.kind === 'then' ? run.kind : 'main';
    const needs = run.kind === 'then' ? { needs: ['first' as PlannedRun['group']] } : {};
    const retry = RetryRule.parse(run.kind === 'stubborn' ? { max: 2, backoff: 0.2 } : {});
    return { name: run.name, group, ...needs, retry, grace: 1, argv: ['sh', '-c', script] };
  });
  return plan(runsDirectory, 'ordeal', runs, [{ name: 'main' }, { name: 'first' }, { name: 'then', needs: ['first'] }]);
}

function scriptOf({ kind, code, name }: Ordained, file: string, { gate, starts }: Places): string {
  const moment = 0.1 + ((name.length * 7 + code * 3) % 10) * 0.03;
  switch (kind) {
    case 'steady':
      return `read x < ${gate}; exit ${code}`;
    case 'doomed':
      // Half of them are deaf, so that the supervisor dies between the polite signal and the end by force.
      return code === 1 ? 'trap "" TERM; exec sleep 1000' : 'exec sleep 1000';
    case 'stubborn':
      return `sleep ${moment}; test $(wc -l < ${file}) -ge 3 || exit 9; exit 0`;
    case 'then':
      return `test $(cat ${starts}/first* | wc -l) -eq ${FIRST} || exit 99; exit ${code}`;
    default:
      return `sleep ${moment.toFixed(2)}; exit ${code}`;
  }
}
