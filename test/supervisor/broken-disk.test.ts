import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fleet, RunSummary } from '../../src/client/fleet.js';
import type { PlannedRun } from '../../src/spec/planned-run.js';
import { run, Testbed, untilState, waitFor } from './testbed.js';

const environment = { PATH: process.env['PATH']! };
const final = { file: 'checkpoints.jsonl', where: 'name == "final"' };
const saying = (text: RegExp) => expect.stringMatching(text) as string;

/** What the disk does to the files of one run while it is up, and what its row says in the end. See `fail-at.mjs`. */
type Break = {
  name: string;
  what: string;
  rule: string;
  script?: string;
  done?: PlannedRun['done'];
  row: Partial<RunSummary>;
  /** After a supervisor that has come up meanwhile; absent: the same. */
  adopted?: Partial<RunSummary>;
};

const breaks: Break[] = [
  ...(['EIO', 'ESTALE', 'EACCES', 'ENAMETOOLONG'] as const).map((code): Break => {
    const why = { EIO: 'EIO', ESTALE: 'ESTALE', EACCES: 'permission denied', ENAMETOOLONG: 'too long' }[code];
    const warning = saying(new RegExp(`metrics.jsonl cannot be read: .*${why}`));
    const name = `metrics-${code}`;
    return { name, what: `metrics fail with ${code}`, rule: `s/${name}/metrics.jsonl:${code}`, row: { warning } };
  }),
  {
    ...{ name: 'sector', what: 'a sector of its metrics is bad', rule: 's/sector/metrics.jsonl:EIO:read' },
    row: { warning: saying(/metrics.jsonl cannot be read: the disk reports an error/) },
  },
  {
    ...{ name: 'final', what: 'the file of its done rule is lost', rule: 's/final/checkpoints.jsonl:ESTALE' },
    ...{ script: `echo '{"name": "final"}' > checkpoints.jsonl`, done: final },
    row: {
      state: 'failed',
      reason: saying(/checkpoints.jsonl cannot be read: the network file system no longer knows it/),
    },
  },
  {
    ...{ name: 'log', what: 'its log cannot be read', rule: 's/log/output.log:EIO', row: {} },
  },
  {
    ...{ name: 'record', what: 'its record may not be touched', rule: 's/record/run.json:EACCES' },
    row: { warning: saying(/run.json cannot be written: permission denied/) },
  },
  {
    ...{ name: 'pid', what: 'the claim of its attempt is lost', rule: 's/pid/attempts/1/pid:ESTALE', row: {} },
  },
  {
    ...{ name: 'exit', what: 'its exit code is lost', rule: 's/exit/attempts/1/exit:ESTALE', row: {} },
    adopted: {
      state: 'lost',
      reason: saying(/attempts\/1 cannot be read: the network file system no longer knows it/),
    },
  },
  {
    ...{ name: 'closed', what: 'its attempts are gone, and none can be made', rule: 's/closed/attempts:EACCES:mkdir' },
    ...{ script: 'rm -r attempts', row: {} },
    adopted: { state: 'lost', reason: saying(/deleted while it ran/) },
  },
  {
    ...{
      name: 'all',
      what: 'nothing can be done with its directory',
      rule: 's/all:EIO',
      row: { warning: saying(/EIO/) },
    },
    adopted: { state: 'lost', reason: saying(/attempts\/1 cannot be read: the disk reports an error/) },
  },
];

const preload = pathToFileURL(resolve('test/faults/fail-at.mjs')).href;

function brokenBed(): Testbed {
  const bed = new Testbed();
  const rules = breaks.map(({ rule }) => rule).join(';');
  bed.give({ NODE_OPTIONS: `--import=${preload}`, MEMRL_FAIL: rules, MEMRL_FAIL_WHEN: bed.path('.broken') });
  return bed;
}

async function begun(bed: Testbed, fleet: Fleet): Promise<void> {
  mkdirSync(bed.path('.at'));
  const waiting = `while ! test -e ${bed.path('.gate')}; do sleep 0.05; done`;
  const runs = breaks.map(({ name, script = ':', done = { exit: 0 as const } }): Partial<PlannedRun> => {
    const own = `cd "$MEMRL_RUN_DIR"; echo '{"step": 1}' > metrics.jsonl; ${script}; cd /; echo x >> ${bed.path('.at', name)}`;
    // What was read before the disk broke is known: there must be something new to be read.
    const more = `echo '{"step": 2}' >> "$MEMRL_RUN_DIR/metrics.jsonl"`;
    return { name, done, argv: ['sh', '-c', `${own}; ${waiting}; ${more}; exit ${'file' in done ? 0 : 4}`] };
  });
  const well = { name: 'well', argv: ['sh', '-c', waiting] };
  await fleet.submit(bed.plan('s', [...runs, well]), environment, { slots: runs.length + 1 });
  await waitFor('all to be up', () => breaks.every(({ name }) => existsSync(bed.path('.at', name))));
  for (const { name } of breaks) await untilState(fleet, `s/${name}`, 'running');
  writeFileSync(bed.path('.broken'), '');
}

const starts = (bed: Testbed) => breaks.map(({ name }) => readFileSync(bed.path('.at', name), 'utf8'));

describe.each<{ when: string; isRestarted: boolean }>([
  { when: 'under a supervisor that saw them start', isRestarted: false },
  { when: 'under one that comes up after that', isRestarted: true },
])('runs whose disk fails them, $when', ({ isRestarted }) => {
  let bed: Testbed;
  let fleet: Fleet;
  let supervisor: number | null;
  beforeAll(async () => {
    bed = brokenBed();
    fleet = await bed.fleet();
    await begun(bed, fleet);
    if (isRestarted) {
      await bed.killSupervisor();
      fleet = await bed.fleet();
    }
    supervisor = bed.supervisorPid();
    expect(breaks.filter(({ name }) => run(fleet, `s/${name}`).state !== 'running')).toEqual([]);
    writeFileSync(bed.path('.gate'), '');
  });
  afterAll(() => bed.close());

  it.each(breaks)('are told of alone: $what', async ({ name, row, adopted = row }) => {
    const said = { state: 'failed', reason: 'exit code 4', ...(isRestarted ? adopted : row) };
    await expect.poll(() => run(fleet, `s/${name}`)).toMatchObject(said);
  });

  it('do not keep others from ending well, under the same supervisor, and are not started again', async () => {
    await untilState(fleet, 's/well', 'done');
    expect(bed.supervisorPid()).toBe(supervisor);
    expect(starts(bed)).toEqual(breaks.map(() => 'x\n'));
  });
});
