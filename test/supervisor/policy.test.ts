import { readdirSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { RunId } from '../../src/base/ids.js';
import type { Fleet } from '../../src/client/fleet.js';
import { EarlyTerminate, Notify, type PlannedRun, RetryRule } from '../../src/spec/planned-run.js';
import { readRunRecord } from '../../src/files/run-directory/run-record-file.js';
import { run, Testbed, untilSettled, untilState, waitFor } from './testbed.js';
import { removeFolder } from '../remove-folder.js';

const environment = { PATH: process.env['PATH']! };
const forever = ['sleep', '600'];
const id = (name: string) => RunId.parse(`s/${name}`);
const sh = (script: string) => ['sh', '-c', script];

let bed: Testbed;
let fleet: Fleet;
beforeAll(async () => {
  bed = new Testbed();
  fleet = await bed.fleet();
});
afterAll(() => bed.close());
// One supervisor for all: what a test leaves is stopped and forgotten.
afterEach(async () => {
  await fleet.act('release', [...fleet.runs.keys()]);
  await fleet.request({ verb: 'stop-sweep', sweep: 's' });
  await untilSettled(fleet);
  await waitFor(
    'the sweep to be forgotten',
    async () => (await fleet.request({ verb: 'forget-sweep', sweep: 's' })).ok || !fleet.sweeps.has('s'),
  );
  for (const name of readdirSync(bed.runs)) if (!name.startsWith('.')) removeFolder(bed.path(name));
});

const submit = (runs: Partial<PlannedRun>[], slots: number) =>
  fleet.submit(bed.plan('s', runs), environment, { slots });

/** A program that fails so often, and is then done; each attempt leaves a line. */
const failing = (name: string, times: number, how = 'exit 3') =>
  sh(`echo x >> ${bed.path(name)}; [ $(wc -l < ${bed.path(name)}) -gt ${times} ] || { ${how}; }`);
const starts = (name: string) => bed.text(name).length / 2;

describe('holding and releasing', () => {
  it('keeps a waiting run from starting, and lets it start; twice is once', async () => {
    await submit([{ argv: forever }, { argv: forever }, { argv: forever }], 1);
    await untilState(fleet, 's/run0', 'running');
    expect(await fleet.act('hold', [id('run1'), id('run0')])).toEqual({
      ...{ ok: true, message: '1 run held; 1 not: s/run0 is running; pause it instead' },
    });
    expect(run(fleet, 's/run1')).toMatchObject({ state: 'held', reason: 'held' });
    expect(await fleet.act('hold', [id('run1')])).toMatchObject({ ok: false, message: 's/run1 is held already' });
    expect(await fleet.act('resume', [id('run1')])).toMatchObject({ ok: false, message: 's/run1 is held; release it' });
    await fleet.act('kill', [id('run0')]);
    await untilState(fleet, 's/run2', 'running');
    expect(run(fleet, 's/run1').state).toBe('held');
    expect(await fleet.act('release', [id('run1')])).toEqual({ ok: true, message: '1 run released' });
    expect(await fleet.act('release', [id('run1')])).toMatchObject({ ok: false, message: 's/run1 is not held' });
    await fleet.act('kill', [id('run2')]);
    await untilState(fleet, 's/run1', 'running');
    expect(await fleet.act('hold', [id('run2')])).toMatchObject({
      ok: false,
      message: 's/run2 is killed; only what waits can be held',
    });
  });
});

describe('pausing and continuing', () => {
  /** Counts as fast as it can, in a child of its own session, until nobody lets it. */
  const counter = (file: string) => sh(`setsid sh -c 'while :; do echo >> ${file}; sleep 0.01; done' & wait`);
  const size = (file: string) => bed.text(file).length;

  it('makes all processes of a run stand still and go on, also those that left its session', async () => {
    await submit([{ argv: counter(bed.path('count')) }, { argv: forever }], 1);
    await waitFor('it to count', () => size('count') > 5);
    expect(await fleet.act('pause', [id('run0'), id('run1')])).toEqual({
      ...{ ok: true, message: '1 run paused; 1 not: s/run1 is not running; hold it instead' },
    });
    expect(run(fleet, 's/run0')).toMatchObject({ state: 'paused', slot: 'cpu 0', etaSeconds: null });
    expect(await fleet.act('pause', [id('run0')])).toMatchObject({ ok: false, message: 's/run0 is paused already' });
    expect(await fleet.act('resume', [id('run0')])).toMatchObject({
      ok: false,
      message: 's/run0 is paused; continue it',
    });
    let still = -1;
    await waitFor('the counter to stand still', async () => {
      const before = size('count');
      await new Promise((resolve) => setTimeout(resolve, 100));
      still = size('count');
      return still === before;
    });
    expect(run(fleet, 's/run1').reason).toBe('waiting for a slot (1 of 1 busy)');
    expect(await fleet.act('continue', [id('run0')])).toEqual({ ok: true, message: '1 run continued' });
    expect(await fleet.act('continue', [id('run0')])).toMatchObject({ ok: false, message: 's/run0 is not paused' });
    await waitFor('it to count on', () => size('count') > still);
    expect(run(fleet, 's/run0')).toMatchObject({ state: 'running', attempt: 1 });
  });

  it('does not keep a paused run from being stopped, nor its supervisor’s death from knowing of it', async () => {
    await submit([{ argv: counter(bed.path('count')) }], 1);
    await waitFor('it to count', () => size('count') > 5);
    await fleet.act('pause', [id('run0')]);
    await bed.killSupervisor();
    await waitFor('another supervisor', () => fleet.connection === 'reconnecting');
    await waitFor('the connection', () => fleet.connection === 'connected');
    expect(run(fleet, 's/run0').state).toBe('paused');
    await fleet.act('kill', [id('run0')]);
    await untilState(fleet, 's/run0', 'killed');
  });
});

describe('retries', () => {
  it('start a crashed run again after its backoff, until it is done', async () => {
    const retry = RetryRule.parse({ max: 3, backoff: 3 });
    await submit([{ argv: failing('crash', 1), retry }], 1);
    const waiting = await waitFor('the backoff', () =>
      run(fleet, 's/run0').retryAt === null ? null : run(fleet, 's/run0'),
    );
    expect(waiting).toMatchObject({ state: 'queued', reason: 'failed (exit code 3), retry 1 of 3', attempt: 1 });
    expect(await untilState(fleet, 's/run0', 'done')).toMatchObject({ attempt: 2, retryAt: null, exit: { code: 0 } });
    const record = readRunRecord(bed.path('s/run0'))!;
    expect(record.attempts.map(({ number, outcome }) => [number, outcome])).toEqual([
      [1, { kind: 'failed', code: 3 }],
      [2, { kind: 'done' }],
    ]);
    expect(record.attempts.every(({ endedAt }) => endedAt !== null)).toBe(true);
    expect(starts('crash')).toBe(2);
  });

  it('without a backoff record each attempt all the same', async () => {
    const retry = RetryRule.parse({ max: 2, backoff: 0 });
    await submit([{ name: 'now', argv: failing('now', 2, 'kill -SEGV $$'), retry }], 1);
    await untilState(fleet, 's/now', 'done');
    const outcomes = readRunRecord(bed.path('s/now'))!.attempts.map(({ outcome }) => outcome?.kind);
    expect(outcomes).toEqual(['signal', 'signal', 'done']);
  });

  it('end with the class of the last failure, and only where they were asked for', async () => {
    const memory = 'echo "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB" >&2; exit 1';
    const on = (...classes: RetryRule['on']) => RetryRule.parse({ max: 1, backoff: 0, on: classes });
    await submit(
      [
        { name: 'oom', argv: failing('oom', 9, memory), retry: on('oom') },
        { name: 'crash', argv: failing('crash', 9), retry: on('oom') },
        { name: 'signal', argv: failing('signal', 9, 'kill -KILL $$'), retry: on('signal') },
      ],
      3,
    );
    expect(await untilState(fleet, 's/oom', 'failed')).toMatchObject({ attempt: 2, exit: { class: 'oom' } });
    expect(run(fleet, 's/oom').reason).toContain('CUDA out of memory');
    expect(await untilState(fleet, 's/crash', 'failed')).toMatchObject({
      attempt: 1,
      exit: { class: 'failed', code: 3 },
    });
    expect(await untilState(fleet, 's/signal', 'failed')).toMatchObject({ attempt: 2, exit: { signal: 'SIGKILL' } });
  });

  it('can be had at once, and can be called off', async () => {
    const retry = RetryRule.parse({ max: 1, backoff: 600 });
    await submit(
      [
        { name: 'a', argv: failing('a', 1), retry },
        { name: 'b', argv: failing('b', 1), retry },
      ],
      2,
    );
    await waitFor('both to wait', () => run(fleet, 's/a').retryAt !== null && run(fleet, 's/b').retryAt !== null);
    expect(await fleet.act('resume', [id('a')])).toEqual({ ok: true, message: '1 run queued again' });
    expect(await fleet.act('kill', [id('b')])).toEqual({ ok: true, message: '1 run being stopped' });
    await untilState(fleet, 's/a', 'done');
    expect(run(fleet, 's/b')).toMatchObject({ state: 'killed', attempt: 1 });
    expect(await fleet.act('resume', [id('a')])).toMatchObject({
      ...{ ok: false, message: 's/a is done; there is nothing to resume' },
    });
  });
});

describe('a timeout', () => {
  it('ends a run that is up too long, with its class and its seconds', async () => {
    await submit([{ argv: forever, timeout: 0.5 }], 1);
    expect(await untilState(fleet, 's/run0', 'failed')).toMatchObject({
      ...{ exit: { class: 'timeout' }, reason: 'timed out after 0.5 s' },
    });
  });
});

describe('the circuit breaker', () => {
  it('holds what is left of a group after failures in a row, and says so, until it is released', async () => {
    const mended = bed.path('mended');
    const runs = Array.from({ length: 6 }, () => ({ argv: sh(`test -e ${mended}`) }));
    const plan = bed.plan('s', runs);
    const groups = plan.groups.map((group) => ({ ...group, breaker: { failures: 2, within: 10 } }));
    await fleet.submit({ ...plan, groups }, environment, { slots: 1 });
    expect(await untilState(fleet, 's/run5', 'held')).toMatchObject({
      reason: 'held: 2 runs in a row failed within 10 s of starting; `release` them once the cause is fixed',
    });
    await waitFor('quiet', () => fleet.status.settled);
    expect([...fleet.runs.values()].map(({ state }) => state)).toEqual([
      ...['failed', 'failed', 'held', 'held', 'held', 'held'],
    ]);
    writeFileSync(mended, '');
    expect(await fleet.act('release', [...fleet.runs.keys()])).toMatchObject({ ok: true });
    await waitFor('four done', () => [...fleet.runs.values()].filter(({ state }) => state === 'done').length === 4);
  });

  it('holds the values that fail, and goes on with the others', async () => {
    // Two rates of four break, and of each batch size the runs come one after another, as in a grid.
    const grid = [1, 2, 3].flatMap((seed) =>
      [4, 8].flatMap((batch) => [0.1, 1, 0.2, 3].map((lr) => ({ seed, batch, lr }))),
    );
    const fails = (lr: number) => (lr >= 1 ? 'exit 3' : 'exit 0');
    const runs = grid
      .sort((a, b) => a.lr - b.lr)
      .reverse()
      .map((parameters) => ({ parameters, argv: sh(fails(parameters.lr)) }));
    const plan = bed.plan('s', runs);
    const groups = plan.groups.map((group) => ({ ...group, breaker: { failures: 3, within: 10 } }));
    await fleet.submit({ ...plan, groups }, environment, { slots: 1 });
    // All are held for a moment, until it is known which values fail.
    const done = () => [...fleet.runs.values()].filter(({ state }) => state === 'done').length;
    await waitFor('what can run to have run', () => fleet.status.settled && done() === 12);
    const statesAt = (lr: number) => [...fleet.runs.values()].filter((each) => each.parameters['lr'] === lr);
    for (const lr of [0.1, 0.2]) expect(statesAt(lr).map(({ state }) => state)).toEqual(Array(6).fill('done'));
    for (const lr of [1, 3]) {
      expect(statesAt(lr).map(({ state }) => state)).toEqual(['failed', 'failed', 'failed', 'held', 'held', 'held']);
      expect(statesAt(lr)[5]!.reason).toMatch(
        new RegExp(`^held: 3 runs in a row failed within 10 s of starting(, again)?, all with lr=${lr}; \`release\``),
      );
    }
  });
});

describe('priorities', () => {
  it('decide who starts first, and can be changed while a run waits', async () => {
    const order = bed.path('order');
    const named = (name: string, priority: number) => ({ name, priority, argv: sh(`echo ${name} >> ${order}`) });
    const until = sh(`until test -e ${bed.path('go')}; do sleep 0.02; done`);
    await submit(
      [{ name: 'first', priority: 9, argv: until }, named('low', -1), named('a', 0), named('b', 0), named('high', 2)],
      1,
    );
    await untilState(fleet, 's/first', 'running');
    expect(run(fleet, 's/high').priority).toBe(2);
    expect(await fleet.act({ verb: 'priority', priority: 5 }, [id('b')])).toEqual({
      ok: true,
      message: '1 run given priority 5',
    });
    expect(await fleet.act({ verb: 'priority', priority: 5 }, [id('b')])).toMatchObject({
      ok: false,
      message: 's/b has that priority already',
    });
    writeFileSync(bed.path('go'), '');
    await untilSettled(fleet);
    expect(bed.text('order')).toBe('b\nhigh\na\nlow\n');
  });
});

describe('early termination', () => {
  const rule = EarlyTerminate.parse({ type: 'asha', min_iter: 3, max_iter: 3, eta: 2 });
  const objective = { name: 'test/loss', goal: 'minimize' as const };

  /** Writes rows of a loss until it is told to end. */
  const learner = (name: string, loss: number, more: Partial<PlannedRun> = {}): Partial<PlannedRun> => {
    const directory = bed.path('s', name);
    const row = `{\\"step\\": $i, \\"test/loss\\": ${loss}}`;
    const script = `cd ${directory}; i=0; while :; do i=$((i+1)); echo "${row}" >> metrics.jsonl; sleep 0.05; done`;
    return { name, directory, argv: sh(script), objective, earlyTerminate: rule, grace: 1, ...more };
  };
  const rows = (name: string) => run(fleet, `s/${name}`).metrics['step'] ?? 0;

  it('ends the runs that do worse than their siblings, as done, and says which and why', async () => {
    await submit([learner('good', 0.1), learner('worse', 0.5), learner('best', 0.05)], 1);
    await waitFor('the first to be judged', () => rows('good') > 4);
    expect(run(fleet, 's/good').state).toBe('running');
    await fleet.request({ verb: 'set-slots', slots: { slots: 3 } });
    const ended = await untilState(fleet, 's/worse', 'done');
    expect(ended.reason).toMatch(
      /^stopped: early_terminate: asha: 0.5 at iteration 3 is above 0[.]\d+, the best half of [23] runs$/,
    );
    await waitFor('the best to be judged', () => rows('best') > 4);
    expect(run(fleet, 's/best').state).toBe('running');
    expect(readRunRecord(bed.path('s/worse'))!.attempts[0]!.outcome).toMatchObject({
      ...{ kind: 'done', rule: expect.stringMatching(/^early_terminate: asha/) as string },
    });
  });

  it(
    'goes on after the supervisor’s death: who was judged is not judged again, and what they said counts',
    { tags: ['long'] },
    async () => {
      await submit([learner('best', 0.05), learner('first', 0.2, { priority: 1 }), learner('bad', 0.9)], 1);
      await waitFor('the first to be judged, alone', () => rows('first') > 4);
      await fleet.request({ verb: 'set-slots', slots: { slots: 2 } });
      await waitFor('the best to be judged', () => rows('best') > 4);
      await fleet.act('hold', [id('bad')]);
      await bed.killSupervisor();
      await waitFor('another supervisor', () => fleet.connection === 'reconnecting');
      await waitFor('the connection', () => fleet.connection === 'connected');
      const before = [rows('best'), rows('first')] as const;
      await waitFor('both to go on', () => rows('best') > before[0] + 3 && rows('first') > before[1] + 3);
      expect([run(fleet, 's/best').state, run(fleet, 's/first').state]).toEqual(['running', 'running']);
      await fleet.request({ verb: 'set-slots', slots: { slots: 3 } });
      await fleet.act('release', [id('bad')]);
      expect((await untilState(fleet, 's/bad', 'done')).reason).toMatch(/is above 0.05, the best half of 3 runs$/);
    },
  );
});

describe('early termination, of runs that go on while there is no supervisor', () => {
  const objective = { name: 'loss', goal: 'minimize' as const };
  const earlyTerminate = EarlyTerminate.parse({ type: 'asha', min_iter: 3, max_iter: 3, eta: 2 });
  /** Writes rows of a loss, and waits for the file `go` after the first of them; then it waits for ever. */
  const learner = (name: string, loss: number, first: number): Partial<PlannedRun> => {
    const directory = bed.path('s', name);
    const rows = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => `{\\"step\\": ${from + n}, \\"loss\\": ${loss}}`);
    const write = (lines: string[]) => [':', ...lines.map((line) => `echo "${line}" >> metrics.jsonl`)].join('; ');
    const wait = `while [ ! -e ${bed.path('go')} ]; do sleep 0.05; done`;
    const script = `cd ${directory}; ${write(rows(1, first + 1))}; ${wait}; ${write(rows(first + 1, 6))}; sleep 300`;
    return { name, directory, argv: sh(script), objective, earlyTerminate, grace: 1 };
  };

  it(
    'judges them at their adoption at the rungs that they passed meanwhile, and at no other again',
    { tags: ['long'] },
    async () => {
      await submit([learner('early', 0.5, 5), learner('best', 0.05, 2), learner('worse', 0.9, 2)], 3);
      const step = (name: string) => run(fleet, `s/${name}`).metrics['step'];
      await waitFor('the first rows', () => step('early') === 5 && step('best') === 2 && step('worse') === 2);
      const judged = () =>
        JSON.parse(bed.text('.supervisor', 'judged.json') || '{}') as Record<string, { rungs: number }>;
      await waitFor('the first to be judged', () => judged()['s/early']?.rungs === 1);
      const pid = bed.supervisorPid()!;
      process.kill(pid, 'SIGSTOP');
      writeFileSync(bed.path('go'), '');
      const areThere = () =>
        ['best', 'worse'].every((name) => bed.text('s', name, 'metrics.jsonl').includes('"step": 5'));
      await waitFor('the other rows', areThere);
      await bed.killSupervisor();
      expect((await untilState(fleet, 's/worse', 'done')).reason).toMatch(/asha: 0.9 at iteration 3 is above 0.05/);
      await waitFor('all to be settled', () => Object.values(judged()).every(({ rungs }) => rungs === 1));
      expect(['early', 'best'].map((name) => run(fleet, `s/${name}`).state)).toEqual(['running', 'running']);
    },
  );
});

describe('a target', () => {
  const objective = { name: 'acc', goal: 'maximize' as const, target: 0.9 };
  /** Ends at once, with one row. */
  const scoring = (name: string, acc: number): Partial<PlannedRun> => {
    const directory = bed.path('s', name);
    const row = `{\\"step\\": 1, \\"acc\\": ${acc}}`;
    return { name, directory, argv: sh(`echo "${row}" > ${directory}/metrics.jsonl`), objective };
  };

  it('that a run reaches keeps the rest of its group from starting, and says so; a person may think otherwise', async () => {
    const others = { ...scoring('elsewhere', 0.2), group: 'other' };
    await submit([scoring('poor', 0.5), scoring('good', 0.95), scoring('better', 0.99), scoring('next', 1), others], 1);
    await untilSettled(fleet);
    const held = 'held: good reached the target: acc 0.95 (target 0.9); `release` it to run it anyway';
    expect([run(fleet, 's/better'), run(fleet, 's/next')]).toMatchObject([
      { state: 'held', reason: held },
      { state: 'held', reason: held },
    ]);
    expect(['poor', 'good', 'elsewhere'].map((name) => run(fleet, `s/${name}`).state)).toEqual(Array(3).fill('done'));
    expect(await fleet.act('release', [id('better'), id('next')])).toMatchObject({ ok: true });
    await untilState(fleet, 's/next', 'done');
    await untilState(fleet, 's/better', 'done');
  });
});

describe('news', () => {
  it('of failures and of the end go to the command that the sweep file names', async () => {
    const notify = Notify.parse({ command: ['sh', '-c', `echo "$0" >> ${bed.path('news')}`] });
    const retry = RetryRule.parse({ max: 1, backoff: 0 });
    const plan = bed.plan('s', [{ name: 'good' }, { name: 'bad', argv: failing('bad', 9), retry }]);
    await fleet.submit({ ...plan, notify }, environment, { slots: 1 });
    await untilSettled(fleet);
    await waitFor('the news', () => bed.text('news').split('\n').length === 3);
    expect(bed.text('news')).toBe('s: bad failed — exit code 3\ns: finished — 1 done, 1 failed\n');
  });
});
