import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fleet, RunSummary } from '../../src/client/fleet.js';
import type { PlannedRun } from '../../src/spec/planned-run.js';
import { run, Testbed, untilState, waitFor } from './testbed.js';

const environment = { PATH: process.env['PATH']! };
const final = { file: 'checkpoints.jsonl', where: 'name == "final"' };

/** What a run does to its own files, in its directory; `exit`: and how it ends after that. */
type Damage = {
  what: string;
  script: string;
  exit?: number;
  done?: PlannedRun['done'];
  /** What its row says in the end. */
  row: Partial<RunSummary>;
  /** The same after a supervisor that has come up meanwhile; absent: the same. */
  adopted?: Partial<RunSummary>;
};

const saying = (text: RegExp) => expect.stringMatching(text) as string;
/** No warning of its own: an orphan without a mark, of whatever else runs on the machine, may be anybody's. */
const unwarned = expect.toSatisfy((warning: string | null) =>
  /^(may have left processes behind: [^;]*)?$/.test(warning ?? ''),
) as null;
const unread = (file: string, why: RegExp): Partial<RunSummary> => ({
  ...{ state: 'done', warning: saying(new RegExp(`${file} cannot be read: .*${why.source}`)) },
});

/** Ways to spoil a file that is only read. */
const ways: { way: string; script: (file: string) => string; why: RegExp }[] = [
  { way: 'is a link to itself', script: (file) => `ln -s ${file} ${file}`, why: /symbolic link/ },
  { way: 'is a named pipe', script: (file) => `mkfifo ${file}`, why: /named pipe/ },
  { way: 'is a directory', script: (file) => `mkdir ${file}`, why: /directory/ },
  { way: 'is a device', script: (file) => `ln -s /dev/zero ${file}`, why: /device/ },
  { way: 'is named by a link too long', script: (file) => `ln -s $(printf %0300d 0) ${file}`, why: /too long/ },
  { way: 'lies below a file', script: (file) => `touch f; ln -s f/x ${file}`, why: /not a directory/ },
];

const damages: Damage[] = [
  ...ways.map(({ way, script, why }): Damage => {
    return { what: `metrics.jsonl ${way}`, script: script('metrics.jsonl'), row: unread('metrics.jsonl', why) };
  }),
  {
    what: 'metrics.jsonl has 40 GB of nothing in it',
    script: `echo '{"step": 1, "loss": 2}' > metrics.jsonl; truncate -s 40G metrics.jsonl`,
    row: { ...unread('metrics.jsonl', /longer than 64 MB/), metrics: { step: 1, loss: 2 } },
  },
  {
    what: 'metrics.jsonl has lines that are none',
    script: `{ echo '{"a": 1}'; head -c 300000 /dev/zero; echo; head -c 300000 /dev/urandom | tr '\\n' x; echo; echo '{"a": 2}'; } > metrics.jsonl`,
    row: { state: 'done', metrics: { a: 2 }, warning: saying(/2 lines of metrics.jsonl are longer than 256 kB/) },
  },
  ...ways.map(({ way, script, why }): Damage => {
    const reason = saying(new RegExp(`no final checkpoint \\(checkpoints.jsonl cannot be read: .*${why.source}`));
    const row = { state: 'failed' as const, reason };
    return { what: `the file of the done rule ${way}`, script: script('checkpoints.jsonl'), done: final, row };
  }),
  {
    what: 'config.json is a named pipe',
    script: 'mkfifo config.json',
    row: { state: 'done', warning: unwarned },
  },
  ...ways.slice(0, 4).map(({ way, script }): Damage => {
    const spoil = `rm output.log; ${script('output.log')}`;
    return { what: `output.log ${way}`, script: spoil, exit: 3, row: { state: 'failed', reason: 'exit code 3' } };
  }),
  {
    what: 'run.json is a directory with something in it',
    script: 'while ! test -f run.json; do sleep 0.05; done; rm run.json; mkdir -p run.json/mine',
    row: { state: 'done', warning: saying(/run.json cannot be written: it is a directory/) },
  },
  {
    what: 'run.json is a named pipe',
    script: 'while ! test -f run.json; do sleep 0.05; done; rm run.json; mkfifo run.json',
    row: { state: 'done', warning: unwarned },
    adopted: { state: 'done', warning: saying(/run.json could not be read \(it is a named pipe/) },
  },
  {
    what: 'run.json.tmp is a named pipe',
    script: 'mkfifo run.json.tmp',
    row: { state: 'done', warning: unwarned },
  },
  {
    what: 'run.json.tmp is a link to another file',
    script: 'echo precious > victim; ln -s victim run.json.tmp',
    row: { state: 'done', warning: unwarned },
  },
  {
    what: 'attempts is a file',
    script: 'rm -r attempts; touch attempts',
    row: { state: 'done' },
    adopted: { state: 'lost', reason: saying(/attempts\/1 cannot be read: .*not a directory/) },
  },
  {
    what: 'attempts/1 is a link to itself',
    script: 'rm -r attempts/1; ln -s 1 attempts/1',
    row: { state: 'done' },
    adopted: { state: 'lost', reason: saying(/attempts\/1 cannot be read: .*symbolic link/) },
  },
  ...ways.slice(0, 4).map(({ way, script }): Damage => {
    return {
      what: `attempts/1/pid ${way}`,
      script: `rm attempts/1/pid; (cd attempts/1; ${script('pid')})`,
      // Its exit code is there all the same.
      ...{ exit: 4, row: { state: 'failed', reason: 'exit code 4', warning: unwarned } },
    };
  }),
  ...ways.slice(0, 1).map(({ way, script }): Damage => {
    return {
      what: `attempts/1/exit ${way}`,
      script: `(cd attempts/1; ${script('exit')})`,
      ...{ exit: 4, row: { state: 'failed', reason: 'exit code 4' } },
    };
  }),
  {
    what: 'its directory is a file',
    script: 'cd ..; mv "$MEMRL_RUN_DIR" away-$$; echo > "$MEMRL_RUN_DIR"; cd /',
    exit: 5,
    row: { state: 'failed', reason: 'exit code 5' },
    adopted: { state: 'lost', reason: saying(/cannot be read: .*not a directory/) },
  },
];

const named = damages.map((damage, index) => ({ name: `d${index}`, ...damage }));
const gate = (bed: Testbed) => bed.path('.gate');

/** All of them, beside a run that is well; each waits when it has done its damage. */
function planOf(bed: Testbed) {
  const runs = named.map(({ name, script, exit = 0, done = { exit: 0 as const } }): Partial<PlannedRun> => {
    const wait = `echo started >> ${bed.path('.at', name)}; while ! test -e ${gate(bed)}; do sleep 0.05; done; exit ${exit}`;
    return { name, done, argv: ['sh', '-c', `(cd "$MEMRL_RUN_DIR"; ${script}); ${wait}`] };
  });
  const well = `echo '{"step": 7}' >> ${bed.path('s/well/metrics.jsonl')}; while ! test -e ${gate(bed)}; do sleep 0.05; done`;
  return bed.plan('s', [...runs, { name: 'well', argv: ['sh', '-c', well] }]);
}

async function begun(bed: Testbed, fleet: Fleet): Promise<void> {
  mkdirSync(bed.path('.at'));
  expect(await fleet.submit(planOf(bed), environment, { slots: named.length + 1 })).toMatchObject({ ok: true });
  await waitFor('all damage to be done', () => named.every(({ name }) => existsSync(bed.path('.at', name))));
  await waitFor('the well one to be heard of', () => run(fleet, 's/well').metrics['step'] === 7);
}

/** Its row in the end, as the supervisor tells it when it has read what there is. */
const finally_ = (fleet: Fleet, name: string, row: Partial<RunSummary>) =>
  expect.poll(() => run(fleet, `s/${name}`)).toMatchObject(row);

const victims = (bed: Testbed) =>
  named.filter(({ what }) => what.includes('link to another file')).map(({ name }) => bed.text('s', name, 'victim'));

describe('what a run makes of its own files spoils only that run', () => {
  let bed: Testbed;
  let fleet: Fleet;
  let supervisor: number | null;
  beforeAll(async () => {
    bed = new Testbed();
    fleet = await bed.fleet();
    supervisor = bed.supervisorPid();
    await begun(bed, fleet);
    writeFileSync(gate(bed), '');
  });
  afterAll(() => bed.close());

  it.each(named)('$what', ({ name, row }) => finally_(fleet, name, row));

  it('and the run beside them ends well, under the same supervisor', async () => {
    await finally_(fleet, 'well', { state: 'done', warning: unwarned });
    expect(bed.supervisorPid()).toBe(supervisor);
    expect(victims(bed)).toEqual(['precious\n']);
  });
});

describe('a supervisor that comes up where runs have spoilt their files', () => {
  let bed: Testbed;
  let fleet: Fleet;
  let supervisor: number | null;
  beforeAll(async () => {
    bed = new Testbed();
    fleet = await bed.fleet();
    await begun(bed, fleet);
    await bed.killSupervisor();
    fleet = await bed.fleet();
    supervisor = bed.supervisorPid();
  });
  afterAll(() => bed.close());

  it('starts none of them again', async () => {
    expect(named.filter(({ name }) => run(fleet, `s/${name}`).state !== 'running')).toEqual([]);
    writeFileSync(gate(bed), '');
    await waitFor('all to end', () => fleet.status.settled);
    const starts = named.map(({ name }) => readFileSync(bed.path('.at', name), 'utf8'));
    expect(starts).toEqual(named.map(() => 'started\n'));
  });

  it.each(named)('$what', ({ name, row, adopted = row }) => finally_(fleet, name, adopted));

  it('and the run beside them ends well, under the same supervisor', async () => {
    await finally_(fleet, 'well', { state: 'done', warning: unwarned });
    expect(bed.supervisorPid()).toBe(supervisor);
    expect(victims(bed)).toEqual(['precious\n']);
  });
});

describe('a run whose log cannot be written', () => {
  it.each(ways.slice(0, 4))('is not started, and says why: it $way', async ({ script, why }) => {
    const bed = new Testbed();
    try {
      const fleet = await bed.fleet();
      mkdirSync(bed.path('s/odd'), { recursive: true });
      execFileSync('sh', ['-c', script('output.log')], { cwd: bed.path('s/odd') });
      await fleet.submit(bed.plan('s', [{ name: 'odd' }, { name: 'well' }]), environment, { slots: 1 });
      await untilState(fleet, 's/well', 'done');
      const reason = saying(new RegExp(`cannot write to .*output.log: .*${why.source}`));
      expect(run(fleet, 's/odd')).toMatchObject({ state: 'failed', reason });
    } finally {
      await bed.close();
    }
  });
});
