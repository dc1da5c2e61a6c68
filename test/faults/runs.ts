import { mkdirSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import type { Plan, PlannedRun } from '../../src/spec/planned-run.js';
import { RetryRule } from '../../src/spec/planned-run.js';
import { plan } from '../supervisor/testbed.js';
import { errors } from './kinds/errors.js';
import { ledgerScript } from './ledger.js';
import { spoilScript, spoilings } from './spoil.js';

/** One run of the ordeal and what must have become of it at the end. */
export type Ordained = {
  name: string;
  kind: Kind;
  code: number;
  /** Attempts that must have been up; null: it depends on what it met. */
  starts: number | null;
};

/**
 * `steady` lives through all deaths of the supervisor. `prey` is there to be killed, by whom its last letter says: its shim, the
 * command, the whole group. `spoiler` spoils a file of its own directory, and of a `broken` one a file cannot be read by others. `side`: submitted by a client that may be killed at it.
 */
export type Kind =
  | 'steady'
  | 'short'
  | 'stubborn'
  | 'held'
  | 'first'
  | 'then'
  | 'doomed'
  | 'prey'
  | 'keen-prey'
  | 'spoiler'
  | 'broken'
  | 'side';

/** Where the runs leave their traces; `gate` is a FIFO on whose opening the steady ones wait without costing anything. */
export type Places = { ledger: string; locks: string; gate: string; script: string };

/** How many of the kinds whose number depends on how long the ordeal is. */
export type Measure = { short: number; prey: number; spoilers: boolean; errors: boolean };

/** Steady runs stay alive until the gate opens, so that so many live through every death of the supervisor. */
export const STEADY = 100;
/** Time limit of a run, s: longer than any ordeal. */
const DAY_S = 86_400;
const DOOMED = 12;
const STUBBORN = 10;
const HELD = 6;
const FIRST = 6;
/** Slots beyond those of the steady runs, in which all others take turns. */
export const SLOTS = STEADY + 24;

/** Cheap runs of all kinds. */
export function ordained({ short, prey, ...spoilt }: Measure): Ordained[] {
  const many = (kind: Kind, count: number, rest: Pick<Ordained, 'starts'> & { codes?: number }) =>
    Array.from({ length: count }, (_, n): Ordained => {
      return { name: `${kind}${n}`, kind, code: rest.codes === undefined ? 0 : n % rest.codes, starts: rest.starts };
    });
  const queued = [
    ...many('short', short, { starts: 1, codes: 5 }),
    ...many('prey', Math.ceil(prey / 2), { starts: null, codes: 4 }),
    ...many('keen-prey', Math.floor(prey / 2), { starts: null, codes: 4 }),
  ];
  return [
    ...many('steady', STEADY, { starts: 1, codes: 7 }),
    ...many('first', FIRST, { starts: 1 }),
    ...many('doomed', DOOMED, { starts: null, codes: 2 }),
    ...many('stubborn', STUBBORN, { starts: 3 }),
    ...many('held', HELD, { starts: 1 }),
    ...many('then', FIRST, { starts: 1, codes: 3 }),
    ...many('spoiler', spoilt.spoilers ? spoilings.length : 0, { starts: null, codes: 3 }),
    ...many('broken', spoilt.errors ? errors.length : 0, { starts: null, codes: 3 }),
    ...evenly(queued),
  ];
}

/** The kinds by turns, so that there are some of each at any time. */
function evenly(runs: readonly Ordained[]): Ordained[] {
  const places = new Map<Kind, number>();
  const count = (kind: Kind) => runs.filter((run) => run.kind === kind).length;
  const counts = new Map([...new Set(runs.map(({ kind }) => kind))].map((kind) => [kind, count(kind)]));
  const place = (run: Ordained) => {
    const nth = (places.get(run.kind) ?? 0) + 1;
    places.set(run.kind, nth);
    return nth / counts.get(run.kind)!;
  };
  return runs
    .map((run) => ({ run, at: place(run) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ run }) => run);
}

/** Makes what the runs need, below a folder. */
export function makePlaces(folder: string): Places {
  const places = {
    ...{ ledger: `${folder}/ledger`, locks: `${folder}/locks` },
    ...{ gate: `${folder}/gate`, script: `${folder}/run.sh` },
  };
  mkdirSync(places.locks, { recursive: true });
  writeFileSync(places.ledger, '');
  spawnSync('mkfifo', [places.gate]);
  writeFileSync(places.script, script(places));
  return places;
}

/** The plan of these runs. */
export function ordealPlan(runsDirectory: string, places: Places, all: readonly Ordained[]): Plan {
  const runs = all.map((run, index): Partial<PlannedRun> => {
    const group = run.kind === 'first' || run.kind === 'then' ? run.kind : 'main';
    const needs = run.kind === 'then' ? { needs: ['first' as PlannedRun['group']] } : {};
    const argv: [string, ...string[]] = ['sh', places.script, run.kind, String(run.code), secondsOf(index)];
    // A clock that is set forward between two supervisors must not use up the time that a run was given.
    return { name: run.name, group, ...needs, retry: retryOf(run), grace: 1, timeout: DAY_S, argv };
  });
  return plan(runsDirectory, 'ordeal', runs, [{ name: 'main' }, { name: 'first' }, { name: 'then', needs: ['first'] }]);
}

/** How long a run that lasts a moment does so, s. */
function secondsOf(index: number): string {
  return (0.1 + ((index * 7) % 10) * 0.03).toFixed(2);
}

function retryOf({ kind }: Ordained): RetryRule {
  if (kind === 'stubborn') return RetryRule.parse({ max: 2, backoff: 0.2 });
  return RetryRule.parse(kind === 'keen-prey' ? { max: 2, backoff: 0.1 } : {});
}

/** Called as `sh run.sh KIND CODE SECONDS [--NAME=VALUE…]` by the supervisor, for runs of all kinds. */
function script(places: Places): string {
  const { ledger, locks, gate } = places;
  return `kind=$1 code=$2 seconds=$3
${ledgerScript(ledger, locks)}
case $kind in
steady) read -r x < ${gate} ;;
doomed)
  # Half of them are deaf, so that the supervisor dies between the polite signal and the end by force.
  if [ "$code" = 1 ]; then trap "" TERM; fi
  exec sleep 1000 ;;
stubborn)
  sleep "$seconds" 9>&-
  test "$(grep -c "^start $MEMRL_RUN " ${ledger})" -ge 3 || end 9 ;;
then) test "$(grep -c '^end ordeal/first' ${ledger})" -eq ${FIRST} || end 99 ;;
prey | keen-prey) sleep "1\${seconds#0}" 9>&- ;;
spoiler)
  ${spoilScript}
  sleep 2 9>&- ;;
broken) sleep 2 9>&- ;;
*) sleep "$seconds" 9>&- ;;
esac
end "$code"
`;
}
