import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect } from 'vitest';
import { RunId } from '../../src/base/ids.js';
import type { Ack, Fleet } from '../../src/client/fleet.js';
import { Resources } from '../../src/spec/planned-run.js';
import { tiered } from '../tiers.js';
import { run, Testbed, untilSettled, untilState, waitFor } from './testbed.js';

const preload = pathToFileURL(resolve('test/faults/hoard.mjs')).href;
const environment = { PATH: `${resolve('test/fixtures')}:${process.env['PATH']}`, FAKE_GPUS: '1' };
/** Turns of the supervisor's loop that a shortage lasts: three seconds, in which everything periodic happens. */
const TURNS = 150;

let bed: Testbed;
beforeEach(() => {
  bed = new Testbed();
  bed.give({ NODE_OPTIONS: `--import=${preload}`, MEMRL_HOARD: bed.path('.hoard'), MEMRL_GPU_EVERY_MS: '200' });
  writeFileSync(bed.path('.hoard.turns'), '');
});
afterEach(() => bed.close());

const starts = (name: string) => bed.text(`starts-${name}`).length / 2;
const openGate = (name: string) => writeFileSync(bed.path(`gate-${name}`), '');

/** Counts its starts, writes a row, waits for its gate, and ends with `code`. */
function gated(name: string, code: number) {
  const row = `echo '{"step": ${code}}' >> $MEMRL_RUN_DIR/metrics.jsonl`;
  const script = `echo x >> ${bed.path(`starts-${name}`)}; ${row}; while ! test -e ${bed.path(`gate-${name}`)}; do sleep 0.05; done; exit ${code}`;
  return { name, argv: ['sh', '-c', script] };
}

/** How a supervisor begins that may have few descriptors, and has a log. */
const limited = () => `ulimit -n 128; mkdir -p ${bed.path('.supervisor')}; exec >> ${bed.path('.supervisor/log')} 2>&1`;

/** The turns of the supervisor's loop so far. */
const turns = () => Math.round(statSync(bed.path('.hoard.turns')).atimeMs / 1000);

/** Runs whose ends need more than their files: a program is asked, a GPU is looked for. */
const others = () => {
  const done = { command: ['sh', '-c', 'exit 0'] as [string, ...string[]] };
  return bed.plan('t', [
    { ...gated('later', 0), done },
    { name: 'gpu', resources: Resources.parse({ gpus: 1 }) },
  ]);
};

/**
 * All that a supervisor does, asked of it while it can do little, for so many turns of its loop. Nothing of it needs to succeed;
 * gives what was answered by then.
 */
async function askForMuch(fleet: Fleet): Promise<Ack[]> {
  const until = turns() + TURNS;
  openGate('early');
  const answers: Ack[] = [];
  const asked = [
    fleet.submit(others(), environment, { slots: 5 }),
    fleet.request({ verb: 'set-slots', slots: { slots: 6 } }),
    fleet.act('kill', [RunId.parse('s/killed')]),
    fleet.act('pause', [RunId.parse('s/late')]),
  ];
  for (const answer of asked) void answer.then((ack) => answers.push(ack));
  // Another client may be turned away.
  void bed.attach().catch(() => null);
  const isOver = () => turns() > until && (answers.length === asked.length || turns() > until + TURNS);
  await waitFor('some turns', () => isOver() || bed.supervisorPid() === null);
  return answers;
}

/** What is said where something cannot be done. */
const short = /out of processes or open files|open files|EMFILE|EAGAIN/;

const told = (fleet: Fleet) => [fleet.status.problem, ...[...fleet.runs.values()].map(({ reason }) => reason)];

/** `isHard`: no run can be started. */
const shortages = [
  ...Array.from({ length: 13 }, (_, left) => ({
    what: `${left} descriptors`,
    isHard: left < 3,
    begin: () => writeFileSync(bed.path('.hoard'), 'x'.repeat(left)),
  })),
  {
    what: 'no process and no thread',
    isHard: true,
    begin: () => writeFileSync(bed.path('.hoard.processes'), ''),
  },
];

describe.each([
  { who: 'it has started', of: shortages },
  { who: 'it has adopted', of: shortages.filter((_, index) => index % 4 === 0 || index === shortages.length - 1) },
])('a supervisor with runs that $who', ({ who, of }) => {
  tiered(of, 0)('and with $what left does not die, and loses and doubles no run', async ({ begin, isHard }) => {
    await bed.spawnSupervisor(limited());
    let fleet = await waitFor('the supervisor', () => bed.attach());
    const runs = [gated('early', 4), gated('late', 3), gated('killed', 5)];
    await fleet.submit(bed.plan('s', runs), environment, { slots: 3 });
    for (const { name } of runs) await untilState(fleet, `s/${name}`, 'running');
    await waitFor('all to be up', () => runs.every(({ name }) => starts(name) === 1));
    if (who === 'it has adopted') {
      fleet.close();
      await bed.killSupervisor();
      await bed.spawnSupervisor(limited());
      fleet = await waitFor('the supervisor', () => bed.attach());
    }
    const pid = bed.supervisorPid();
    begin();
    const answers = await askForMuch(fleet);
    for (const { ok, message } of answers) expect(ok ? 'EMFILE' : message).toMatch(short);
    // By the answer to the launch, or else in the status and on the rows.
    const said = () => [...answers.map(({ message }) => message), ...told(fleet)].join('\n');
    if (isHard) await expect.poll(said).toMatch(short);
    for (const name of ['.hoard', '.hoard.processes']) rmSync(bed.path(name), { force: true });
    expect(bed.supervisorPid(), bed.text('.supervisor', 'log')).toBe(pid);

    await waitFor('its answer', () => fleet.connection === 'connected');
    for (const name of ['late', 'later']) openGate(name);
    await fleet.act('continue', [RunId.parse('s/late')]);
    // The descriptors are given back in one of its next turns.
    const launched = async () => (await fleet.submit(others(), environment, { slots: 3 })).ok;
    await waitFor('the launch to be taken', launched);
    await untilSettled(fleet);
    expect(bed.supervisorPid(), bed.text('.supervisor', 'log')).toBe(pid);
    expect(
      Object.fromEntries(['early', 'late', 'killed'].map((name) => [name, run(fleet, `s/${name}`).exit])),
    ).toMatchObject({
      early: { code: 4 },
      late: { code: 3 },
    });
    for (const name of ['early', 'late', 'killed', 'later']) expect([name, starts(name)]).toEqual([name, 1]);
    expect(existsSync(bed.path('t/later/attempts/1/exit'))).toBe(true);
  });
});
